// Measures the time until a conversation is in view, to open the window and to show a message, and the memory, in
// conversations of 10, 1,000 and 10,000 messages, on a processor slowed four times. A fake service responds at once, so that
// only the widget is measured.

import { launch, startDemo } from "../tests/e2e/demo.mjs";
import { keepMemory } from "../tests/e2e/memory.mjs";
import { median, SLOWER } from "./bench/slow.mjs";
import { buildConnector } from "./connector.mjs";
import { requireSteps } from "./run-steps.mjs";
import { chromium, main, say, setupBuild } from "./setup.mjs";

const LENGTHS = [10, 1000, 10000];
/** The number of messages for the median. */
const APPENDED = 40;
const OPENED = 9;
/** The number of pages for the median of the time until a conversation is in view. */
const VIEWED = 9;

const history = (length) =>
  Array.from({ length }, (_, index) => ({
    id: `m${index}`,
    role: ["user", "assistant", "operator"][index % 3],
    content: `Message number ${index + 1}: **how long** does delivery take, and what does it cost?`,
    createdAt: new Date(Date.UTC(2026, 0, 1) + index * 90_000).toISOString(),
  }));

/** Responds for the site's proxy. A message is accepted and gets no reply. */
async function standIn(page, messages) {
  let sent = 0;
  const answer = (route, data) => route.fulfill({ json: { ok: true, data, requestId: "bench" } });
  await page.route("**/connector/**", (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.endsWith("/config")) return answer(route, { config: { enabled: true } });
    if (url.pathname.endsWith("/presence")) return answer(route, { operatorOnline: true, shouldPollMessages: false });
    if (url.pathname.endsWith("/events")) return answer(route, { accepted: 1, rejected: 0, tracking: "disabled" });
    if (route.request().method() === "GET")
      return answer(route, { messages: url.searchParams.has("after") ? [] : messages });
    sent += 1;
    const data = {
      conversationId: "bench",
      userMessageId: `s${sent}`,
      usedFallback: false,
      aiStatus: "ok",
      blocked: false,
    };
    return answer(route, { ...data, lead: { hasContact: true, needsHandoff: false } });
  });
}

/** Records the time from the module's start until the newest message is in view and painted. It runs in the page. */
function watch(newest) {
  const { instantiateStreaming } = WebAssembly;
  let started;
  WebAssembly.instantiateStreaming = async (...from) => {
    const loaded = await instantiateStreaming.apply(WebAssembly, from);
    started = performance.now();
    return loaded;
  };
  const look = () => {
    const log = document.querySelector("chat-widget")?.shadowRoot?.querySelector("[part=log]");
    const message = log?.querySelector(".cw-row:last-of-type .cw-bubble");
    const isInView =
      message?.textContent.startsWith(newest) &&
      message.getBoundingClientRect().top < log.getBoundingClientRect().bottom;
    // Painted at the end of this frame.
    if (isInView) requestAnimationFrame(() => setTimeout(() => (window.viewed = performance.now() - started)));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/**
 * Returns the times until the newest message is in view, in a window that was open on the page before: with the id of the
 * conversation alone in storage, so that all of it is read, and with what that page has stored.
 */
async function firstView(browser, site, length) {
  const messages = history(length);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  await context.addInitScript(watch, `Message number ${length}:`);
  await context.addInitScript(() => {
    sessionStorage.setItem("chat-widget::open", "1");
    localStorage["chat-widget:conversation"] ??= '{"conversationId":"bench"}';
  });
  const times = [];
  for (let index = 0; index < 2; index += 1) {
    const page = await context.newPage();
    await standIn(page, messages);
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    await page.goto(site);
    await page.waitForFunction(() => window.viewed, undefined, { polling: 100 });
    times.push(await page.evaluate(() => window.viewed));
    // All of it is taken over and stored.
    await page.waitForFunction(
      (last) => JSON.parse(localStorage["chat-widget:conversation"]).after === last,
      messages.at(-1).id,
      { polling: 100 },
    );
    await page.close();
  }
  await context.close();
  return times;
}

async function measure(browser, site, length) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  await standIn(page, history(length));
  await page.addInitScript(keepMemory);
  await page.addInitScript(() => localStorage.setItem("chat-widget:conversation", '{"conversationId":"bench"}'));
  const read = page.waitForFunction(
    (last) => JSON.parse(localStorage["chat-widget:conversation"]).after === last,
    `m${length - 1}`,
    { polling: 100 },
  );
  const slowed = await context.newCDPSession(page);
  await slowed.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  await page.goto(site);
  await read;
  const opened = await page.evaluate(async (times) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const root = () => document.querySelector("chat-widget").shadowRoot;
    const last = () => [...(root().querySelector("[part=log]")?.querySelectorAll(".cw-bubble") ?? [])].at(-1);
    const until = async (holds) => {
      while (!holds()) await new Promise((resolve) => setTimeout(resolve));
    };
    await until(() => window.chatWidget.state);
    const taken = [];
    for (let index = 0; index < times; index += 1) {
      const from = performance.now();
      window.chatWidget.open();
      await until(() => last());
      last().getBoundingClientRect();
      await frame();
      taken.push(performance.now() - from);
      // The first time, the history may still be loading.
      if (index === 0) await until(() => root().querySelectorAll("[part~=message]").length > 5);
      window.chatWidget.close();
      await until(() => !last());
      await frame();
    }
    return taken;
  }, OPENED);
  const appended = await page.evaluate(async (times) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const log = () => document.querySelector("chat-widget").shadowRoot.querySelector("[part=log]");
    window.chatWidget.open();
    while (!log()) await frame();
    await frame();
    const taken = [];
    for (let index = 0; index < times; index += 1) {
      const text = `Appended ${index}`;
      const from = performance.now();
      window.chatWidget.sendMessage(text);
      while (![...log().querySelectorAll("[part~=message-visitor]")].at(-1)?.textContent.includes(text))
        await Promise.resolve();
      // The layout is included.
      log().scrollHeight;
      taken.push(performance.now() - from);
      while (Object.keys(localStorage).some((key) => key.startsWith("chat-widget:outbox:"))) await frame();
      await frame();
    }
    return taken;
  }, APPENDED);
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const module = await page.evaluate(() => window.moduleMemory.buffer.byteLength);
  await context.close();
  const views = { read: [], stored: [] };
  for (let index = 0; index < VIEWED; index += 1) {
    const [read, stored] = await firstView(browser, site, length);
    views.read.push(read);
    views.stored.push(stored);
  }
  return {
    read: median(views.read),
    stored: median(views.stored),
    opened: median(opened),
    appended: median(appended),
    heap: usedSize / 1e6,
    module: module / 1e6,
  };
}

await main(async () => {
  setupBuild();
  await chromium();
  await requireSteps("build:dist");
  buildConnector();
  const demo = await startDemo();
  const browser = await launch();
  try {
    say("messages   read (ms)   stored (ms)   open (ms)   append (ms)   script's memory (MB)   module's memory (MB)");
    const rows = [];
    for (const length of LENGTHS) {
      const row = await measure(browser, demo.site, length);
      rows.push(row);
      const columns = [row.read.toFixed(0).padStart(12), row.stored.toFixed(0).padStart(14)];
      columns.push(row.opened.toFixed(1).padStart(12), row.appended.toFixed(2).padStart(14));
      const memory = [row.heap.toFixed(1).padStart(23), row.module.toFixed(1).padStart(23)];
      say(`${String(length).padStart(8)}${[...columns, ...memory].join("")}`);
    }
    say(`10,000 messages are in view after ${(rows.at(-1).read / rows[0].read).toFixed(2)} times the time of 10`);
    say(`a message in 10,000 takes ${(rows.at(-1).appended / rows[0].appended).toFixed(2)} times as long as in 10`);
  } finally {
    await browser.close();
    await demo.stop();
  }
});
