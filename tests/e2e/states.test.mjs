// Blocked visitors, exhausted quotas, unpaid services, failing AI and lost events.

import assert from "node:assert/strict";
import { ask, delivered, eventually, messages, openChat, part, say, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { WELCOME } from "./sandbox.mjs";

const QUESTION = "How long does delivery take?";
const FALLBACK = "Our assistant is asleep. Write to us at hello@kiln.example.";

test("A blocked visitor is told that the conversation is closed and cannot write", async ({ visit, server }) => {
  await server.setFaults({ ai: "blocked" });
  const page = await visit({ prepare: withOptions('data-contact="https://example.com/contact"') });
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "notice").getByText("This conversation is closed").waitFor();
  await part(page, "contact-link").waitFor();
  await delivered(page);
  assert.equal(await part(page, "composer").count(), 0);
  assert.equal(await part(page, "message-failed").count(), 0);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`]);
  assert.equal(await part(page, "typing").count(), 0);
});

test("With an exhausted quota the visitor can write, and is offered a person", async ({ visit, server }) => {
  await server.setFaults({ ai: "quota_insufficient", fallbackText: FALLBACK });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "offer").waitFor();
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`, `assistant: ${FALLBACK}`]);
  await part(page, "leave-contact").click();
  await part(page, "form").waitFor();
  assert.equal(await part(page, "offer").count(), 0);
  await part(page, "contact-dismiss").click();
  await part(page, "ask-person").click();
  await part(page, "message-visitor").getByText("I would like to talk to a person.").waitFor();
  await part(page, "form").waitFor();

  await server.clearFaults();
  await ask(page, "Can I book a workshop?");
  assert.equal(await part(page, "offer").count(), 0);
});

test("A message that a 402 refuses is not sent, and another way to the site is shown", async ({ visit, server }) => {
  await server.setFaults({ only: "send", status: 402 });
  const page = await visit({ prepare: withOptions('data-contact="mailto:shop@example.com"') });
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "message-failed").waitFor();
  await part(page, "notice").getByText("The chat is not available right now.").waitFor();
  assert.equal(await part(page, "contact-link").getAttribute("href"), "mailto:shop@example.com");
  assert.equal(await part(page, "composer").count(), 1);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor (not sent): ${QUESTION}`]);
  assert.deepEqual(await server.statuses(), [402]);

  await server.clearFaults();
  await part(page, "retry").click();
  await delivered(page);
  assert.deepEqual(await server.statuses(), [402, 200]);
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
