// The world of a test in any of the browsers: the demo, the browser that `BROWSER` names, and visitors who begin with
// nothing.

import assert from "node:assert/strict";
import { after, test as nodeTest } from "node:test";
import { startDemo } from "../e2e/demo.mjs";
import { Sandbox } from "../e2e/sandbox.mjs";
import { launch, TITLE } from "./launch.mjs";
import { openShop } from "./shop.mjs";
import { Tab } from "./tab.mjs";

const SCREEN = { width: 1024, height: 800 };
/** No test of a chat needs longer than this. Milliseconds. */
const TEST_WITHIN = 60_000;

let world;

/** Begins with the first test, so that a file with a mistake in it leaves nothing running. */
async function begin() {
  const demo = await startDemo();
  try {
    const started = await launch();
    return { ...started, demo, server: new Sandbox(demo.sandbox), home: await started.browser.getWindowHandle() };
  } catch (error) {
    await demo.stop();
    throw error;
  }
}

after(async () => {
  const begun = await world?.catch(() => undefined);
  if (!begun) return;
  await begun.stop();
  await begun.demo.stop();
});

/**
 * Proves a sentence in the browser. Whatever else it is about, nothing may go wrong in the page that `openShop` hears
 * of. The body gets
 * - `visit(options)`: a tab with the shop in it, opened by a visitor who was never there. Options are those of
 *   `openShop`, and `beside` a tab to have another one in the same shop.
 * - `server`: the sandbox behind the proxy, as it is on a good day.
 */
export function test(sentence, body) {
  nodeTest(`${TITLE}: ${sentence}`, { timeout: TEST_WITHIN }, async () => {
    world ??= begin();
    const { browser, demo, server, home } = await world;
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
