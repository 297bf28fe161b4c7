// Events that an open window meets without the visitor's doing. The build keeps their functions in the first module:
// `npm run profile` lets them happen, and deferred.test.mjs tests that they need no others.

import { openChat, see } from "./chat.mjs";

/** What happens to a page, by its name. */
export const UNASKED = {
  "a keyboard on the screen": async (page) => {
    const { width, height } = page.viewportSize();
    for (const rest of [Math.round(height / 2), height]) await page.setViewportSize({ width, height: rest });
  },
  "a hidden page": async (page) => {
    for (const state of ["hidden", "visible"]) await see(page, state);
  },
  "a page that is left and restored": async (page) => {
    for (const name of ["pagehide", "pageshow"]) await page.evaluate((name) => dispatchEvent(new Event(name)), name);
  },
  "a lost network": async (page) => {
    for (const isOffline of [true, false]) await page.context().setOffline(isOffline);
  },
  "another tab with a window": async (page) => {
    const other = await page.context().newPage();
    await other.goto(page.url());
    await openChat(other);
    await other.close();
  },
};
