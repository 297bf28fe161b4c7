// Runs in the page before anything else: finds parts of the widget, measures their visible areas, and records
// announcements. It is sent as source text, so it must be self-contained.

/** Installs `window.film`. */
export function installFilm() {
  const host = () => document.querySelector("chat-widget");
  const root = () => host()?.shadowRoot ?? host();
  /** Returns a selector: `log table` is a table in the part `log`; a text that starts with no part's name is a selector. */
  const selectorOf = (target) => target.replace(/^[a-z]+(-[a-z]+)*(?=$| )/, (name) => `[part~="${name}"]`);

  const rectOf = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const cross = (a, b) => ({
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  });
  const isEmpty = ({ left, top, right, bottom }) => right - left < 0.5 || bottom - top < 0.5;
  const contains = (outer, inner, by = 1) =>
    inner.left >= outer.left - by &&
    inner.top >= outer.top - by &&
    inner.right <= outer.right + by &&
    inner.bottom <= outer.bottom + by;

  const parentOf = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host;

  /** Returns the area of the viewport in which an element is visible, clipped by its ancestors. */
  function clipOf(element) {
    let clip = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    for (let around = parentOf(element); around && around !== document.documentElement; around = parentOf(around)) {
      const { overflowX, overflowY, display } = getComputedStyle(around);
      if (display === "contents" || around === document.body) continue;
      if (overflowX !== "visible" || overflowY !== "visible") clip = cross(clip, rectOf(around));
    }
    return clip;
  }

  /** Returns whether an element is drawn anywhere. */
  function isDrawn(element) {
    if (!element?.isConnected) return false;
    const { visibility, display, opacity } = getComputedStyle(element);
    return visibility === "visible" && display !== "none" && opacity !== "0" && !isEmpty(rectOf(element));
  }

  /** Returns the element at a point, also inside the shadow root. */
  const elementAt = (x, y) => (host()?.shadowRoot ?? document).elementFromPoint(x, y);

  const isOver = (element, hit) => hit === element || element.contains(hit) || hit?.contains?.(element);

  /** Returns the name of an element that covers a rectangle of another one, sampled at its centre and edges. */
  function coverOf(element, { left, top, right, bottom }) {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    // Not at its corners, which may be rounded.
    for (const [px, py] of [
      [x, y],
      [x, top + 3],
      [x, bottom - 3],
      [left + 3, y],
      [right - 3, y],
    ]) {
      const hit = elementAt(px, py);
      if (!isOver(element, hit)) return hit ? nameOf(hit) : "nothing is drawn there";
    }
    return undefined;
  }

  /** Returns the part or class of an element or of its nearest ancestor with one. */
  const nameOf = (element) => {
    const named = element.closest?.("[part], [class]:not(svg)");
    return named?.getAttribute("part") ?? named?.getAttribute("class") ?? element.localName;
  };

  /** Returns why an element is not wholly visible; undefined if it is. */
  function hiddenBy(element, rect = rectOf(element)) {
    if (!isDrawn(element)) return "it is not drawn";
    const clip = clipOf(element);
    if (!contains(clip, rect)) {
      const by = [clip.top - rect.top, rect.bottom - clip.bottom, clip.left - rect.left, rect.right - clip.right];
      const [side, px] = [
        ["top", by[0]],
        ["bottom", by[1]],
        ["left", by[2]],
        ["right", by[3]],
      ].sort((a, b) => b[1] - a[1])[0];
      return `${Math.round(px)} px of it are cut off at the ${side}`;
    }
    const cover = coverOf(element, rect);
    return cover && `it is covered by ${cover}`;
  }

  /** Returns the rectangles of the first and the last line of an element's text. */
  function lines(element) {
    const range = document.createRange();
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const rects = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.data.trim() || node.parentElement.closest(".cw-hidden")) continue;
      range.selectNodeContents(node);
      rects.push(...[...range.getClientRects()].filter((rect) => rect.width > 0.5));
    }
    // Lines of code and tables may be longer than their boxes, which scroll.
    const { left, right } = element.getBoundingClientRect();
    const within = ({ top, bottom, left: from, right: to }) => ({
      top,
      bottom,
      left: Math.max(left, from),
      right: Math.min(right, to),
    });
    return rects.length > 0 ? [within(rects[0]), within(rects.at(-1))] : [rectOf(element), rectOf(element)];
  }

  /** Returns the drawn elements of a target, filtered by a text if given. */
  function find(target, text) {
    const place = target.startsWith("page ") ? document : root();
    const selector = target.startsWith("page ") ? target.slice(5) : selectorOf(target);
    const has = (element) =>
      text === undefined ||
      new RegExp(text).test(
        `${element.textContent} ${element.getAttribute("aria-label") ?? ""} ${element.value ?? ""}`,
      );
    return [...(place?.querySelectorAll(selector) ?? [])].filter((element) => isDrawn(element) && has(element));
  }

  const focused = () => {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return active ?? document.body;
  };

  const film = {
    root,
    find,
    rectOf,
    cross,
    contains,
    isEmpty,
    clipOf,
    isDrawn,
    elementAt,
    isOver,
    coverOf,
    hiddenBy,
    lines,
    focused,
    nameOf,
    selectorOf,
    /** The element that the visitor used last. */
    used: undefined,
    /** The announcements that no step has read yet. */
    announced: [],
  };
  window.film = film;

  // The live region is a child of the host, so the document can observe it.
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const region = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
      if (!region?.closest("[slot=announcer]")) continue;
      for (const node of addedNodes) if (node.textContent.trim()) film.announced.push(node.textContent);
    }
  }).observe(document, { childList: true, subtree: true });
}
