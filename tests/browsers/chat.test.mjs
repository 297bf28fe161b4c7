// A first conversation, with the pointer and with the keyboard.

import assert from "node:assert/strict";
import { eventually, focused, allFilesLoaded } from "../e2e/chat.mjs";
import { WELCOME } from "../e2e/sandbox.mjs";
import { test } from "./harness.mjs";
import { Key } from "./tab.mjs";

const QUESTION = "How long does delivery take?";

test("A visitor opens the chat, gets a reply, finds the conversation after a reload and closes it with Escape", async ({
  visit,
  server,
}) => {
  const tab = await visit();
  await tab.openChat();
  assert.deepEqual(await tab.messages(), [`assistant: ${WELCOME}`]);
  await tab.ask(QUESTION);
  const [, answer] = await server.messages();
  const all = [`assistant: ${WELCOME}`, `visitor: ${QUESTION}`, answer];
  assert.deepEqual(await tab.messages(), all);

  await tab.reload();
  await tab.stayedOpen();
  await eventually(async () => assert.deepEqual(await tab.messages(), all));
  await tab.press(Key.ESCAPE);
  await tab.has("window", 0);
  await eventually(async () => assert.equal(await focused(tab), "launcher"));
  assert.equal((await server.sends()).length, 1);
});

test("The chat can be opened, used and closed with the keyboard alone", async ({ visit, server }) => {
  const tab = await visit();
  await allFilesLoaded(tab);
  for (let steps = 0; (await focused(tab)) !== "launcher"; steps += 1) {
    assert.ok(steps < 20, "Tab reaches the launcher");
    await tab.press(Key.TAB);
  }
  await tab.press(Key.RETURN);
  await eventually(async () => assert.equal(await focused(tab), "input"));
  await tab.press(QUESTION, Key.RETURN);
  await tab.answered(1);
  assert.equal((await server.messages())[0], `visitor: ${QUESTION}`);
  await tab.press("and a mug");
  await tab.press(Key.ESCAPE);
  await tab.has("window", 0);
  await eventually(async () => assert.equal(await focused(tab), "launcher"));
  await tab.press(Key.SPACE);
  await eventually(async () => assert.equal(await focused(tab), "input"));
  assert.equal(await tab.read("input", ([input]) => input.value), "and a mug");
});

test("F6 moves the focus into the widget and back to the previous element", async ({ visit }) => {
  const tab = await visit();
  await allFilesLoaded(tab);
  const onPage = () => tab.evaluate(() => document.activeElement.textContent);
  await tab.evaluate(() => document.querySelector("a[href='/help.html']").focus());
  await tab.press(Key.F6);
  assert.equal(await focused(tab), "launcher");
  await tab.press(Key.F6);
  assert.equal(await onPage(), "Help");
  await tab.openChat();
  await tab.evaluate(() => document.querySelector("a[href='/help.html']").focus());
  await tab.press(Key.F6);
  assert.equal(await focused(tab), "input");
  await tab.press(Key.F6);
  assert.equal(await onPage(), "Help");
});
