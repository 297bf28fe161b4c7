// What keeps a conversation from going on as usual: said plainly, and over when it is over.

import assert from "node:assert/strict";
import { ask, delivered, eventually, messages, openChat, part, say, showsAll, timePasses, whole } from "./chat.mjs";
import { test } from "./harness.mjs";
import { WELCOME } from "./sandbox.mjs";

const QUESTION = "How long does delivery take?";
const FALLBACK = "Our assistant is asleep. Write to us at hello@kiln.example.";

test("A visitor who is blocked is told that the conversation is closed, and can write no more", async ({
  visit,
  server,
}) => {
  await server.trouble({ ai: "blocked" });
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

test("A quota that is used up shows the fallback, and rests the chat", async ({ visit, server }) => {
  await server.trouble({ ai: "quota_insufficient", fallbackText: FALLBACK });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await part(page, "notice").getByText("The chat is unavailable").waitFor();
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`, `assistant: ${FALLBACK}`]);
  assert.equal(await part(page, "composer").count(), 0);

  await server.calm();
  await part(page, "close").click();
  await openChat(page);
  await ask(page, "Can I book a workshop?");
});

test("An AI that is out of order shows its fallback text, and the visitor may ask again", async ({ visit, server }) => {
  await server.trouble({ ai: "provider_error", fallbackText: FALLBACK });
  const page = await visit();
  await openChat(page);
  await ask(page, QUESTION);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`, `assistant: ${FALLBACK}`]);
  assert.equal(await part(page, "notice").count(), 0);
  await server.calm();
  await ask(page, QUESTION);
  assert.match((await messages(page)).at(-1), /2 to 4 working days/);
});

test("An AI that is out of order and says nothing leads to a note, and to an answer if one comes", async ({
  visit,
  server,
}) => {
  await server.trouble({ ai: "provider_error", fallbackText: "", presence: { suggestedMessageIntervalMs: 1 } });
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

test("A reply that comes after the answer to the message is found by reading on", async ({ visit, server }) => {
  await server.trouble({ ai: "provider_error", fallbackText: "" });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await delivered(page);
  await part(page, "notice").waitFor();
  await server.operatorSays("Two to four days. Anna");
  await part(page, "message-operator").waitFor();
  await part(page, "notice").waitFor({ state: "detached" });
});

test("Offline, the visitor is told, nothing is asked for, and what is written goes out once on the way back", async ({
  visit,
  server,
  recordOf,
}) => {
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, "Hello");
  await whole(page);
  await page.context().setOffline(true);
  await part(page, "notice").getByText("You are offline").waitFor();
  const soFar = recordOf(page).requests.length;
  await say(page, QUESTION);
  await part(page, "message-visitor").last().getByText("Waiting to send").waitFor();
  await timePasses(page, { minutes: 5 });
  assert.deepEqual(recordOf(page).paths().slice(soFar), []);

  await page.context().setOffline(false);
  await delivered(page);
  assert.equal(await part(page, "notice").count(), 0);
  assert.deepEqual(await server.statuses(), [200, 200]);
  assert.equal((await server.messages())[2], `visitor: ${QUESTION}`);
  await showsAll(page, server);
});

test("A hidden tab asks for nothing, and catches up when it is seen again", async ({ visit, server, recordOf }) => {
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, QUESTION);
  const see = (state) =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await see("hidden");
  const polls = () =>
    recordOf(page)
      .paths()
      .filter((request) => request.startsWith("GET /connector/"));
  await server.operatorSays("Anna here.");
  const soFar = polls().length;
  await timePasses(page, { minutes: 10 });
  assert.deepEqual(polls().slice(soFar), []);
  await see("visible");
  await part(page, "message-operator").waitFor();
});

test("Opening and closing are reported with the visitor's id, and the chat does without it", async ({
  visit,
  server,
}) => {
  await server.trouble({ only: "events", status: 500 });
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "close").click();
  await page.clock.runFor(4000);
  await eventually(async () => assert.ok((await server.arrived("POST", "/events")).length > 0));
  assert.deepEqual(await server.events(), []);
  await server.calm();
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

test("A blocker that eats the events does not touch the chat", async ({ visit, server }) => {
  const blocker = (route) => route.abort("blockedbyclient");
  const page = await visit({ prepare: (page) => page.route("**/connector/events", blocker) });
  await openChat(page);
  await ask(page, QUESTION);
  assert.equal((await server.conversation()).messages.length, 2);
});
