// What the service says no to: which answers are worth another attempt, when, and which are not.

import assert from "node:assert/strict";
import { ask, delivered, eventually, messages, openChat, part, say, showsAll, timePasses } from "./chat.mjs";
import { test } from "./harness.mjs";
import { WELCOME } from "./sandbox.mjs";

const QUESTION = "How long does delivery take?";
const LATER = "Can I book a workshop?";

test("402 closes the composer with a card, and shows the message as not sent", async ({ visit, server }) => {
  await server.trouble({ only: "send", status: 402 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "notice").getByText("The chat is unavailable").waitFor();
  await part(page, "message-failed").waitFor();
  assert.equal(await part(page, "composer").count(), 0);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor (not sent): ${QUESTION}`]);
  assert.deepEqual(await server.statuses(), [402]);

  await server.calm();
  await part(page, "retry").click();
  await delivered(page);
  assert.deepEqual(await server.statuses(), [402, 200]);
  await part(page, "composer").waitFor();
  assert.equal(await part(page, "notice").count(), 0);
});

test("429 is obeyed: the message goes out once more, not before Retry-After is over", async ({ visit, server }) => {
  await server.trouble({ only: "send", status: 429, times: 1, retryAfter: 2 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await delivered(page);
  assert.deepEqual(await server.statuses(), [429, 200]);
  assert.equal((await server.conversation()).messages.length, 2);
  // By the browser's own clock.
  const attempts = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter(({ name }) => name.endsWith("/connector/chat/messages"))
      .map(({ startTime, responseEnd }) => ({ startTime, responseEnd })),
  );
  assert.equal(attempts.length, 2);
  const waited = attempts[1].startTime - attempts[0].responseEnd;
  assert.ok(waited >= 2000, `waited ${waited} ms`);
});

test("While Retry-After runs, what the visitor writes next waits its turn", async ({ visit, server }) => {
  await server.trouble({ only: "send", status: 429, times: 1, retryAfter: 1 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await eventually(async () => assert.deepEqual(await server.statuses(), [429]));
  await say(page, LATER);
  await eventually(async () => assert.deepEqual(await server.statuses(), [429, 200, 200]));
  const visitors = (await server.messages()).filter((line) => line.startsWith("visitor"));
  assert.deepEqual(visitors, [`visitor: ${QUESTION}`, `visitor: ${LATER}`]);
});

for (const [sentence, trouble] of [
  ["409 for a conflict of the moment is tried again", { status: 409, times: 1 }],
  ["500 is tried again", { status: 500, times: 1 }],
]) {
  test(`${sentence}, and the message arrives once`, async ({ visit, server }) => {
    await server.trouble({ only: "send", ...trouble });
    const page = await visit();
    await openChat(page);
    await say(page, QUESTION);
    await delivered(page);
    const sends = await server.sends();
    assert.deepEqual(
      sends.map(({ status }) => status),
      [...Array(trouble.times).fill(trouble.status), 200],
    );
    assert.equal(new Set(sends.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
    const kept = await server.messages();
    assert.equal(kept.length, 2);
    await showsAll(page, server);
  });
}

const OTHER_BODY = { status: 409, code: "IDEMPOTENCY_CONFLICT" };
test("409 for a key that was used with another body, in a conversation, means that the message was taken", async ({
  visit,
  server,
}) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "Hello");
  const before = await server.statuses();
  await server.trouble({ only: "send", times: 1, ...OTHER_BODY });
  await say(page, QUESTION);
  await delivered(page);
  await ask(page, LATER);
  assert.deepEqual(await server.statuses(), [...before, 409, 200], "it is not sent again");
});

for (const [sentence, begun, trouble] of [
  ["409 for a key that was used with another body", false, OTHER_BODY],
  ["400", false, { status: 400 }],
  ["401 in a conversation", true, { status: 401 }],
]) {
  test(`${sentence} is the end of it: not sent, and never again by itself`, async ({ visit, server }) => {
    const page = await visit({ clock: true });
    await openChat(page);
    if (begun) await ask(page, "Hello");
    const before = await server.statuses();
    await server.trouble({ only: "send", times: 1, ...trouble });
    await say(page, QUESTION);
    await part(page, "message-failed").waitFor();
    assert.equal(await part(page, "retry").count(), 1);
    await timePasses(page, { minutes: 5 });

    // One message at a time: had there been another attempt, it would stand before this one.
    await ask(page, LATER);
    assert.deepEqual(await server.statuses(), [...before, trouble.status, 200]);
    const visitors = (await server.messages()).filter((line) => line.startsWith("visitor"));
    assert.deepEqual(visitors, [...(begun ? ["visitor: Hello"] : []), `visitor: ${LATER}`]);
    assert.equal(await part(page, "message-failed").count(), 1);
  });
}
