// The gallery's pages, for its tests.

import { STATES } from "../../www/demo/gallery/states.js";

export { SCHEMES, THEMES } from "../../www/demo/gallery/themes.js";

export const STATE_NAMES = Object.keys(STATES);

/** A page of the site without a widget, to start from. */
export const BLANK = "/icon.svg";

/** Returns the URL of a state. */
export const galleryPath = (state, { theme = "teal", scheme = "light" } = {}) =>
  `/gallery.html?${new URLSearchParams({ state, theme, scheme })}`;

/** Goes to a page of the gallery, and waits until it shows its state. */
export async function look(page, site, state, choice) {
  await page.goto(site + galleryPath(state, choice), { waitUntil: "commit" });
  await page.locator(`html[data-shown="${state}"]`).waitFor();
}
