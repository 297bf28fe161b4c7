// The gallery's pages, as tests look at them.

import { readdirSync } from "node:fs";
import { STATES } from "../../www/demo/gallery/states.js";

const themes = new URL("../../themes/", import.meta.url);

/** The presets. */
export const THEMES = readdirSync(themes).map((file) => file.replace(".css", ""));
export const SCHEMES = ["light", "dark"];
export const STATE_NAMES = Object.keys(STATES);

/** Where a state is to be seen. */
export const galleryPath = (state, { theme = "teal", scheme = "light" } = {}) =>
  `/gallery.html?${new URLSearchParams({ state, theme, scheme })}`;

/** Goes to a page of the gallery, and waits until it shows its state. */
export async function look(page, site, state, choice) {
  await page.goto(site + galleryPath(state, choice), { waitUntil: "commit" });
  await page.locator(`html[data-shown="${state}"]`).waitFor();
}
