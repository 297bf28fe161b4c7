// Blocked visitors, exhausted quotas, unpaid services, failing AI and lost events.

import assert from "node:assert/strict";
import { ask, delivered, eventually, messages, openChat, part, say } from "./chat.mjs";
import { test } from "./harness.mjs";
import { WELCOME } from "./sandbox.mjs";

const QUESTION = "How long does delivery take?";
const FALLBACK = "Our assistant is asleep. Write to us at hello@kiln.example.";

test("A blocked visitor is told that the conversation is closed and cannot write", async ({ visit, server }) => {
  await server.setFaults({ ai: "blocked" });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "notice").getByText("This conversation is closed").waitFor();
  await delivered(page);
  assert.equal(await part(page, "composer").count(), 0);
  assert.equal(await part(page, "message-failed").count(), 0);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`]);
  assert.equal(await part(page, "typing").count(), 0);
});

test("An exhausted quota shows the fallback text and pauses the chat", async ({ visit, server }) => {
  await server.setFaults({ ai: "quota_insufficient", fallbackText: FALLBACK });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "notice").getByText("The chat is unavailable").waitFor();
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`, `assistant: ${FALLBACK}`]);
  assert.equal(await part(page, "composer").count(), 0);

  await server.clearFaults();
  await part(page, "close").click();
  await openChat(page);
  await ask(page, "Can I book a workshop?");
});

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

test("A failing AI without a text shows a notice, and a late reply is shown", async ({ visit, server }) => {
  await server.setFaults({ ai: "provider_error", fallbackText: "", presence: { suggestedMessageIntervalMs: 1 } });
  const page = await visit({ clock: true });
  await openChat(page);
  await say(page, QUESTION);
  await delivered(page);
  await part(page, "notice").getByText("There was no answer.").waitFor();
  assert.equal(await part(page, "typing").count(), 0);
  assert.equal(await part(page, "composer").count(), 1);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`]);

  await server.operatorSays("Two to four days. Anna");
  await part(page, "message-operator").waitFor();
  assert.equal(await part(page, "notice").count(), 0);
});

test("Opening and closing are reported with the visitor's id, and the chat works without the reports", async ({
  visit,
  server,
}) => {
  await server.setFaults({ only: "events", status: 500 });
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "close").click();
  await page.clock.runFor(4000);
  await eventually(async () => assert.ok((await server.arrived("POST", "/events")).length > 0));
  assert.deepEqual(await server.events(), []);
  await server.clearFaults();
  await eventually(async () => {
    await page.clock.fastForward(1000);
    const types = (await server.events()).map(({ eventType }) => eventType);
    assert.ok(types.includes("chat_opened") && types.includes("chat_closed"), types.join(" "));
  });
  const { visitor } = await server.conversation();
  for (const event of await server.events()) assert.equal(event.visitorId, visitor.visitorId);
  const keys = (await server.arrived("POST", "/events")).map(({ idempotencyKey }) => idempotencyKey);
  assert.ok(keys.every((key) => key.length >= 8 && key.length <= 160));
});

test("The chat works where a blocker drops the events", async ({ visit, server }) => {
  const blocker = (route) => route.abort("blockedbyclient");
  const page = await visit({ prepare: (page) => page.route("**/connector/events", blocker) });
  await openChat(page);
  await ask(page, QUESTION);
  assert.equal((await server.conversation()).messages.length, 2);
});
