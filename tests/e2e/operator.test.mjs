// Messages and presence of an operator, as the visitor sees them.

import assert from "node:assert/strict";
import { ask, delivered, hold, messages, openChat, part, say } from "./chat.mjs";
import { test } from "./harness.mjs";
import { log, reply } from "./inbox.mjs";
import { FAST_POLLING } from "./sandbox.mjs";

const QUESTION = "Can I talk to a real person?";

test("The demo's link opens the console at the conversation, and what is answered there reaches the visitor", async ({
  visit,
  server,
  operator,
}) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit();
  await openChat(page);
  await part(page, "presence").getByText("Answers by AI").waitFor();
  await ask(page, QUESTION);

  const console = await operator();
  await part(page, "presence").getByText("A person is online").waitFor();
  await log(console).getByText(QUESTION).waitFor();
  await reply(console, "Anna here.\nWhat is it about?");

  await part(page, "message-operator").waitFor();
  assert.equal((await messages(page)).at(-1), "operator: Anna here.\nWhat is it about?");
  // The assistant does not reply while an operator is in charge.
  await say(page, "It is about a mug");
  await delivered(page);
  await log(console).getByText("It is about a mug").waitFor();

  await console.close();
  await part(page, "presence").getByText("Anna replied").waitFor();
});

test("Messages that arrive while the window is closed are counted as unread until it is opened", async ({
  visit,
  server,
}) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit();
  await openChat(page);
  await ask(page, QUESTION);
  assert.equal(await part(page, "badge").count(), 0);
  await part(page, "close").click();

  await server.operatorSays("Anna here.");
  await part(page, "badge").getByText("1", { exact: true }).waitFor();
  assert.equal(await part(page, "launcher").getAttribute("aria-label"), "Open chat, 1 unread");
  await server.operatorSays("Are you still there?");
  await part(page, "badge").getByText("2", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => window.chatWidget.state.unread), 2);

  await openChat(page);
  assert.equal(await part(page, "badge").count(), 0);
  assert.equal(await page.evaluate(() => window.chatWidget.state.unread), 0);
  assert.deepEqual((await messages(page)).slice(-2), ["operator: Anna here.", "operator: Are you still there?"]);

  await part(page, "close").click();
  assert.equal(await part(page, "badge").count(), 0);
});

test("A reply that arrives after the window was closed is counted as unread", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  const sending = await hold(page, /\/connector\/chat\/messages$/);
  await part(page, "suggestion").first().click();
  await sending.requested;
  await part(page, "close").click();
  sending.release();
  await part(page, "badge").getByText("1", { exact: true }).waitFor();
});
