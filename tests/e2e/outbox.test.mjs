// Messages in flight when the network fails, the page reloads or requests fail: each arrives once.

import assert from "node:assert/strict";
import { SEND, ask, delivered, eventually, hold, messages, openChat, part, ready } from "./chat.mjs";
import { say, scrollThrough, showsAll, stored, unsent } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";
const LATER = "Can I book a workshop?";

const offline = (page) => part(page, "notice").getByText("You are offline").waitFor();
const waits = (page) => part(page, "message-visitor").last().getByText("Waiting to send").waitFor();

/** Returns the visitor's messages in the service. */
const visitorMessages = async (server) => (await server.messages()).filter((line) => line.startsWith("visitor: "));

test("Messages written offline in any tab are sent once when the network is back", async ({ visit, server }) => {
  const one = await visit();
  await openChat(one);
  await ask(one, "Hello");
  const other = await visit({ beside: one });
  await openChat(other);
  await one.context().setOffline(true);
  await Promise.all([one, other].map(offline));
  await say(other, QUESTION);
  await waits(other);
  await say(one, LATER);
  await waits(one);
  assert.equal((await server.sends()).length, 1);

  await one.context().setOffline(false);
  await eventually(async () => assert.equal((await server.messages()).length, 6));
  await Promise.all([one, other].map(delivered));
  assert.deepEqual(await visitorMessages(server), ["visitor: Hello", `visitor: ${QUESTION}`, `visitor: ${LATER}`]);
  assert.deepEqual(await server.statuses(), [200, 200, 200]);
  for (const page of [one, other]) await showsAll(page, server);
  assert.equal(await unsent(one), 0);
});

/**
 * Serves the shop's files without a network, as from the shop's cache. Returns a switch for the network that also aborts
 * requests: while a page loads, Chromium considers it online and would let a request through.
 */
async function keepFiles(page) {
  const kept = new Map();
  let cut = false;
  await page.route(
    ({ pathname }) => !pathname.startsWith("/connector/"),
    async (route) => {
      const url = route.request().url();
      if (!kept.has(url)) {
        const response = await route.fetch();
        kept.set(url, { status: response.status(), headers: response.headers(), body: await response.body() });
      }
      await route.fulfill(kept.get(url));
    },
  );
  await page.route(
    ({ pathname }) => pathname.startsWith("/connector/"),
    (route) => (cut ? route.abort("internetdisconnected") : route.fallback()),
  );
  return async (up) => {
    cut = !up;
    await page.context().setOffline(!up);
  };
}

test("Messages written offline survive a reload and are sent once when the network is back", async ({
  visit,
  server,
}) => {
  let network;
  const page = await visit({ prepare: async (page) => void (network = await keepFiles(page)) });
  await openChat(page);
  await ask(page, "Hello");
  await network(false);
  await offline(page);
  await say(page, QUESTION);
  await waits(page);
  await page.reload();
  await openChat(page);
  await offline(page);
  await waits(page);
  assert.equal((await messages(page)).filter((line) => line.includes(QUESTION)).length, 1);

  await network(true);
  await delivered(page);
  // The browser may lose the response to an attempt while the network comes back; then the attempt is repeated.
  const keys = (await server.sends()).map(({ idempotencyKey }) => idempotencyKey);
  assert.equal(new Set(keys).size, 2);
  assert.deepEqual(await visitorMessages(server), ["visitor: Hello", `visitor: ${QUESTION}`]);
  await showsAll(page, server);
});

/** Asserts that the message arrived once and is shown once, with its reply. */
async function arrivedOnce(page, server) {
  await delivered(page);
  await eventually(async () => assert.equal((await server.messages()).length, 2));
  assert.deepEqual(await visitorMessages(server), [`visitor: ${QUESTION}`]);
  await showsAll(page, server);
  const keys = (await server.sends()).map(({ idempotencyKey }) => idempotencyKey);
  assert.equal(new Set(keys).size, 1, "every attempt had the same key");
  assert.equal(await unsent(page), 0);
}

test("A reload before the message leaves the browser delivers it once", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  const post = await hold(page, SEND);
  await say(page, QUESTION);
  await post.requested;
  await page.reload();
  assert.deepEqual(await server.conversations(), []);
  post.release();
  await openChat(page);
  await arrivedOnce(page, server);
});

for (const [when, faults] of [
  ["is being processed", { ai: "slow", slowMs: 1000 }],
  ["is being processed and its response is lost", { only: "send", loseAnswers: 1, ai: "slow", slowMs: 1000 }],
  ["is about to be dropped", { only: "send", dropRequests: 1, delayMs: 500 }],
  ["is about to be refused", { only: "send", status: 503, times: 1, delayMs: 500 }],
]) {
  test(`A reload while the message ${when} delivers it once`, async ({ visit, server }) => {
    await server.setFaults(faults);
    const page = await visit();
    await openChat(page);
    await say(page, QUESTION);
    await eventually(async () => assert.equal((await server.sends()).length, 1));
    await page.reload();
    await openChat(page);
    await arrivedOnce(page, server);
  });
}

for (const [lost, faults] of [
  ["response is lost", { only: "send", loseAnswers: 1 }],
  ["request is dropped", { only: "send", dropRequests: 1 }],
]) {
  test(`A reload as soon as the ${lost} delivers the message once`, async ({ visit, server }) => {
    await server.setFaults(faults);
    const page = await visit();
    await openChat(page);
    // The proxy's status for a broken connection to the service.
    const broken = page.waitForResponse((response) => SEND(new URL(response.url())) && response.status() === 502);
    await say(page, QUESTION);
    await broken;
    await page.reload();
    await openChat(page);
    await arrivedOnce(page, server);
  });
}

test("A message from a tab that is closed at once is sent by another tab", async ({ visit, server }) => {
  const one = await visit();
  await openChat(one);
  await ask(one, "Hello");
  const other = await visit({ beside: one });
  await openChat(other);
  const post = await hold(one, SEND);
  await say(one, QUESTION);
  await post.requested;
  await one.close();
  await delivered(other);
  assert.deepEqual(await visitorMessages(server), ["visitor: Hello", `visitor: ${QUESTION}`]);
  await showsAll(other, server);
});

/** Counts the stored messages: failed ones, and waiting ones. */
async function countUnsent(page) {
  const kept = Object.entries(await stored(page)).filter(([key]) => key.startsWith("chat-widget:outbox:"));
  const failed = kept.filter(([, message]) => message.failed);
  return { failed: failed.length, waiting: kept.length - failed.length };
}

test("500 messages arrive once and in order with 30 % of requests failing", async ({ visit, server }) => {
  const texts = Array.from({ length: 500 }, (_, index) => `Order number ${index + 1}`);
  const page = await visit({ clock: true });
  await ready(page);
  // One in ten each: dropped, failed, and processed with a lost response.
  await server.setFaults({ dropRequests: 0.1, status: 503, rate: 0.11, loseAnswers: 0.12, seed: 7 });
  await page.evaluate((texts) => texts.forEach((text) => window.chatWidget.sendMessage(text)), texts);
  // Skips the back-off between attempts.
  const tried = () =>
    eventually(async () => {
      await page.clock.fastForward(500);
      assert.equal((await countUnsent(page)).waiting, 0);
    }, 120_000);
  await tried();
  // The window is closed until then, which saves rendering time.
  await openChat(page);
  for (let rounds = 0; (await countUnsent(page)).failed > 0; rounds += 1) {
    assert.ok(rounds < 10, "failed messages are sent in the end");
    await scrollThrough(page, { retry: true });
    await tried();
  }

  await server.clearFaults();
  const arrived = await visitorMessages(server);
  assert.equal(arrived.length, texts.length);
  assert.deepEqual(new Set(arrived), new Set(texts.map((text) => `visitor: ${text}`)));
  assert.deepEqual(
    (await scrollThrough(page)).map((text) => `visitor: ${text}`),
    arrived,
  );
  assert.ok((await messages(page)).length < 150, "only a part of a long conversation is rendered");
});
