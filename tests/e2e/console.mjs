// Checks of what an operator sees in the console.

import assert from "node:assert/strict";

/** Asserts that all of an element is in the visible part of its box and of the screen, and that nothing covers it. */
export async function isInView(locator, box) {
  const look = () =>
    locator.evaluate((element, selector) => {
      // The list was rendered anew in this moment.
      if (!element.isConnected) return "replaced";
      const rect = element.getBoundingClientRect();
      const { top, right, bottom, left } = element.closest(selector).getBoundingClientRect();
      // The browser rounds by up to half a pixel.
      const inside =
        rect.top >= Math.max(top, 0) - 0.5 &&
        rect.bottom <= Math.min(bottom, innerHeight) + 0.5 &&
        rect.left >= Math.max(left, 0) - 0.5 &&
        rect.right <= Math.min(right, innerWidth) + 0.5;
      const corners = [
        [rect.left + 2, rect.top + 2],
        [rect.right - 2, rect.bottom - 2],
      ];
      const isElement = (found) => found && (element.contains(found) || found.contains(element));
      const covered = corners.map(([x, y]) => document.elementFromPoint(x, y)).find((found) => !isElement(found));
      if (rect.height > 0 && inside && covered === undefined) return undefined;
      return `${JSON.stringify(rect)} in ${JSON.stringify({ top, right, bottom, left })}, covered by ${covered?.outerHTML.slice(0, 80)}`;
    }, box);
  let hidden = await look();
  while (hidden === "replaced") hidden = await look();
  assert.equal(hidden, undefined);
}
