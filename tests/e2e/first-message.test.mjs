// The first message: a visitor opens the chat, asks, and gets a reply.

import assert from "node:assert/strict";
import { ask, delivered, eventually, focused, messages, openChat, part, showsAll } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";

test("A visitor opens the chat, asks, and reads the assistant's reply", async ({ visit, server }) => {
  const page = await visit();
  const launcher = part(page, "launcher");
  await launcher.waitFor();
  assert.equal(await launcher.getAttribute("aria-expanded"), "false");
  assert.equal(await part(page, "window").count(), 0);

  await openChat(page);
  assert.equal(await launcher.getAttribute("aria-expanded"), "true");
  assert.equal(await part(page, "window").getAttribute("role"), "dialog");
  await ask(page, QUESTION);

  const { messages: kept, sourcePage, locale } = await server.conversation();
  assert.deepEqual([sourcePage, locale], ["/", "en-US"]);
  assert.deepEqual(
    kept.map(({ role }) => role),
    ["visitor", "assistant"],
  );
  assert.match(kept[1].content, /2 to 4 working days/);
  await showsAll(page, server);
});

test("Sending with the button clears the input and keeps it focused", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await eventually(async () => assert.equal(await focused(page), "input"));
  assert.equal(await part(page, "send").getAttribute("aria-disabled"), "true");
  await ask(page, QUESTION);
  assert.equal(await part(page, "input").inputValue(), "");
  assert.equal(await focused(page), "input");

  await page.keyboard.type("Can I book a workshop?");
  assert.equal(await part(page, "send").getAttribute("aria-disabled"), "false");
  await part(page, "send").click();
  await part(page, "message-assistant").nth(2).waitFor();
  assert.equal((await server.messages())[2], "visitor: Can I book a workshop?");
});

test("A click sends a suggested question, and the others remain after the first message", async ({ visit, server }) => {
  await server.setFaults({ only: "send", delayMs: 500 });
  const page = await visit();
  await openChat(page);
  assert.deepEqual(await part(page, "suggestion").allTextContents(), [
    QUESTION,
    "Are the mugs dishwasher safe?",
    "Can I book a workshop?",
  ]);
  await part(page, "suggestion").filter({ hasText: "Are the mugs dishwasher safe?" }).click();
  await part(page, "message-visitor").getByText("Sending").waitFor();
  assert.equal(await part(page, "suggestions").count(), 0, "there are none while the reply is pending");
  await delivered(page);
  assert.equal((await server.messages())[0], "visitor: Are the mugs dishwasher safe?");
  await part(page, "suggestion").first().waitFor();
  assert.deepEqual(await part(page, "suggestion").allTextContents(), [QUESTION, "Can I book a workshop?"]);
  await part(page, "suggestion").first().click();
  await part(page, "message-assistant").nth(2).waitFor();
  assert.equal(await part(page, "suggestions").count(), 0, "there are none after a second message");
});

test("The config's welcome and name are shown without sending a message", async ({ visit, server }) => {
  await server.setFaults({ config: { welcomeMessage: "Come in, the kiln is warm.", assistantName: "Sorrel" } });
  const page = await visit();
  await openChat(page);
  assert.deepEqual(await messages(page), ["assistant: Come in, the kiln is warm."]);
  assert.equal(await part(page, "title").textContent(), "Sorrel");
  assert.deepEqual(await server.conversations(), []);
  assert.deepEqual(await server.sends(), []);
});
