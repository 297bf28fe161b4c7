// A destroyed widget leaves nothing behind on the page.

import assert from "node:assert/strict";
import { ready } from "./chat.mjs";
import { test } from "./harness.mjs";
import { keepMemory } from "./memory.mjs";

const ROUNDS = 1000;
/** The parts in which the heap is measured. A leak is in all of them; what the browser compiles late is in one. */
const PARTS = 4;
/** Rounds before the measurement: the first ones load the module, its style sheet and compiled code, which stay. */
const WARM_UP = 500;
/** Maximum bytes of the heap that the browser itself may keep for each round. */
const MAX_BYTES_PER_ROUND = 50;

/** Rounds between forced garbage collections. The module's memory never shrinks, so uncollected widgets would enlarge it. */
const BATCH = 50;

/** Mounts, opens and destroys a widget this number of times. */
async function rounds(session, page, count) {
  for (let done = 0; done < count; done += BATCH) {
    await portion(page);
    await collect(session, page);
  }
}

const portion = (page) =>
  page.evaluate(async (count) => {
    const { ChatWidget } = await import("/chat-widget/chat-widget.mjs");
    for (let round = 0; round < count; round += 1) {
      const widget = await ChatWidget.mount(
        { proxy: "/connector", events: "off", consent: "required" },
        { config: { config: { enabled: true } } },
      );
      widget.open();
      await widget.ready;
      widget.destroy();
    }
  }, BATCH);

/** Collects garbage, after pending frames and finalizers have run. */
async function collect(session, page) {
  for (let times = 0; times < 3; times += 1) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    await session.send("HeapProfiler.collectGarbage");
  }
}

async function taken(session, page) {
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const module = await page.evaluate(() => window.moduleMemory.buffer.byteLength);
  return { nodes, jsEventListeners, usedSize, module };
}

test("Mounting and destroying 1,000 widgets leaks no node, listener or memory", async ({ visit }) => {
  const page = await visit({ prepare: (page) => page.addInitScript(keepMemory) });
  await ready(page);
  await page.evaluate(() => window.chatWidget.destroy());
  const globals = await page.evaluate(() => Object.keys(window));
  const session = await page.context().newCDPSession(page);
  await rounds(session, page, WARM_UP);
  const measured = [await taken(session, page)];
  for (let part = 0; part < PARTS; part += 1) {
    await rounds(session, page, ROUNDS / PARTS);
    measured.push(await taken(session, page));
  }
  const [before, after] = [measured[0], measured.at(-1)];
  assert.deepEqual([after.nodes, after.jsEventListeners], [before.nodes, before.jsEventListeners]);
  const growth = measured.slice(1).map(({ usedSize }, part) => (usedSize - measured[part].usedSize) / (ROUNDS / PARTS));
  assert.ok(Math.min(...growth) < MAX_BYTES_PER_ROUND, `${growth} bytes of the heap in each round`);
  assert.equal(after.module, before.module, "the module's memory");
  assert.deepEqual(await page.evaluate(() => Object.keys(window)), globals);
  assert.equal(await page.evaluate(() => document.adoptedStyleSheets.length), 0);
});
