// The harness of the tests that run in any browser: the demo, the browser that `BROWSER` names, and visitors without stored
// data.

import assert from "node:assert/strict";
import { test as nodeTest } from "node:test";
import { sharedFixture } from "../e2e/fixture.mjs";
import { launch, TITLE } from "./launch.mjs";
import { openShop } from "./shop.mjs";
import { Tab } from "./tab.mjs";

const SCREEN = { width: 1024, height: 800 };
/** The timeout of a test, including the start of the browser on a busy machine, in milliseconds. */
const TEST_TIMEOUT_MS = 120_000;

const fixture = sharedFixture(launch);

/**
 * Runs a test in the browser, and fails if `openShop` has complaints about the page. The body gets
 * - `visit(options)`: opens a tab with the shop as a new visitor. Options are those of `openShop`, and `beside` a tab to open
 *   another one of the same shop.
 * - `server`: the sandbox behind the proxy, without faults.
 */
export function test(sentence, body) {
  nodeTest(`${TITLE}: ${sentence}`, { timeout: TEST_TIMEOUT_MS }, async () => {
    const { browser, demo, server, home } = await fixture();
    const tabs = [];
    const visit = async ({ beside, ...options } = {}) => {
      const shop = beside?.shop ?? (await openShop(demo.site, options));
      // WebKit hides a tab in the background.
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
        // The last events are reported before this call returns.
        await tab.evaluate(() => Promise.all(window.notes.sent));
        assert.deepEqual(tab.shop.complaints, [], "the page had no problem");
      }
    } finally {
      // A page that is left sends requests, which would reach the sandbox of the next test.
      for (const { shop } of tabs) shop.close();
      for (const tab of tabs) await tab.close();
      await browser.switchTo().window(home);
    }
  });
}
