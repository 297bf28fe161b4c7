// `BrowserWidgetClient` of the packed package, in a browser, against the sandbox behind the proxy.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test as nodeTest } from "node:test";
import { build } from "esbuild";
import { ask, part, REFUSES, stored } from "../e2e/chat.mjs";
import { project, serve, visit } from "./fixture.mjs";

const QUESTION = "How long does delivery take?";
let address;

/** Builds the page on the first call: the code of the docs, and the package as globals. */
function page() {
  address ??= (async () => {
    const { folder, write } = project("client");
    write(
      "all.ts",
      'import * as all from "@site-connector/chat-widget";\nimport wasm from "@site-connector/chat-widget/wasm";\nimport * as own from "./own.ts";\n' +
        'Object.assign(window, all, own, { wasm, client: new all.BrowserWidgetClient({ proxy: "/connector" }) });\n',
    );
    await build({
      entryPoints: [join(folder, "all.ts")],
      outdir: join(folder, "site"),
      bundle: true,
      splitting: true,
      format: "esm",
      loader: { ".wasm": "file" },
      publicPath: "/",
      logLevel: "warning",
    });
    return serve(
      join(folder, "site"),
      '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Pots</title><body><script type="module" src="/all.js"></script>',
    );
  })();
  return address;
}

/** Runs a test on a page with a client. */
const test = (sentence, body) =>
  nodeTest(sentence, { timeout: 60_000 }, async () => {
    const visited = await visit(await page());
    await visited.page.waitForFunction(() => window.client);
    await body(visited);
  });

/** Returns the error of a failed call. */
const failure = (page, run) =>
  page.evaluate(`(${run})().then(() => null, ({ name, status, code, requestId, retryAfter, retryable, idempotencyKey }) =>
    ({ name, status, code, requestId, retryAfter, retryable, idempotencyKey }))`);

const mountWidget = (page) =>
  page.evaluate(async () => {
    await load(wasm);
    window.widget = await ChatWidget.mount({ proxy: "/connector" });
  });

test("A client gets the config, sends a message, and reads messages and presence", async ({ page, server, wrong }) => {
  const { config } = await page.evaluate(() => client.getChatConfig("en"));
  assert.equal(config.enabled, true);
  assert.deepEqual(await page.evaluate(() => client.listMessages()), { messages: [] });
  assert.deepEqual(await server.arrived("GET", "/chat/messages"), [], "no request without a conversation");
  const { message, userMessageId } = await page.evaluate(
    (question) => client.sendMessage(question, { visitor: { name: "Ann" } }),
    QUESTION,
  );
  assert.equal(message.role, "assistant");
  await server.operatorOnline(true);
  await server.operatorSays("I am a person.");
  const { messages } = await page.evaluate((after) => client.listMessages(after), userMessageId);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["assistant", "operator"],
  );
  assert.equal((await page.evaluate(() => client.getPresence())).operatorOnline, true);
  assert.deepEqual(wrong, []);
});

test("Concurrent messages are sent in order, into one conversation", async ({ page, server }) => {
  await page.evaluate(() => Promise.all(["One", "Two", "Three"].map((text) => client.sendMessage(text))));
  const sent = (await server.messages()).filter((message) => message.startsWith("visitor"));
  assert.deepEqual(sent, ["visitor: One", "visitor: Two", "visitor: Three"]);
});

test("The widget continues a client's conversation as the same visitor", async ({ page, server }) => {
  await page.evaluate((question) => client.sendMessage(question), QUESTION);
  const kept = await stored(page);
  assert.deepEqual(Object.keys(kept).sort(), ["chat-widget:conversation", "chat-widget:visitor"]);
  assert.deepEqual(Object.keys(kept["chat-widget:conversation"]), ["v", "visitorId", "conversationId"]);
  await mountWidget(page);
  await part(page, "launcher").click();
  await part(page, "message-visitor").getByText(QUESTION).waitFor();
  await ask(page, "Do you ship?");
  assert.equal((await server.messages()).length, 4, "in one conversation");
  assert.equal(await page.evaluate(() => widget.state.visitorId), kept["chat-widget:visitor"].visitorId);
});

test("A client continues the widget's conversation as the same visitor", async ({ page, server }) => {
  await mountWidget(page);
  await part(page, "launcher").click();
  await ask(page, QUESTION);
  const before = await stored(page);
  await page.evaluate(() => client.sendMessage("Do you ship?"));
  assert.equal((await server.messages()).length, 4, "in one conversation");
  assert.equal(await page.evaluate(() => client.visitorId), before["chat-widget:visitor"].visitorId);
  assert.deepEqual(
    (await stored(page))["chat-widget:conversation"].conversationId,
    before["chat-widget:conversation"].conversationId,
  );
});

test("The function of the docs succeeds after a failure, once Retry-After has passed", async ({ page, server }) => {
  await server.setFaults({ only: "send", status: 429, times: 1, retryAfter: 1 });
  assert.ok(await page.evaluate((question) => ask(question), QUESTION));
  const sends = await server.sends();
  assert.deepEqual(
    sends.map(({ status }) => status),
    [429, 200],
  );
  assert.equal(sends[0].idempotencyKey, sends[1].idempotencyKey);
});

test("A failed call rejects with an error that has the reason and whether a retry may help", async ({
  page,
  server,
}) => {
  await page.evaluate(() => {
    window.client = new BrowserWidgetClient({ proxy: "/connector", retries: 0 });
  });
  await server.setFaults({ status: 429, retryAfter: 7 });
  const limited = await failure(page, "() => client.getPresence()");
  const { requestId, idempotencyKey, ...rest } = limited;
  assert.deepEqual(rest, {
    name: "ChatWidgetError",
    status: 429,
    code: "RATE_LIMITED",
    retryAfter: 7000,
    retryable: true,
  });
  assert.ok(requestId);
  assert.equal(idempotencyKey, undefined);
  await server.setFaults({ only: "send", status: 402 });
  const refused = await failure(page, "() => client.sendMessage('One')");
  assert.deepEqual([refused.code, refused.retryable], ["INSUFFICIENT_QUOTA", false]);
  await server.clearFaults();
  const elsewhere = await failure(page, "() => new BrowserWidgetClient({ proxy: '/nothing' }).getChatConfig()");
  assert.deepEqual([elsewhere.status, elsewhere.code, elsewhere.retryable], [404, "INVALID_RESPONSE", false]);
  await server.setFaults({ only: "config", delayMs: 20_000 });
  const late = await failure(
    page,
    "() => new BrowserWidgetClient({ proxy: '/connector/', timeout: 50, retries: 0 }).getChatConfig()",
  );
  assert.deepEqual([late.status, late.code, late.retryable], [0, "TIMEOUT", true]);
  await page.context().setOffline(true);
  const offline = await failure(page, "() => client.getChatConfig()");
  assert.deepEqual([offline.status, offline.code, offline.retryable], [0, "NETWORK", true]);
});

test("Events are reported in batches of fifty, with the page and the conversation", async ({ page, server }) => {
  await page.evaluate(() => client.sendMessage("One"));
  const outcome = await page.evaluate(() =>
    client.trackBatch(
      Array.from({ length: 51 }, (_, index) => ({ eventType: "cta_clicked", eventData: { label: `${index}` } })),
    ),
  );
  assert.deepEqual(outcome, { accepted: 51, rejected: 0, tracking: "enabled" });
  const requests = await server.arrived("POST", "/events");
  assert.equal(requests.length, 2);
  for (const { idempotencyKey } of requests) assert.match(idempotencyKey, /^events-[!-~]{8,153}$/);
  await page.evaluate(() => client.track({ eventType: "chat_opened" }));
  const event = (await server.events()).find(({ eventType }) => eventType === "chat_opened");
  const [visitorId, conversationId] = await page.evaluate(() => [client.visitorId, client.conversationId]);
  assert.deepEqual(
    [event.visitorId, event.path, event.title, event.eventData.conversationId],
    [visitorId, "/", "Pots", conversationId],
  );
});

test("Each customer is a separate visitor", async ({ page, server }) => {
  await page.evaluate(() => client.sendMessage("One"));
  await page.evaluate(() => new BrowserWidgetClient({ proxy: "/connector", customerId: "ann" }).sendMessage("Two"));
  assert.equal((await server.conversations()).length, 2);
  assert.deepEqual(Object.keys(await stored(page)).sort(), [
    "chat-widget:conversation",
    "chat-widget:conversation@ann",
    "chat-widget:visitor",
    "chat-widget:visitor@ann",
  ]);
});

for (const [condition, break_] of [
  ...Object.entries(REFUSES),
  [
    "is full of invalid data",
    () => {
      for (const name of ["visitor", "conversation"]) localStorage.setItem(`chat-widget:${name}`, '{"v":');
    },
  ],
]) {
  test(`The conversation continues where storage ${condition}`, async ({ page, server }) => {
    await page.evaluate(break_);
    await page.evaluate(() => client.sendMessage("One"));
    await page.evaluate(() => client.sendMessage("Two"));
    assert.equal((await server.messages()).length, 4, "in one conversation");
  });
}
