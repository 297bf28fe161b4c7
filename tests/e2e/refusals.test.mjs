// Error responses to a message: retried ones, their waits, and final ones.

import assert from "node:assert/strict";
import { ask, delivered, messages, openChat, part, say, advanceClock } from "./chat.mjs";
import { test } from "./harness.mjs";
import { WELCOME } from "./sandbox.mjs";

const QUESTION = "How long does delivery take?";
const LATER = "Can I book a workshop?";

test("A 402 replaces the composer with a card and marks the message as not sent", async ({ visit, server }) => {
  await server.setFaults({ only: "send", status: 402 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "notice").getByText("The chat is unavailable").waitFor();
  await part(page, "message-failed").waitFor();
  assert.equal(await part(page, "composer").count(), 0);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor (not sent): ${QUESTION}`]);
  assert.deepEqual(await server.statuses(), [402]);

  await server.clearFaults();
  await part(page, "retry").click();
  await delivered(page);
  assert.deepEqual(await server.statuses(), [402, 200]);
  await part(page, "composer").waitFor();
  assert.equal(await part(page, "notice").count(), 0);
});

test("After a 429 the message is resent once, and not before Retry-After has passed", async ({ visit, server }) => {
  await server.setFaults({ only: "send", status: 429, times: 1, retryAfter: 1 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await delivered(page);
  assert.deepEqual(await server.statuses(), [429, 200]);
  assert.equal((await server.conversation()).messages.length, 2);
  // Measured with the browser's clock.
  const attempts = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter(({ name }) => name.endsWith("/connector/chat/messages"))
      .map(({ startTime, responseEnd }) => ({ startTime, responseEnd })),
  );
  assert.equal(attempts.length, 2);
  const waited = attempts[1].startTime - attempts[0].responseEnd;
  assert.ok(waited >= 1000, `waited ${waited} ms`);
});

test("A 400 marks the message as failed without an automatic retry", async ({ visit, server }) => {
  const page = await visit({ clock: true });
  await openChat(page);
  await server.setFaults({ only: "send", times: 1, status: 400 });
  await say(page, QUESTION);
  await part(page, "message-failed").waitFor();
  assert.equal(await part(page, "retry").count(), 1);
  await advanceClock(page, { minutes: 5 });

  // Messages are sent one at a time, so another attempt would come before this one.
  await ask(page, LATER);
  assert.deepEqual(await server.statuses(), [400, 200]);
  const visitors = (await server.messages()).filter((line) => line.startsWith("visitor"));
  assert.deepEqual(visitors, [`visitor: ${LATER}`]);
  assert.equal(await part(page, "message-failed").count(), 1);
});
