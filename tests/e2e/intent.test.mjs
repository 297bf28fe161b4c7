// The cost of a page view and of an open: requests, their dependencies, and timers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ask, eventually, openChat, ready, see, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";

const budget = JSON.parse(readFileSync(new URL("../../size-budget.json", import.meta.url), "utf8"));

/** Returns the paths of the chat's requests: its files and the calls to the proxy. */
const chatRequests = (record) => record.paths().filter((request) => / \/(chat-widget|connector)\//.test(request));

/** Waits until the page has done what it does without intent. */
const idle = (record) =>
  eventually(() => {
    assert.ok(record.moduleFiles().includes("/chat-widget/themes/teal.mjs"));
    assert.equal(record.of("/connector/events").length, 1);
  });

/** Delays each file of the widget, so that requests that wait for others begin later than these end. */
const DELAY_MS = 300;
const delayed = (page) =>
  page.route("**/chat-widget/**", async (route) => {
    await pause(DELAY_MS);
    await route.continue();
  });

/**
 * Returns the widget's files that were there before the window, by their names, each with its number of round trips: one
 * more than that of the files that were there when it was requested. It runs in the page.
 */
function roundTrips() {
  const files = performance
    .getEntriesByType("resource")
    .map(({ name, startTime, responseEnd }) => ({ name: name.split("/chat-widget/")[1], startTime, responseEnd }))
    .filter(({ name, startTime, responseEnd }) => name && startTime >= window.intended && responseEnd <= window.opened)
    // Nothing waits for the announcement of a slow start, or for the functions that no window needs at first.
    .filter(({ name }) => name !== "progress.mjs" && name !== "deferred.wasm");
  const depth = (file) =>
    1 + Math.max(0, ...files.filter(({ responseEnd }) => responseEnd <= file.startTime).map(depth));
  return Object.fromEntries(files.map((file) => [file.name, depth(file)]));
}

/** Notes the times of the first intent and of the open window. It runs before any other script. */
function noteTimes() {
  addEventListener("pointerover", ({ target }) => {
    if (target.localName === "chat-widget") window.intended ??= performance.now();
  });
  const look = () => {
    const root = document.querySelector("chat-widget")?.shadowRoot;
    if (root?.querySelector("[part~=input]")) window.opened = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

for (const [language, locale, more] of [
  ["English", "en-US", {}],
  ["another language", "de-DE", { "locales/de.mjs": 2 }],
]) {
  test(`In ${language}, the window opens after two round trips and at most four requests`, async ({
    visit,
    recordOf,
  }) => {
    const page = await visit({
      prepare: async (page) => {
        await withOptions(`data-load="intent" data-events="off" data-locale="${locale}"`)(page);
        await delayed(page);
        await page.addInitScript(noteTimes);
      },
    });
    await eventually(() => assert.deepEqual(recordOf(page).moduleFiles(), ["/chat-widget/waiting.mjs"]));
    await recordOf(page).settle();
    assert.equal(chatRequests(recordOf(page)).length, budget.requests["a page view, load=intent"]);
    await openChat(page);
    await eventually(async () => assert.ok(await page.evaluate(() => window.opened)));
    const expected = { "chat-widget.mjs": 1, "chat-widget.wasm": 1, "themes/teal.mjs": 2, ...more };
    assert.deepEqual(await page.evaluate(roundTrips), expected);
    assert.equal(Object.keys(expected).length, budget.requests[`opening the window, in ${language}`]);
    assert.equal(Math.max(...Object.values(expected)), budget.roundTrips["opening the window"]);
  });
}

test("After a prefetch, opening the window transfers no file again", async ({ visit, recordOf }) => {
  const page = await visit();
  await idle(recordOf(page));
  await recordOf(page).settle();
  assert.equal(chatRequests(recordOf(page)).length, budget.requests["a page view, load=idle, with the prefetch"]);
  await openChat(page);
  const transfers = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      // The head of a response is as long as the theme.
      .filter(({ name }) => /chat-widget\.(mjs|wasm)/.test(name))
      .map(({ name, transferSize, encodedBodySize }) => [name.split("/").at(-1), transferSize > encodedBodySize]),
  );
  const filesOf = (isTransferred) => transfers.filter(([, is]) => is === isTransferred).map(([file]) => file);
  const files = ["chat-widget.mjs", "chat-widget.wasm"];
  assert.deepEqual(filesOf(true).toSorted(), files, "prefetched");
  assert.deepEqual(filesOf(false).toSorted(), files, "from the cache, or found unchanged");
});

/** Counts the timers that the page arms and that fire, its frames and its requests. It runs before any other script. */
function countWork() {
  const work = { armed: 0, fired: 0, frames: 0, requests: 0 };
  const { setTimeout, setInterval, requestAnimationFrame, fetch } = window;
  window.work = work;
  const counting =
    (set) =>
    (run, ...rest) => {
      work.armed += 1;
      const fire = (...args) => {
        work.fired += 1;
        run(...args);
      };
      return set(fire, ...rest);
    };
  window.setTimeout = counting(setTimeout);
  window.setInterval = counting(setInterval);
  window.requestAnimationFrame = (run) => {
    work.frames += 1;
    return requestAnimationFrame(run);
  };
  window.fetch = (...args) => {
    work.requests += 1;
    return fetch(...args);
  };
}

/** Returns the work of a minute of the page's clock, which is also that of the browser's other tabs. */
async function minuteOf(page) {
  const tabs = page.context().pages();
  await page.clock.pauseAt(1000 + (await page.evaluate(() => Date.now())));
  await page.evaluate(() => Object.assign(window.work, { armed: 0, fired: 0, frames: 0, requests: 0 }));
  // A message between tabs takes less than a quarter of a second of the clock.
  const step = tabs.length > 1 ? 250 : 1000;
  for (let passed = 0; passed < 60_000; passed += step) {
    await page.clock.runFor(step);
    for (const tab of tabs) await tab.evaluate(nextTask);
  }
  await page.clock.resume();
  return page.evaluate(() => window.work);
}

/** Lets what the page waits for, such as a response, happen. It runs in the page, whose timers do not. */
function nextTask() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(0);
  });
}

const counted = { clock: true, prepare: (page) => page.addInitScript(countWork) };
const NOTHING = { armed: 0, fired: 0, frames: 0, requests: 0 };

/** Waits until the page has loaded all files that it loads without intent, and has reported its view. */
async function settledPage(visit, recordOf) {
  const page = await visit(counted);
  await page.waitForLoadState("load");
  await eventually(async () => {
    await page.clock.runFor(1000);
    assert.equal(recordOf(page).of("/connector/events").length, 1);
    assert.ok(recordOf(page).moduleFiles().includes("/chat-widget/themes/teal.mjs"));
  });
  await recordOf(page).settle();
  return page;
}

/** Waits until the module has loaded its last file. */
const allLoaded = (page, recordOf) =>
  eventually(async () => {
    await page.clock.runFor(1000);
    assert.ok(recordOf(page).moduleFiles().includes("/chat-widget/recover.mjs"));
  });

test("A closed chat without a conversation does nothing, before and after the module has started", async ({
  visit,
  recordOf,
}) => {
  const page = await settledPage(visit, recordOf);
  assert.deepEqual(await minuteOf(page), NOTHING, "a minute without the module");
  await ready(page);
  await allLoaded(page, recordOf);
  // The work of the start.
  await minuteOf(page);
  assert.deepEqual(await minuteOf(page), NOTHING, "a minute with the module");
});

/**
 * Asserts the limits of a minute: timers that fire, and requests. A follower challenges the leader every second, so that a
 * leader that crashed is replaced within two.
 */
function assertWithin(state, { fired, requests }, remark) {
  const limit = budget.wakesPerMinute[state];
  remark(`${state}: ${fired} timers and ${requests} requests in a minute`);
  assert.ok(fired <= limit.fired && requests <= limit.requests, `${state}: ${fired} timers, ${requests} requests`);
}

test("The chat wakes rarely: closed, open, in a conversation, and hidden", async ({ visit, recordOf, remark }) => {
  const page = await settledPage(visit, recordOf);
  assertWithin("closed", await minuteOf(page), remark);
  await openChat(page);
  await allLoaded(page, recordOf);
  await minuteOf(page);
  assertWithin("open", await minuteOf(page), remark);
  await ask(page, "How long does delivery take?");
  await minuteOf(page);
  const busy = await minuteOf(page);
  assertWithin("conversation", busy, remark);
  assert.ok(busy.requests > 0, "a leader polls");

  await see(page, "hidden");
  await minuteOf(page);
  assertWithin("hidden", await minuteOf(page), remark);
});

test("The chat wakes rarely in a second tab", async ({ visit, recordOf, remark }) => {
  const page = await settledPage(visit, recordOf);
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await allLoaded(page, recordOf);
  const other = await visit({ ...counted, beside: page });
  await openChat(other);
  assertWithin("follower", await minuteOf(other), remark);
});
