// The harness of the tests that run in any browser: the demo, the browser that `BROWSER` names, and visitors who begin with
// nothing.

import assert from "node:assert/strict";
import { test as nodeTest } from "node:test";
import { sharedFixture } from "../e2e/fixture.mjs";
import { launch, TITLE } from "./launch.mjs";
import { openShop } from "./shop.mjs";
import { Tab } from "./tab.mjs";

const SCREEN = { width: 1024, height: 800 };
/** No test of a chat needs longer than this, also on a busy machine that starts the browser first. Milliseconds. */
const TEST_TIMEOUT_MS = 120_000;

const fixture = sharedFixture(launch);

/**
 * Proves a sentence in the browser. Whatever else it is about, nothing may go wrong in the page that `openShop` hears
 * of. The body gets
 * - `visit(options)`: a tab with the shop in it, opened by a visitor who was never there. Options are those of
 *   `openShop`, and `beside` a tab to have another one in the same shop.
 * - `server`: the sandbox behind the proxy, as it is on a good day.
 */
export function test(sentence, body) {
  nodeTest(`${TITLE}: ${sentence}`, { timeout: TEST_TIMEOUT_MS }, async () => {
    const { browser, demo, server, home } = await fixture();
    const tabs = [];
    const visit = async ({ beside, ...options } = {}) => {
      const shop = beside?.shop ?? (await openShop(demo.site, options));
      // A tab that is not in front is hidden in WebKit.
      await browser.switchTo().newWindow("window");
      await browser.manage().window().setRect(SCREEN);
      const tab = new Tab(browser, await browser.getWindowHandle(), shop, options.narrow);
      tabs.push(tab);
      await tab.goto(options.narrow ? "/narrow.html" : "/");
      return tab;
    };
    await server.reset();
    try {
      await body({ visit, server });
      for (const tab of tabs) {
        // What happened last is told before this is answered.
        await tab.evaluate(() => Promise.all(window.notes.told));
        assert.deepEqual(tab.shop.complaints, [], "the page was left as it should be");
      }
    } finally {
      // What a page sends as it is left would be told to the sandbox of the next test.
      for (const { shop } of tabs) shop.close();
      for (const tab of tabs) await tab.close();
      await browser.switchTo().window(home);
    }
  });
}
