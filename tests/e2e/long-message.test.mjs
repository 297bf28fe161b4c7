// The maximum length of a message: 4,000 characters.

import assert from "node:assert/strict";
import { delivered, openChat, part, say } from "./chat.mjs";
import { test } from "./harness.mjs";

const LONGEST = `${"Dear potters, ".padEnd(3999, "long ")}!`;
assert.equal(LONGEST.length, 4000);

/** Returns the note on the length of the draft. */
async function count(page) {
  const id = await part(page, "input").getAttribute("aria-describedby");
  return page.locator(`#${id}`).textContent();
}

test("A message of 4,001 characters is rejected and stays in the input, and one of 4,000 arrives unchanged", async ({
  visit,
  server,
  recordOf,
}) => {
  const page = await visit();
  await openChat(page);
  await say(page, `${LONGEST}!`);
  assert.equal(await part(page, "send").getAttribute("aria-disabled"), "true");
  assert.match(await count(page), /^1 characters? too many$/);
  await part(page, "send").click({ force: true });
  await page.evaluate((text) => window.chatWidget.sendMessage(text), `${LONGEST}!`);
  assert.equal(await part(page, "message-visitor").count(), 0);
  assert.equal(await part(page, "input").inputValue(), `${LONGEST}!`);

  await say(page, LONGEST);
  await delivered(page);
  assert.equal(recordOf(page).of("/connector/chat/messages", "POST").length, 1);
  assert.equal((await server.messages())[0], `visitor: ${LONGEST}`);
});
