// Checks each picture: the newest message, the composer, the header and the control that was used are in view, nothing
// overlaps, nothing is cut off, and the focus is on a useful element. It runs in the page.

/**
 * Returns the problems, each as a sentence. `relaxed` names checks to skip: `newest` when the visitor has scrolled back,
 * `focus` when the visitor was elsewhere on the page.
 */
export function viewProblems({ relaxed = [], acted = false }) {
  const { root, find, rectOf, cross, contains, isEmpty, clipOf, isDrawn, coverOf, hiddenBy, lines, focused, nameOf } =
    window.film;
  /** Maximum height of the author's name above a message, or of the space around it, in pixels. */
  const AUTHOR_HEIGHT = 40;
  const problems = [];
  const report = (text) => problems.push(text);
  const only = (target) => find(target)[0];
  const round = ({ left, top, right, bottom }) => `${[left, top, right, bottom].map(Math.round).join(" ")}`;

  const open = only("window");
  const [log, header, panel] = [only("log"), only("header"), only("panel")];
  const composer = only("composer") ?? only(".cw-closed");
  const line = only("form") ?? only("contact-done");
  const banner = only(".cw-banner");
  const launcher = only("launcher");
  const menu = only("menu-list");

  function checkInView(element, name) {
    const why = hiddenBy(element);
    // An open menu covers the edge of the header below its button.
    if (menu && element === header && why === "it is covered by menu-list") return;
    if (why) report(`${name} is not wholly in view: ${why}`);
  }

  function checkNewest() {
    const newest = find("message").at(-1);
    if (!newest) return report("the log shows no message");
    const bubble = newest.querySelector(".cw-bubble") ?? newest;
    const own = newest.matches("[data-author=visitor]");
    const seen = cross(clipOf(bubble), cross(rectOf(bubble), rectOf(log)));
    const quote = `"${bubble.textContent.slice(0, 40)}"`;
    if (isEmpty(seen))
      return report(
        `nothing of the newest message can be seen: ${quote} at ${round(rectOf(bubble))}, the log at ${round(rectOf(log))}`,
      );
    const visible = cross(clipOf(bubble), rectOf(log));
    const isSeen = (rect) => contains(visible, rect, 2) && !coverOf(newest, rect);
    const [first, last] = lines(bubble);
    // Of the visitor's own message, the end with its delivery state is enough.
    if (!isSeen(first) && !(own && isSeen(last))) {
      const cover = coverOf(newest, first);
      return report(
        `the first line of the newest message is not in view: ${quote} at ${round(first)}, seen ${round(visible)}${cover ? `, covered by ${cover}` : ""}`,
      );
    }
    // A message that fits is shown to its last line. The question may be visible above it.
    const before = find("message").at(-2);
    const top = before?.matches("[data-author=visitor]") ? rectOf(before).top : first.top - AUTHOR_HEIGHT;
    const fits = last.bottom - top <= visible.bottom - visible.top - AUTHOR_HEIGHT;
    if (!own && fits && !isSeen(last)) {
      report(
        `the newest message fits, but its last line is not in view: ${quote} ends at ${round(last)}, seen ${round(visible)}`,
      );
    }
  }

  function checkOverlaps() {
    const fullScreen = open && rectOf(open).right - rectOf(open).left >= innerWidth - 1;
    const separate = { header, banner, log, "contact line": line, composer, ...(fullScreen ? {} : { launcher }) };
    const there = Object.entries(separate).filter(([, element]) => element && isDrawn(element));
    for (const [index, [name, element]] of there.entries()) {
      for (const [otherName, other] of there.slice(index + 1)) {
        const both = cross(rectOf(element), rectOf(other));
        if (both.right - both.left > 1 && both.bottom - both.top > 1)
          report(`${name} and ${otherName} overlap: ${round(both)}`);
      }
    }
    if (open && !fullScreen && launcher) {
      const both = cross(rectOf(open), rectOf(launcher));
      if (both.right - both.left > 1 && both.bottom - both.top > 1)
        report(`window and launcher overlap: ${round(both)}`);
    }
  }

  /** Checks that buttons contain their texts, and docked parts their controls. */
  function checkControls() {
    for (const place of [header, line, composer, menu, only("preview")]) {
      if (!place || place.closest("[inert]")) continue;
      for (const control of place.querySelectorAll("button, input, textarea, a[href]")) {
        if (
          !isDrawn(control) ||
          control.closest(".cw-hidden") ||
          contains({ left: -1, top: -1, right: 0, bottom: 0 }, rectOf(control))
        )
          continue;
        const clip = clipOf(control);
        if (!contains(clip, rectOf(control), 2))
          report(
            `the control ${nameOf(control)} "${(control.textContent || control.name || "").slice(0, 30)}" is cut off: ${round(rectOf(control))}, seen ${round(clip)}`,
          );
      }
    }
    for (const button of root().querySelectorAll("button, a.cw-button")) {
      if (!isDrawn(button) || button.closest("[inert]")) continue;
      const frame = rectOf(button);
      const range = document.createRange();
      const walker = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
      for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        if (!text.data.trim() || text.parentElement.closest(".cw-hidden, .cw-badge, .cw-preview-text, .cw-by"))
          continue;
        range.selectNodeContents(text);
        if (!contains(frame, range.getBoundingClientRect(), 2))
          report(`the text "${text.data}" sticks out of its button ${nameOf(button)}`);
      }
    }
  }

  function checkSidewaysScrolling() {
    for (const [name, element] of Object.entries({
      window: open,
      log,
      header,
      composer,
      "contact line": line,
      panel,
      "menu list": menu,
    })) {
      if (!element) continue;
      const wider = element.scrollWidth - element.clientWidth;
      if (wider > 1) report(`${name} can be scrolled ${wider} px sideways`);
    }
    const page = document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
    if (page > 0 && open) report(`the page can be scrolled ${page} px sideways`);
  }

  function checkFocus() {
    const active = focused();
    const inWidget = root()?.contains(active);
    if (!inWidget && acted) report(`the focus is lost: it is on ${active.id || active.localName}`);
    if (!inWidget) return;
    if (active.closest("[inert]")) report(`the focus is in an inert part: ${nameOf(active)}`);
    // The log and the window are focused as a whole; a focused control must be visible.
    if (open && active.matches("button, input, textarea, a") && !active.closest("[part=log]")) {
      const rect = cross(rectOf(active), clipOf(active));
      if (isEmpty(rect)) report(`the focus is on ${nameOf(active)}, which cannot be seen`);
    }
  }

  if (open) {
    // The data panel covers the whole window.
    const coversHeader = panel && header && !isEmpty(cross(rectOf(panel), rectOf(header)));
    if (header && !coversHeader) checkInView(header, "the header");
    if (panel) checkInView(panel, "the panel");
    else {
      if (composer) checkInView(composer, "the composer");
      else report("there is neither a composer nor a card");
      if (line && !menu) checkInView(line, "the contact line");
      // An open menu may cover the messages.
      if (log && !menu && !relaxed.includes("newest")) checkNewest();
    }
  } else if (launcher) {
    checkInView(launcher, "the launcher");
    const preview = only("preview");
    if (preview) {
      checkInView(preview, "the preview");
      if (!isEmpty(cross(rectOf(preview), rectOf(launcher)))) report("preview and launcher overlap");
    }
  }
  if (!panel) checkOverlaps();
  checkControls();
  checkSidewaysScrolling();
  if (!relaxed.includes("focus")) checkFocus();
  const { used } = window.film;
  if (acted && used?.isConnected && isDrawn(used) && !used.closest("[inert]") && !relaxed.includes("used")) {
    const why = hiddenBy(used);
    if (why) report(`the control that was used, ${nameOf(used)}, is not in view: ${why}`);
  }
  return problems;
}
