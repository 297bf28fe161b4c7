// The keyboard in the chat, and its isolation from the page.

import assert from "node:assert/strict";
import { delivered, eventually, focused, openChat, part, ready } from "./chat.mjs";
import { test } from "./harness.mjs";

test("Enter sends, and Shift+Enter inserts a line break", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await part(page, "input").focus();
  await page.keyboard.type("Two mugs");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("and a bowl");
  assert.equal(await part(page, "input").inputValue(), "Two mugs\nand a bowl");
  assert.deepEqual(await server.sends(), []);
  await page.keyboard.press("Enter");
  await delivered(page);
  assert.equal((await server.messages())[0], "visitor: Two mugs\nand a bowl");
  assert.equal(await part(page, "input").inputValue(), "");
});

test("The keyboard opens, uses and closes the chat, and the focus returns to the launcher", async ({ visit }) => {
  const page = await visit();
  await ready(page);
  await part(page, "launcher").focus();
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await focused(page), "input"));
  await page.keyboard.type("How long does delivery take?");
  await page.keyboard.press("Enter");
  await delivered(page);
  await page.keyboard.press("Escape");
  await part(page, "window").waitFor({ state: "detached" });
  assert.equal(await focused(page), "launcher");
  assert.equal(await part(page, "launcher").getAttribute("aria-expanded"), "false");
});

test("Every way to close the window focuses the launcher and keeps the draft", async ({ visit }) => {
  const page = await visit();
  for (const close of [
    () => part(page, "close").click(),
    () => part(page, "launcher").click(),
    () => page.keyboard.press("Escape"),
  ]) {
    await openChat(page);
    await eventually(async () => assert.equal(await focused(page), "input"));
    await page.keyboard.type("mug ");
    await close();
    await part(page, "window").waitFor({ state: "detached" });
    assert.equal(await focused(page), "launcher");
  }
  await openChat(page);
  assert.equal((await part(page, "input").inputValue()).replaceAll("mug ", ""), "");
  assert.equal((await part(page, "input").inputValue()).length, 12);
});

test("Keys typed in the widget do not trigger the page's shortcuts", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await page.evaluate(() => {
    window.receivedKeys = [];
    for (const target of [document, window, document.body]) {
      for (const kind of ["keydown", "keypress", "keyup"]) {
        target.addEventListener(kind, ({ key }) => window.receivedKeys.push(`${kind} ${key}`));
      }
    }
  });
  await part(page, "input").focus();
  await page.keyboard.type("?/gs");
  for (const key of ["ArrowUp", "Shift+Enter", "Control+k", "Tab", "Shift+Tab"]) await page.keyboard.press(key);
  await part(page, "input").press("Enter");
  await delivered(page);
  await page.keyboard.press("Escape");
  await part(page, "window").waitFor({ state: "detached" });
  // It reopens the window, and the focus moves in the next frame.
  await page.keyboard.press("Space");
  await part(page, "input").and(page.locator(":focus")).waitFor();
  assert.deepEqual(await page.evaluate(() => window.receivedKeys), []);

  // The page's own shortcuts still work.
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("g");
  assert.ok((await page.evaluate(() => window.receivedKeys)).includes("keydown g"));
});

test("Escape outside the widget does not close it", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await page.getByRole("link", { name: "Help" }).focus();
  await page.keyboard.press("Escape");
  assert.equal(await part(page, "window").count(), 1);
});

test("An Enter that ends an IME composition does not send", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await part(page, "input").fill("日本");
  for (const composing of [{ isComposing: true }, { keyCode: 229 }]) {
    const key = { key: "Enter", bubbles: true, composed: true, cancelable: true, ...composing };
    const taken = await part(page, "input").evaluate(
      (input, key) => !input.dispatchEvent(new KeyboardEvent("keydown", key)),
      key,
    );
    assert.equal(taken, false, "the input method keeps its key");
    assert.equal(await part(page, "input").inputValue(), "日本");
  }
  await part(page, "input").press("Enter");
  await delivered(page);
  assert.equal((await server.sends()).length, 1);
});

test("The Enter after an IME composition sends the composed text", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await part(page, "input").focus();
  const method = await page.context().newCDPSession(page);
  await method.send("Input.imeSetComposition", { text: "にほん", selectionStart: 3, selectionEnd: 3 });
  const enter = { type: "rawKeyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 };
  await method.send("Input.dispatchKeyEvent", enter);
  await method.send("Input.insertText", { text: "日本" });
  assert.equal(await part(page, "input").inputValue(), "日本");
  assert.deepEqual(await server.sends(), []);
  await page.keyboard.press("Enter");
  await delivered(page);
  assert.equal((await server.messages())[0], "visitor: 日本");
});
