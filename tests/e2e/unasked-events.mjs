// Events that an open window meets without the visitor's doing. The build keeps their functions in the first module:
// `npm run profile` lets them happen, and deferred.test.mjs tests that they need no others.

import { openChat, see } from "./chat.mjs";

/** Waits until the tab of a page leads. It runs in the page. */
const leads = () =>
  new Promise((resolve) => {
    const tabs = new BroadcastChannel("chat-widget:");
    tabs.onmessage = ({ data }) => {
      if (JSON.parse(data).does !== "lead") return;
      tabs.close();
      resolve();
    };
  });

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
    // The tab stands for election again. What happens next would come before the functions of a leader are called.
    const isRestored = page.evaluate(leads);
    for (const name of ["pagehide", "pageshow"]) await page.evaluate((name) => dispatchEvent(new Event(name)), name);
    await isRestored;
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
