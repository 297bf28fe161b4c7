// Markdown in messages of assistants and operators.

import assert from "node:assert/strict";
import { ask, openChat, part } from "./chat.mjs";
import { test } from "./harness.mjs";

const FAST_POLLING = { presence: { suggestedMessageIntervalMs: 1 } };
const ANSWER = `## Delivery
**Three days**, *usually*; see [our terms](https://shop.example/terms) or https://shop.example/faq.

1. Order
   - a pot
2. Pay

> Fragile

| Size | Price |
| --- | --- |
| S | 5 |

\`\`\`sh
echo "pots"
\`\`\`
[https://bank.example](https://evil.example) ![a pot](https://shop.example/pot.png) [x](javascript:executed())`;

/** Opens a page with an operator's message in its chat. */
async function visitAndRead(visit, server, text, options) {
  await server.setFaults(FAST_POLLING);
  const page = await visit(options);
  await openChat(page);
  await ask(page, "Can I talk to a real person?");
  await server.operatorSays(text);
  await part(page, "message-operator").waitFor();
  return { page, bubble: part(page, "message-operator").locator(".cw-bubble") };
}

test("Markdown is rendered, and its links send no referrer", async ({ visit, server }) => {
  const { bubble } = await visitAndRead(visit, server, ANSWER);
  assert.equal(await bubble.locator(".cw-heading").textContent(), "Delivery");
  assert.equal(await bubble.locator("strong").first().textContent(), "Three days");
  assert.equal(await bubble.locator("ol > li > ul > li").textContent(), "a pot");
  assert.equal(await bubble.locator("blockquote").textContent(), "Fragile");
  assert.deepEqual(
    (await bubble.locator("td").allTextContents()).map((text) => text.trim()),
    ["S", "5"],
  );
  assert.equal(await bubble.locator("pre code").textContent(), 'echo "pots"');
  assert.equal(await bubble.locator(".cw-host").textContent(), "evil.example");
  assert.ok((await bubble.textContent()).includes("[x](javascript:executed())"));

  const links = await bubble
    .locator("a")
    .evaluateAll((all) => all.map(({ href, rel, target }) => ({ href, rel, target })));
  assert.deepEqual(
    links.map(({ href }) => href),
    ["https://shop.example/terms", "https://shop.example/faq", "https://evil.example/", "https://shop.example/pot.png"],
  );
  for (const { rel, target } of links) assert.deepEqual([rel, target], ["noopener noreferrer nofollow", "_blank"]);
});

test("On a screen 320 px wide tables and code scroll in their own boxes", async ({ visit, server }) => {
  const row = (cell) => `|${`${cell}|`.repeat(12)}`;
  const text = [row("Column"), row("-"), row("value"), "", "```", "x".repeat(300), "```", "y".repeat(300)].join("\n");
  const { page, bubble } = await visitAndRead(visit, server, text, { viewport: { width: 320, height: 640 } });
  const scrolls = (selector) => bubble.locator(selector).evaluate((box) => box.scrollWidth > box.clientWidth);
  assert.ok(await scrolls(".cw-table"), "the table does");
  assert.ok(await scrolls("pre"), "the code does");
  assert.ok(!(await part(page, "log").evaluate((log) => log.scrollWidth > log.clientWidth)), "the log does not");
});

test("The copy button of a code block works with the pointer and the keyboard", async ({ visit, server }) => {
  const { page } = await visitAndRead(visit, server, "```\na\n  *b*\n```", {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await part(page, "copy").focus();
  await page.keyboard.press("Enter");
  await part(page, "copy").getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "a\n  *b*");
});

test("The copy button does not change where the clipboard is unavailable", async ({ visit, server }) => {
  for (const clipboard of ["undefined", "{ writeText: () => Promise.reject(new Error('no')) }"]) {
    const { page } = await visitAndRead(visit, server, "```\na\n```");
    await page.evaluate(`Object.defineProperty(navigator, "clipboard", { configurable: true, value: ${clipboard} })`);
    await part(page, "copy").click();
    assert.equal(await part(page, "copy").textContent(), "Copy");
    await server.deleteConversations();
  }
});

test("Visitors' messages are shown as plain text with links", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "**Is** `this` [it](https://a.example/)?");
  const bubble = part(page, "message-visitor").locator(".cw-bubble");
  assert.equal(await bubble.textContent(), "**Is** `this` [it](https://a.example/)?");
  assert.deepEqual(await bubble.locator("*").evaluateAll((all) => all.map(({ href }) => href)), ["https://a.example/"]);
  assert.equal((await server.messages())[0], "visitor: **Is** `this` [it](https://a.example/)?");
});
