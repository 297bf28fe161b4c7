// What the tests of a file have in common: the demo on free ports and a browser, from the first test to the last.

import { after } from "node:test";
import { startDemo } from "./demo.mjs";
import { Sandbox } from "./sandbox.mjs";

/**
 * Gives what gives the world: the `demo`, its `server`, and what `launch` gives of a browser, whose `stop()` ends it. It
 * begins when a test asks for it first, so that a file with a mistake in it leaves nothing running. `pages` gives the
 * folder that the demo serves, if it is not the shop's.
 */
export function oneWorld(launch, pages = () => undefined) {
  let world;
  const begin = async () => {
    const demo = await startDemo(pages());
    try {
      return { ...(await launch()), demo, server: new Sandbox(demo.sandbox) };
    } catch (error) {
      await demo.stop();
      throw error;
    }
  };
  after(async () => {
    const begun = await world?.catch(() => undefined);
    if (!begun) return;
    await begun.stop();
    await begun.demo.stop();
  });
  return () => (world ??= begin());
}
