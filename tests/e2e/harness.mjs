// The harness of the end-to-end tests: the demo on free ports, a browser, and visitors without stored data.

import { test as nodeTest } from "node:test";
import { closeQuietly } from "./context.mjs";
import { launch } from "./demo.mjs";
import { Record } from "./record.mjs";
import { sharedFixture } from "./fixture.mjs";

/** Reduced motion, so that no test waits for animations. */
const SCREEN = { viewport: { width: 1024, height: 720 }, reducedMotion: "reduce" };
/** The timeout of a test, in milliseconds. */
const TEST_TIMEOUT_MS = 120_000;
/** The timeout of a wait, in milliseconds. */
const WAIT_TIMEOUT_MS = 10_000;

let pages;

/** Makes all tests of the file visit the pages of this folder, in place of the shop's. */
export const servePages = (folder) => void (pages = folder);

async function openBrowser() {
  const browser = await launch();
  return { browser, stop: () => browser.close() };
}

const fixture = sharedFixture(openBrowser, () => pages);

/**
 * Runs a test, and fails if a visitor's browser did something that `Record` rejects. The body gets
 * - `visit(options)`: opens a page of the shop as a new visitor. Options are those of a browser context, and `path`,
 *   `prepare(page)` before anything is loaded, `clock` to control the page's time, `beside` a page to open another tab of
 *   the same browser, `backForwardCache` for a browser with a back-forward cache.
 * - `server`: the sandbox behind the proxy, without faults.
 * - `recordOf(page)`: the record of the page's browser.
 * - `operator()`: opens the console by the link that the demo has printed, which one test of a demo can.
 * - `site`: the shop's address.
 * - `service`: the `origin` of the sandbox, and the `token` between the proxy and it.
 * - `remark(text)`: prints a note with the result.
 */
export function test(sentence, body) {
  nodeTest(sentence, { timeout: TEST_TIMEOUT_MS }, async (t) => {
    const {
      browser,
      server,
      demo: { site, sandbox, token, console: link },
    } = await fixture();
    const contexts = [];
    const browsers = [];
    const records = new Map();
    const open = async ({ backForwardCache = false, ...options } = {}) => {
      // Playwright switches that cache off.
      if (backForwardCache) browsers.push(await launch({ ignoreDefaultArgs: ["--disable-back-forward-cache"] }));
      const context = await (browsers.at(-1) ?? browser).newContext({ ...SCREEN, ...options });
      contexts.push(context);
      context.setDefaultTimeout(WAIT_TIMEOUT_MS);
      return context;
    };
    const visit = async ({ path = "/", prepare, clock = false, beside, ...options } = {}) => {
      const context = beside?.context() ?? (await open(options));
      if (!beside) records.set(context, await Record.of(context, site, token));
      const page = await context.newPage();
      if (clock) await page.clock.install();
      await prepare?.(page);
      await page.goto(site + path, { waitUntil: "commit" });
      return page;
    };
    const operator = async () => {
      const page = await (await open()).newPage();
      await page.goto(link);
      return page;
    };
    const recordOf = (page) => records.get(page.context());

    await server.reset();
    try {
      await body({
        visit,
        server,
        recordOf,
        operator,
        site,
        service: { origin: sandbox, token },
        remark: (text) => t.diagnostic(text),
      });
      for (const record of records.values()) await record.judge();
    } catch (error) {
      for (const record of records.values()) t.diagnostic(record.summary());
      throw error;
    } finally {
      // A page that is left sends requests, which would reach the sandbox of the next test.
      await Promise.all(contexts.map(closeQuietly));
      await Promise.all(browsers.map((browser) => browser.close()));
    }
  });
}
