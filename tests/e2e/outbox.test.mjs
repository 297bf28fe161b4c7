// Messages on their way when the network goes, the page is reloaded, or much goes wrong: each arrives once.

import assert from "node:assert/strict";
import { SEND, ask, delivered, eventually, hold, messages, openChat, part, ready } from "./chat.mjs";
import { say, scrollThrough, showsAll, stored, unsent } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";
const LATER = "Can I book a workshop?";

const offline = (page) => part(page, "notice").getByText("You are offline").waitFor();
const waits = (page) => part(page, "message-visitor").last().getByText("Waiting to send").waitFor();

/** What the visitor said, as the service has it. */
const said = async (server) => (await server.messages()).filter((line) => line.startsWith("visitor: "));

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
  assert.deepEqual(await said(server), ["visitor: Hello", `visitor: ${QUESTION}`, `visitor: ${LATER}`]);
  assert.deepEqual(await server.statuses(), [200, 200, 200]);
  for (const page of [one, other]) await showsAll(page, server);
  assert.equal(await unsent(one), 0);
});

/**
 * From now on the shop's files come without a network as well, as from a cache that the shop has. Gives a switch for the
 * network: while a page loads, Chromium takes it for online and lets a request through, which none would be in a tunnel.
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
  // The browser may lose the answer to an attempt that it lets out while the network comes back: then it is repeated.
  const keys = (await server.sends()).map(({ idempotencyKey }) => idempotencyKey);
  assert.equal(new Set(keys).size, 2);
  assert.deepEqual(await said(server), ["visitor: Hello", `visitor: ${QUESTION}`]);
  await showsAll(page, server);
});

/** It arrived: once there, once on the page, with its answer. */
async function arrivedOnce(page, server) {
  await delivered(page);
  await eventually(async () => assert.equal((await server.messages()).length, 2));
  assert.deepEqual(await said(server), [`visitor: ${QUESTION}`]);
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
  await post.asked;
  await page.reload();
  assert.deepEqual(await server.conversations(), []);
  post.release();
  await openChat(page);
  await arrivedOnce(page, server);
});

for (const [when, trouble] of [
  ["is being processed", { ai: "slow", slowMs: 1000 }],
  ["is being processed and its response is lost", { only: "send", loseAnswers: 1, ai: "slow", slowMs: 1000 }],
  ["is about to be dropped", { only: "send", dropRequests: 1, delayMs: 500 }],
  ["is about to be refused", { only: "send", status: 503, times: 1, delayMs: 500 }],
]) {
  test(`A reload while the message ${when} delivers it once`, async ({ visit, server }) => {
    await server.trouble(trouble);
    const page = await visit();
    await openChat(page);
    await say(page, QUESTION);
    await eventually(async () => assert.equal((await server.sends()).length, 1));
    await page.reload();
    await openChat(page);
    await arrivedOnce(page, server);
  });
}

for (const [lost, trouble] of [
  ["response is lost", { only: "send", loseAnswers: 1 }],
  ["request is dropped", { only: "send", dropRequests: 1 }],
]) {
  test(`A reload as soon as the ${lost} delivers the message once`, async ({ visit, server }) => {
    await server.trouble(trouble);
    const page = await visit();
    await openChat(page);
    // The proxy says so of every connection to the service that breaks.
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
  await post.asked;
  await one.close();
  await delivered(other);
  assert.deepEqual(await said(server), ["visitor: Hello", `visitor: ${QUESTION}`]);
  await showsAll(other, server);
});

/** The letters that are kept, those that were given up and those that are on their way. */
async function letters(page) {
  const kept = Object.entries(await stored(page)).filter(([key]) => key.startsWith("chat-widget:outbox:"));
  const failed = kept.filter(([, letter]) => letter.failed);
  return { failed: failed.length, waiting: kept.length - failed.length };
}

test("500 messages arrive once and in order with 30 % of requests failing", async ({ visit, server }) => {
  const texts = Array.from({ length: 500 }, (_, index) => `Order number ${index + 1}`);
  const page = await visit({ clock: true });
  await ready(page);
  // One in ten each: not carried out, failed, carried out without an answer.
  await server.trouble({ dropRequests: 0.1, status: 503, rate: 0.11, loseAnswers: 0.12, seed: 7 });
  await page.evaluate((texts) => texts.forEach((text) => window.chatWidget.sendMessage(text)), texts);
  // The pauses between two attempts pass quickly.
  const tried = () =>
    eventually(async () => {
      await page.clock.fastForward(500);
      assert.equal((await letters(page)).waiting, 0);
    }, 120_000);
  await tried();
  // The window is closed until then: what is shown to nobody takes no time.
  await openChat(page);
  for (let rounds = 0; (await letters(page)).failed > 0; rounds += 1) {
    assert.ok(rounds < 10, "what was given up goes out in the end");
    await scrollThrough(page, { retry: true });
    await tried();
  }

  await server.calm();
  const arrived = await said(server);
  assert.equal(arrived.length, texts.length);
  assert.deepEqual(new Set(arrived), new Set(texts.map((text) => `visitor: ${text}`)));
  assert.deepEqual(
    (await scrollThrough(page)).map((text) => `visitor: ${text}`),
    arrived,
  );
  assert.ok((await messages(page)).length < 150, "only a part of a long conversation is on the page");
});
