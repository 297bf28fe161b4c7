// Messages in flight when the network fails, the page reloads or requests fail: each arrives once.

import assert from "node:assert/strict";
import { SEND, arrivedOnce, ask, delivered, eventually, hold, messages, openChat } from "./chat.mjs";
import { part, say, showsAll } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";

const offline = (page) => part(page, "notice").getByText("You are offline").waitFor();
const waits = (page) => part(page, "message-visitor").last().getByText("Waiting to send").waitFor();

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
  const visitorMessages = (await server.messages()).filter((line) => line.startsWith("visitor: "));
  assert.deepEqual(visitorMessages, ["visitor: Hello", `visitor: ${QUESTION}`]);
  await showsAll(page, server);
});

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
  await arrivedOnce(page, server, QUESTION);
});

test("A reload while the message is being processed and its response is lost delivers it once", async ({
  visit,
  server,
}) => {
  await server.setFaults({ only: "send", loseAnswers: 1, ai: "slow", slowMs: 1000 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await eventually(async () => assert.equal((await server.sends()).length, 1));
  await page.reload();
  await openChat(page);
  await arrivedOnce(page, server, QUESTION);
});
