// Checks the layout of each picture: what matters is in view, nothing is wider than the screen, no text is cut off, and what
// fingers touch is large enough. It runs in the page.

/** Returns why an element is not wholly visible, or null. */
export function hiddenBy(element) {
  const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
  const place = [left, top, right, bottom].map(Math.round).join(" ");
  if (width < 1 || height < 1) return "it is not drawn";
  if (left < -0.5 || top < -0.5 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5)
    return `it is at ${place}, the screen has ${innerWidth} × ${innerHeight} px`;
  // Not at its corners, which may be rounded.
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  for (const [px, py] of [
    [x, y],
    [x, top + 2],
    [x, bottom - 2],
    [left + 2, y],
    [right - 2, y],
  ]) {
    const hit = document.elementFromPoint(px, py);
    if (!hit || !(element.contains(hit) || hit.contains(element)))
      return `it is covered at ${place} by ${hit?.outerHTML.slice(0, 80)}`;
  }
  return null;
}

/** Returns the problems of the current view, each as a sentence. */
export function layoutProblems({ isTouch, mayScroll }) {
  /** The minimum size of a control on a touch screen, in pixels. */
  const TOUCH_SIZE = 44;
  /** The width of a text in a narrow font, as a part of its width here. */
  const NARROW = 0.7;
  const problems = [];
  const name = (element) =>
    `${element.localName}.${[...element.classList].join(".")} "${(element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40)}"`;
  const isDrawn = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
  };
  const isOnTop = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return hit !== null && (element.contains(hit) || hit.contains(element));
  };
  const { scrollWidth } = document.documentElement;
  if (!mayScroll && scrollWidth > innerWidth)
    problems.push(`the page is ${scrollWidth} px wide, the screen ${innerWidth}`);

  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg, .for-readers, .skip") || !isDrawn(element)) continue;
    const ownText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const { overflowX, overflowY, textOverflow, webkitLineClamp } = getComputedStyle(element);
    const isCut =
      overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1 && textOverflow !== "ellipsis";
    const isCutBelow =
      overflowY === "hidden" && element.scrollHeight > element.clientHeight + 3 && webkitLineClamp === "none";
    if (ownText && (isCut || (isCutBelow && textOverflow !== "ellipsis")))
      problems.push(`text is cut off: ${name(element)}`);
  }

  if (isTouch) {
    const controls = document.body.querySelectorAll(
      "a[href], button, select, summary, textarea, input:not([type=hidden]), [role=menuitem], [role=menuitemradio], [role=menuitemcheckbox], [role=option]",
    );
    for (const control of controls) {
      // A link in a sentence is as high as its line, and a box is touched by its label.
      if (control.closest(".skip") || control.matches(".for-readers, a:is(p *, .bubble *)")) continue;
      const target = control.matches("input[type=checkbox], input[type=radio]")
        ? (control.closest("label") ?? control)
        : control;
      if (!isDrawn(target)) continue;
      const { width, height, top, bottom } = target.getBoundingClientRect();
      if (bottom <= 0 || top >= innerHeight || !isOnTop(target)) continue;
      if (width < TOUCH_SIZE - 0.5 || height < TOUCH_SIZE - 0.5)
        problems.push(`too small for a finger, ${Math.round(width)} × ${Math.round(height)} px: ${name(target)}`);
      // An icon has a size of its own, a text has that of the machine's font.
      const { minWidth } = getComputedStyle(target);
      if (target.textContent.trim() && width * NARROW < TOUCH_SIZE && !(parseFloat(minWidth) >= TOUCH_SIZE))
        problems.push(`too small for a finger in a narrow font, its min-width is ${minWidth}: ${name(target)}`);
    }
  }
  return [...new Set(problems)];
}
