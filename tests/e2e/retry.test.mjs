// The service is down or responses are lost: a message arrives once, or is shown as not sent.

import assert from "node:assert/strict";
import { arrivedOnce, ask, eventually, isInView, messages, openChat, part, say } from "./chat.mjs";
import { test } from "./harness.mjs";
import { WELCOME } from "./sandbox.mjs";

const QUESTION = "How long does delivery take?";
const failed = (page) => part(page, "message-failed").waitFor();

test("With the service down the message fails, and the visitor's retry delivers it once", async ({ visit, server }) => {
  await server.setFaults({ only: "send", status: 503 });
  const page = await visit({ clock: true });
  await openChat(page);
  await say(page, QUESTION);
  // Skips the back-off between attempts.
  await eventually(async () => {
    await page.clock.fastForward(1000);
    assert.equal(await part(page, "message-failed").count(), 1);
  });
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor (not sent): ${QUESTION}`]);
  assert.equal(await part(page, "message-failed").getByText("Not sent").count(), 1);
  assert.equal(await part(page, "typing").count(), 0);
  assert.deepEqual(await server.conversations(), []);
  assert.deepEqual(await server.statuses(), Array(6).fill(503));

  await server.clearFaults();
  await part(page, "retry").click();
  await arrivedOnce(page, server, QUESTION);
  assert.deepEqual(await server.statuses(), [...Array(6).fill(503), 200]);
  assert.equal(await part(page, "message-failed").count(), 0);
  assert.equal(await part(page, "retry").count(), 0);
});

test("After a lost response the message appears once, with one reply", async ({ visit, server }) => {
  await server.setFaults({ only: "send", loseAnswers: 1 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await arrivedOnce(page, server, QUESTION);
  assert.equal((await server.sends()).length, 2);
});

test("A failed message is still shown as not sent after a reload, until the visitor retries", async ({
  visit,
  server,
}) => {
  await server.setFaults({ only: "send", status: 400 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await failed(page);
  await page.reload();
  await openChat(page);
  await failed(page);
  assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, `visitor (not sent): ${QUESTION}`]);
  await server.clearFaults();
  await part(page, "retry").click();
  await arrivedOnce(page, server, QUESTION);
  assert.deepEqual(await server.statuses(), [400, 200]);
});

test("A visitor who has scrolled up and retries the first message still sees all the others", async ({
  visit,
  server,
}) => {
  await server.setFaults({ only: "send", status: 400, times: 1 });
  const page = await visit();
  await openChat(page);
  await say(page, QUESTION);
  await failed(page);
  const questions = [
    "Are the mugs dishwasher safe?",
    "Can I book a workshop?",
    "Do you sell gift vouchers?",
    "Do you ship to France?",
    "Can I return a pot?",
  ];
  for (const question of questions) await ask(page, question);
  const others = (await messages(page)).filter((line) => !line.includes("(not sent)"));
  assert.equal(others.length, 11, "the welcome, and each question with its answer");

  // The first scroll after a change of the layout may be taken for one by the browser.
  await eventually(async () => {
    const top = await part(page, "log").evaluate(async (log) => {
      log.scrollTop = 0;
      for (let frames = 0; frames < 3; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
      return log.scrollTop;
    });
    assert.equal(top, 0);
  });
  await page.locator("chat-widget .cw-jump").waitFor();
  await part(page, "retry").click();
  // Its answer comes last.
  await eventually(async () =>
    assert.deepEqual((await messages(page)).slice(0, -1), [...others, `visitor: ${QUESTION}`]),
  );
  const all = part(page, "message");
  assert.equal(await all.count(), 13);
  for (let index = 0; index < 13; index += 1) {
    await all.nth(index).scrollIntoViewIfNeeded();
    await isInView(all.nth(index));
  }
});
