// The functions of the module that are loaded when the window is open: early, late, or not at all.

import assert from "node:assert/strict";
import { ask, background, delivered, eventually, hold, isInView } from "./chat.mjs";
import { openChat, part, say, visitHolding, WASM, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { UNASKED } from "./unasked-events.mjs";

const QUESTION = "How long does delivery take?";
const DEFERRED = "**/deferred.wasm";

/** Counts the requests that the page waits for. It runs in the page, before any script. */
function countBlocking() {
  window.blocking = 0;
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, url, isAsync = true, ...others) {
    if (!isAsync) window.blocking += 1;
    return open.call(this, method, url, isAsync, ...others);
  };
}
const blocking = (page) => page.evaluate(() => window.blocking);

/** Prepares a page that loads nothing before intent and counts what blocks it. */
const onIntent = async (page) => {
  await withOptions('data-load="intent"')(page);
  await page.addInitScript(countBlocking);
};

for (const [name, visitor, attributes = ""] of [
  ["on a desktop", {}],
  ["on a phone", { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }],
  ["in German", {}, 'data-locale="de"'],
  ["in Arabic", {}, 'data-locale="ar"'],
]) {
  test(`${name}, a first window opens and takes text without deferred functions`, async ({ visit }) => {
    const prepare = async (page) => {
      await onIntent(page);
      await withOptions(`data-load="intent" ${attributes}`)(page);
    };
    const [page, held] = await visitHolding(visit, DEFERRED, { ...visitor, prepare });
    await openChat(page);
    await held.requested;
    await part(page, "input").pressSequentially(QUESTION);
    assert.equal(await part(page, "input").inputValue(), QUESTION);
    assert.equal(await blocking(page), 0);
    held.release();
  });
}

for (const [name, happen] of Object.entries(UNASKED)) {
  test(`Without deferred functions, a window takes text after ${name}`, async ({ visit }) => {
    const viewport = { width: 390, height: 720 };
    const [page, held] = await visitHolding(visit, DEFERRED, { viewport, prepare: onIntent });
    await openChat(page);
    await held.requested;
    await happen(page);
    await part(page, "input").pressSequentially(QUESTION);
    assert.equal(await part(page, "input").inputValue(), QUESTION);
    assert.equal(await blocking(page), 0);
    held.release();
  });
}

test("The controls that pages call at their start need no deferred functions", async ({ visit, server }) => {
  const prepare = async (page) => {
    await onIntent(page);
    await withOptions('data-load="intent" data-consent="required"')(page);
    await page.addInitScript(() => {
      window.chatWidget = [["grantConsent"], ["identify", { name: "Ann" }], ["track", "order_placed"]];
    });
  };
  const [page, held] = await visitHolding(visit, DEFERRED, { prepare });
  await held.requested;
  await openChat(page);
  await eventually(async () =>
    assert.ok((await server.events()).some(({ eventType }) => eventType === "order_placed")),
  );
  assert.equal(await blocking(page), 0);
  held.release();
});

test("For a visitor with a conversation, both modules are requested at the same time, and nothing blocks the page", async ({
  visit,
}) => {
  const page = await visit({ prepare: onIntent });
  await openChat(page);
  await ask(page, QUESTION);
  const first = await hold(page, WASM);
  const second = await hold(page, DEFERRED);
  await page.reload();
  await first.requested;
  await second.requested;
  second.release();
  first.release();
  await openChat(page);
  await part(page, "message-assistant").last().waitFor();
  await isInView(part(page, "message-assistant").last());
  assert.equal(await blocking(page), 0);
});

test("A message sent before the deferred functions have arrived is delivered once", async ({ visit, server }) => {
  const prepare = async (page) => {
    await onIntent(page);
    // The request in the background gets no response; the one that the page waits for does.
    await page.route(DEFERRED, (route) => (route.request().resourceType() === "fetch" ? undefined : route.continue()));
  };
  const page = await visit({ prepare });
  await openChat(page);
  await say(page, QUESTION);
  await delivered(page);
  assert.equal(await blocking(page), 1);
  assert.equal((await server.messages()).filter((line) => line.endsWith(QUESTION)).length, 1);
});

test("Without the deferred functions, a crash keeps the text, and the chat continues when they can be loaded", async ({
  visit,
  server,
  recordOf,
}) => {
  const prepare = async (page) => {
    await onIntent(page);
    let modules = 0;
    await page.route(WASM, (route) => {
      modules += 1;
      return route.continue();
    });
    // The module that recovers from the crash gets them.
    await page.route(DEFERRED, (route) => (modules > 1 ? route.continue() : route.abort()));
  };
  const page = await visit({ prepare });
  recordOf(page).tolerate("chat widget: the module broke");
  await openChat(page);
  await page.evaluate(() => {
    window.codes = [];
    (window.chatWidget ||= []).push(["on", "error", ({ code }) => window.codes.push(code)]);
  });
  await say(page, QUESTION);
  await eventually(async () => assert.deepEqual(await page.evaluate(() => window.codes), ["BROKEN"]));
  const input = part(page, "input");
  await eventually(async () => {
    const isDraft = (await input.isVisible()) && (await input.inputValue()) === QUESTION;
    assert.ok(isDraft || (await part(page, "message-visitor").isVisible()));
  });
  if ((await input.inputValue()) === QUESTION) await input.press("Enter");
  await delivered(page);
  assert.equal((await server.messages()).filter((line) => line.endsWith(QUESTION)).length, 1);
});

test("A conversation is shown although the first attempt to load the deferred functions has failed", async ({
  visit,
}) => {
  const page = await visit({ prepare: onIntent });
  await openChat(page);
  await ask(page, QUESTION);
  await page.route(DEFERRED, (route) =>
    route.request().resourceType() === "fetch" ? route.abort() : route.continue(),
  );
  await page.reload();
  await openChat(page);
  await isInView(part(page, "message-assistant").last());
});

test("If the deferred functions of a conversation cannot be loaded, the visitor sees the error state", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({
    prepare: async (page) => {
      await onIntent(page);
      await withOptions('data-load="intent" data-contact="mailto:help@shop.example"')(page);
    },
  });
  recordOf(page).tolerate("chat widget: the module broke");
  await openChat(page);
  await ask(page, QUESTION);
  await page.route(DEFERRED, (route) => route.abort());
  await page.reload();
  // That of the error state opens no dialog.
  const launcher = page.locator("[part=launcher]:not([aria-haspopup])");
  await launcher.click();
  const link = page.locator('chat-widget a[href="mailto:help@shop.example"]');
  await link.waitFor();
  const { y, height } = await link.boundingBox();
  assert.ok(y >= 0 && y + height <= page.viewportSize().height, "the link is within the window of the browser");
  // The pointer is on the launcher.
  await eventually(async () => assert.equal(await background(page, "launcher"), "rgb(9, 116, 119)"));
});
