// The harness of the end-to-end tests: the demo on free ports, a browser, and visitors who begin with nothing.

import { test as nodeTest } from "node:test";
import { launch } from "./demo.mjs";
import { Record } from "./record.mjs";
import { sharedFixture } from "./fixture.mjs";

/** Without movements, a test waits for none. */
const SCREEN = { viewport: { width: 1024, height: 720 }, reducedMotion: "reduce" };
/** No test of a chat needs longer than this. Milliseconds. */
const TEST_TIMEOUT_MS = 60_000;
/** Nothing that a visitor waits for takes longer. Milliseconds. */
const WAIT_TIMEOUT_MS = 10_000;

let pages;

/** All tests of the file visit the pages of this folder, in place of the shop's. */
export const servePages = (folder) => void (pages = folder);

async function openBrowser() {
  const browser = await launch();
  return { browser, stop: () => browser.close() };
}

const fixture = sharedFixture(openBrowser, () => pages);

/**
 * Proves a sentence. Whatever else it is about, no visitor's browser may have done what `Record` does not stand for.
 * The body gets
 * - `visit(options)`: a page of the shop, opened by a visitor who was never there. Options are those of a browser
 *   context, and `path`, `prepare(page)` before anything is loaded, `clock` to have the page's time in hand, `beside`
 *   a page to have another tab of its visitor's browser, `goesBack` for a browser with a back-forward cache.
 * - `server`: the sandbox behind the proxy, as it is on a good day.
 * - `recordOf(page)`: what the page's browser did so far.
 * - `operator()`: a page with the operator console.
 * - `site`: the shop's address.
 * - `service`: where the proxy finds the sandbox, `origin`, and the `token` that it shows there and to nobody else.
 * - `remark(text)`: what is to be read beside the sentence.
 */
export function test(sentence, body) {
  nodeTest(sentence, { timeout: TEST_TIMEOUT_MS }, async (t) => {
    const {
      browser,
      server,
      demo: { site, sandbox, token },
    } = await fixture();
    const contexts = [];
    const browsers = [];
    const records = new Map();
    const open = async ({ goesBack = false, ...options } = {}) => {
      // Playwright switches that cache off.
      if (goesBack) browsers.push(await launch({ ignoreDefaultArgs: ["--disable-back-forward-cache"] }));
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
      await page.goto(server.console);
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
      // What a page sends as it is left would be told to the sandbox of the next test. A tab that crashed sends nothing.
      await Promise.all(
        contexts.map((context) =>
          context
            .setOffline(true)
            .catch(() => {})
            .then(() => context.close()),
        ),
      );
      await Promise.all(browsers.map((browser) => browser.close()));
    }
  });
}
