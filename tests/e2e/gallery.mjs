// The gallery's pages, as tests look at them.

import { STATES } from "../../www/demo/gallery/states.js";

export { SCHEMES, THEMES } from "../../www/demo/gallery/themes.js";

export const STATE_NAMES = Object.keys(STATES);

/** A page of the site without a widget, to begin from. */
export const BLANK = "/icon.svg";

/** Where a state is to be seen. */
export const galleryPath = (state, { theme = "teal", scheme = "light" } = {}) =>
  `/gallery.html?${new URLSearchParams({ state, theme, scheme })}`;

/** Goes to a page of the gallery, and waits until it shows its state. */
export async function look(page, site, state, choice) {
  await page.goto(site + galleryPath(state, choice), { waitUntil: "commit" });
  await page.locator(`html[data-shown="${state}"]`).waitFor();
}
