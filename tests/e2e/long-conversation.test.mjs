// Conversations of up to 10,000 messages: what is in view first, what the module's memory holds, and what one more message
// costs.

import assert from "node:assert/strict";
import { ask, delivered, eventually, isInView, openChat, part, stored } from "./chat.mjs";
import { test } from "./harness.mjs";
import { keepMemory } from "./memory.mjs";

/** 66 pages of WebAssembly memory. */
const MAX_MEMORY_BYTES = 66 * 64 * 1024;
const LONGEST = 10_000;

const textOf = (number) => `Message number ${number}: how long does delivery take, and what does it cost?`;

const historyOf = (length) =>
  Array.from({ length }, (_, index) => ({
    id: `m${index + 1}`,
    role: ["user", "assistant", "operator"][index % 3],
    content: textOf(index + 1),
    createdAt: new Date(Date.UTC(2026, 0, 1) + index * 90_000).toISOString(),
  }));

/** Counts what the page does. It runs in the page before any other script. */
function count() {
  window.counts = { nodes: 0, bindings: 0, writes: 0 };
  const counted = (prototype, method, name) => {
    const call = prototype[method];
    prototype[method] = function (...values) {
      window.counts[name] += 1;
      return call.apply(this, values);
    };
  };
  for (const method of ["createElement", "createElementNS", "createTextNode"])
    counted(Document.prototype, method, "nodes");
  // A binding of a class calls it each time it runs.
  counted(DOMTokenList.prototype, "toggle", "bindings");
  for (const method of ["setItem", "removeItem"]) counted(Storage.prototype, method, "writes");
}

/** Prepares a visit to a conversation of which only the id is stored, and whose service lists `length` messages at once. */
const conversationOf = (length) => async (page) => {
  const messages = historyOf(length);
  let sent = 0;
  const answer = (route, data) => route.fulfill({ json: { ok: true, data, requestId: "r" } });
  await page.route("**/connector/chat/presence*", (route) =>
    answer(route, { operatorOnline: false, shouldPollMessages: false }),
  );
  await page.route("**/connector/chat/messages*", (route) => {
    const { searchParams } = new URL(route.request().url());
    if (route.request().method() === "GET") {
      const after = messages.findIndex(({ id }) => id === searchParams.get("after"));
      return answer(route, { messages: messages.slice(after + 1) });
    }
    sent += 1;
    const lead = { hasContact: true, needsHandoff: false };
    return answer(route, {
      conversationId: "long",
      userMessageId: `s${sent}`,
      usedFallback: false,
      blocked: false,
      lead,
    });
  });
  await page.addInitScript(keepMemory);
  await page.addInitScript(count);
  await page.addInitScript(() => {
    if (!localStorage.getItem("chat-widget:conversation"))
      localStorage.setItem("chat-widget:conversation", '{"v":2,"conversationId":"long"}');
  });
};

/** Waits until the session has taken over the whole history. */
const isRead = (page, length) =>
  eventually(async () => {
    const { after, cut } = (await stored(page))["chat-widget:conversation"];
    assert.equal(after, `m${length}`);
    assert.ok(cut || length < 1000, "storage holds the last part of a long conversation");
  });

const newest = (page) => part(page, "message").last();

const requestsOf = (recordOf, page) => recordOf(page).of("/connector/chat/messages", "GET");

test("A stored conversation is in view before any request is answered", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  const shown = await part(page, "message").allInnerTexts();
  // The loader hands over its config; everything else stays without an answer.
  const open = await visit({
    beside: page,
    prepare: async (next) => {
      await page.close();
      await next.route("**/connector/chat/{messages,presence}*", () => {});
    },
  });
  await openChat(open);
  await part(open, "message-visitor").waitFor();
  await eventually(() => isInView(newest(open)));
  assert.equal((await part(open, "message").allInnerTexts()).length, shown.length);
});

test("The newest of 10,000 messages is in view, and the rest is taken over without a further response", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: conversationOf(LONGEST) });
  await openChat(page);
  await newest(page).getByText(textOf(LONGEST)).waitFor();
  await isInView(newest(page));
  await isRead(page, LONGEST);
  assert.match(await newest(page).innerText(), new RegExp(`number ${LONGEST}:`));
  await isInView(newest(page));
  const [first, ...later] = requestsOf(recordOf, page).map(({ search }) => new URLSearchParams(search).get("after"));
  assert.equal(first, null, "the whole history in one request");
  assert.ok(
    later.every((after) => after === `m${LONGEST}`),
    `only what comes after it is requested again: ${later}`,
  );

  const bytes = await page.evaluate(() => window.moduleMemory.buffer.byteLength);
  assert.ok(bytes <= MAX_MEMORY_BYTES, `${bytes} bytes of WebAssembly memory`);
});

test("All of a long conversation can be read by scrolling, each message once and in order", async ({ visit }) => {
  const length = 1_000;
  const page = await visit({ prepare: conversationOf(length) });
  await openChat(page);
  await isRead(page, length);
  const numbers = await page.evaluate(async () => {
    const { shadowRoot } = document.querySelector("chat-widget");
    const log = shadowRoot.querySelector("[part=log]");
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const seen = [];
    const numberOf = (bubble) => Number(/number (\d+):/.exec(bubble.textContent)?.[1]);
    while (!log.querySelector(".cw-intro")) {
      const shown = [...log.querySelectorAll(".cw-row .cw-bubble")].map(numberOf);
      seen.unshift(
        ...shown.slice(0, seen.length > 0 && shown.includes(seen[0]) ? shown.indexOf(seen[0]) : shown.length),
      );
      log.scrollTop = 0;
      await frame();
      await frame();
    }
    const shown = [...log.querySelectorAll(".cw-row .cw-bubble")].map(numberOf);
    seen.unshift(...shown.slice(0, shown.indexOf(seen[0])));
    return seen;
  });
  assert.deepEqual(
    numbers,
    Array.from({ length }, (_, index) => index + 1),
  );
});

/** Holds idle callbacks until `runIdle()`, and refers weakly to the response. It runs in the page before any other script. */
function holdIdle() {
  const held = [];
  window.requestIdleCallback = (callback) => held.push(callback);
  window.runIdle = () => {
    for (const callback of held.splice(0)) callback();
  };
  const { parse } = JSON;
  JSON.parse = (...given) => {
    const value = parse(...given);
    if (value?.data?.messages?.length > 0) window.longHistory = new WeakRef(value);
    return value;
  };
}

test("reset() releases a long history of which the session has taken over a part", async ({ visit }) => {
  const prepare = async (page) => {
    await conversationOf(1_000)(page);
    await page.addInitScript(holdIdle);
  };
  const page = await visit({ prepare });
  await openChat(page);
  await newest(page).getByText(textOf(1_000)).waitFor();
  await page.evaluate(() => window.runIdle());
  await eventually(async () => assert.equal((await stored(page))["chat-widget:conversation"].after, "m400"));
  await page.evaluate(() => window.chatWidget.reset());
  await part(page, "message-visitor").first().waitFor({ state: "detached" });
  const devtools = await page.context().newCDPSession(page);
  await eventually(async () => {
    await page.evaluate(() => window.runIdle());
    await devtools.send("HeapProfiler.collectGarbage");
    assert.ok(await page.evaluate(() => window.longHistory.deref() === undefined));
  });
});

/** Notes in which task the page stores each part, without idle callbacks. It runs in the page before any other script. */
function noteTasks() {
  delete window.requestIdleCallback;
  window.taskOfPart = {};
  let task = 0;
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = function (key, text) {
    if (key === "chat-widget:conversation") {
      window.taskOfPart[JSON.parse(text).after] ??= task;
      setTimeout(() => (task += 1));
    }
    return setItem.call(this, key, text);
  };
}

test("In a browser without idle callbacks, each part of a long history has a task of its own", async ({ visit }) => {
  const prepare = async (page) => {
    await conversationOf(1_000)(page);
    await page.addInitScript(noteTasks);
  };
  const page = await visit({ prepare });
  await openChat(page);
  await isRead(page, 1_000);
  const tasks = await page.evaluate(() => ["m400", "m800", "m1000"].map((part) => window.taskOfPart[part]));
  assert.equal(new Set(tasks).size, 3, `${tasks}`);
  assert.ok(
    tasks.every((task) => task !== undefined),
    `${tasks}`,
  );
});

test("One more message costs the same in 1,000 and in 10,000 messages", async ({ visit }) => {
  const costs = [];
  for (const length of [1000, LONGEST]) {
    const page = await visit({ prepare: conversationOf(length) });
    await openChat(page);
    await isRead(page, length);
    const send = async (text) => {
      await page.evaluate((text) => window.chatWidget.sendMessage(text), text);
      await newest(page).getByText(text).waitFor();
      await delivered(page);
      await eventually(async () =>
        assert.deepEqual(
          Object.keys(await stored(page)).filter((key) => key.includes("outbox")),
          [],
        ),
      );
    };
    // The first one loads what later ones share.
    await send("first");
    const rows = await part(page, "message").count();
    // Counted in the page, from task to task: timers of the widget write as well.
    const cost = await page.evaluate(async () => {
      const before = { ...window.counts };
      window.chatWidget.sendMessage("second");
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage(0);
      });
      return Object.fromEntries(Object.entries(window.counts).map(([name, count]) => [name, count - before[name]]));
    });
    costs.push({ ...cost, rows });
    await page.close();
  }
  assert.ok(costs[0].nodes > 0 && costs[0].bindings > 0 && costs[0].writes > 0, JSON.stringify(costs));
  assert.deepEqual(costs[1], costs[0]);
});
