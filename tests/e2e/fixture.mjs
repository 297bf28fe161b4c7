// The shared fixture of a test file: the demo on free ports and a browser, from the first test to the last.

import { after } from "node:test";
import { startDemo } from "./demo.mjs";
import { Sandbox } from "./sandbox.mjs";

/**
 * Returns a function that returns the fixture: the `demo`, its `server`, and the members of `launch()`, whose `stop()`
 * closes the browser. The first call starts it, so that a file that fails to load leaves nothing running. `pages` returns
 * the folder that the demo serves instead of the shop.
 */
export function sharedFixture(launch, pages = () => undefined) {
  let fixture;
  const start = async () => {
    const demo = await startDemo(pages());
    try {
      return { ...(await launch()), demo, server: new Sandbox(demo.sandbox) };
    } catch (error) {
      await demo.stop();
      throw error;
    }
  };
  after(async () => {
    const started = await fixture?.catch(() => undefined);
    if (!started) return;
    await started.stop();
    await started.demo.stop();
  });
  return () => (fixture ??= start());
}
