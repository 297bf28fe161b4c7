// Text from the network is shown as text, from any author.

import assert from "node:assert/strict";
import { ask, messages, openChat, part } from "./chat.mjs";
import { test } from "./harness.mjs";

const HTML =
  '<img src=x onerror="window.broken=1"><b>bold</b> &amp; &lt;i&gt; <script>window.broken=2</script>' +
  '<a href="javascript:window.broken=3">here</a><svg onload="window.broken=4"></svg></div>' +
  "<style>*{display:none}</style>";

/** Asserts that the bubble contains the unchanged text in a paragraph, and nothing else. */
async function isShownAsText(page, author) {
  const bubble = part(page, `message-${author}`).last().locator(".cw-bubble");
  assert.equal(await bubble.textContent(), HTML);
  const elements = await bubble.locator("*").evaluateAll((all) => all.map(({ tagName }) => tagName));
  assert.deepEqual(elements, author === "visitor" ? [] : ["P"], "the text made no element");
  assert.equal(await page.evaluate(() => window.broken), undefined, "the text ran no script");
}

test("HTML in messages of visitors and operators is shown as text", async ({ visit, server }) => {
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1 } });
  const page = await visit();
  await openChat(page);
  await ask(page, HTML);
  await isShownAsText(page, "visitor");
  assert.equal((await server.messages())[0], `visitor: ${HTML}`, "and it arrives as it was written");

  await server.operatorSays(HTML);
  await part(page, "message-operator").waitFor();
  await isShownAsText(page, "operator");
});

test("HTML in the config's welcome and name is shown as text", async ({ visit, server }) => {
  await server.setFaults({ config: { welcomeMessage: HTML, assistantName: HTML } });
  const page = await visit();
  await openChat(page);
  await isShownAsText(page, "assistant");
  assert.equal(await part(page, "title").textContent(), HTML);
  assert.equal(await part(page, "title").locator("*").count(), 0);
});

test("HTML in an assistant's reply is shown as text, also after a reload", async ({ visit, server }) => {
  await server.setFaults({ ai: "provider_error", fallbackText: HTML });
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await isShownAsText(page, "assistant");
  const before = await messages(page);

  await page.reload();
  await openChat(page);
  await part(page, "message-assistant").nth(1).waitFor();
  await isShownAsText(page, "assistant");
  assert.deepEqual(await messages(page), before);
});
