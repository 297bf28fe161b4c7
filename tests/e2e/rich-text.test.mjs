// Markdown that assistants and operators write is laid out, and nothing in it can do anything.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ask, eventually, openChat, part, say } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUICK = { presence: { suggestedMessageIntervalMs: 1 } };
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
/** Everything that may stand in a bubble. */
const ELEMENTS =
  "P STRONG EM S CODE PRE A BDI UL OL LI BLOCKQUOTE TABLE THEAD TBODY TR TH TD HR DIV BUTTON".split(" ");

/** Each of these runs where it is taken for HTML. */
const RUNS = [
  "<img src=x onerror=executed()>",
  "<audio src=x onerror=executed()></audio>",
  "<iframe srcdoc='<script>parent.executed()</script>'></iframe>",
  "<details open ontoggle=executed()>x</details>",
];
/** These run when they are followed, in a link of Markdown as well. */
const LEADS = ["javascript:executed()", "JaVaScRiPt:executed()", "java\tscript:executed()", "data:text/html,<script>executed()</script>"];
/** A larger collection, beside the project or in the folder that `CORPORA` names. */
const CORPUS = join(process.env.CORPORA ?? "../shared/corpora", "xss-payloads.json");

/** Before anything is loaded: whatever a payload would do to show that it runs is counted. */
function countExecutions() {
  window.executions = 0;
  window.executed = () => (window.executions += 1);
  for (const name of ["alert", "prompt", "confirm", "print", "open"]) window[name] = window.executed;
}

const count = (page) => page.evaluate(() => window.executions);

/** The hostile texts, as they are and in links and images, in messages of a few hundred. */
function hostileMessages() {
  const collected = existsSync(CORPUS) ? JSON.parse(readFileSync(CORPUS, "utf8")).map(({ payload }) => payload) : [];
  const payloads = [...RUNS, ...LEADS, ...collected];
  const messages = [];
  for (let from = 0; from < payloads.length; from += 200) {
    const some = payloads.slice(from, from + 200);
    messages.push(some.flatMap((text) => [text, `[x](${text})`, `![x](${text})`, `<${text}>`]).join("\n\n"));
  }
  return messages;
}

/** A page with an operator's message in its chat. */
async function visitAndRead(visit, server, text, options) {
  await server.trouble(QUICK);
  const page = await visit(options);
  await openChat(page);
  await ask(page, "Can I talk to a real person?");
  await server.operatorSays(text);
  await part(page, "message-operator").waitFor();
  return { page, bubble: part(page, "message-operator").locator(".cw-bubble") };
}

test("Markdown is laid out, with links that tell nobody where they were followed", async ({ visit, server }) => {
  const { bubble } = await visitAndRead(visit, server, ANSWER);
  assert.equal(await bubble.locator(".cw-heading").textContent(), "Delivery");
  assert.equal(await bubble.locator("strong").first().textContent(), "Three days");
  assert.equal(await bubble.locator("ol > li > ul > li").textContent(), "a pot");
  assert.equal(await bubble.locator("blockquote").textContent(), "Fragile");
  assert.deepEqual((await bubble.locator("td").allTextContents()).map((text) => text.trim()), ["S", "5"]);
  assert.equal(await bubble.locator("pre code").textContent(), 'echo "pots"');
  assert.equal(await bubble.locator(".cw-host").textContent(), "evil.example");
  assert.ok((await bubble.textContent()).includes("[x](javascript:executed())"));

  const links = await bubble.locator("a").evaluateAll((all) => all.map(({ href, rel, target }) => ({ href, rel, target })));
  assert.deepEqual(links.map(({ href }) => href), [
    "https://shop.example/terms",
    "https://shop.example/faq",
    "https://evil.example/",
    "https://shop.example/pot.png",
  ]);
  for (const { rel, target } of links) assert.deepEqual([rel, target], ["noopener noreferrer nofollow", "_blank"]);
});

test("What is wide scrolls in a box of its own on a screen of 320 pixels", async ({ visit, server }) => {
  const row = (cell) => `|${`${cell}|`.repeat(12)}`;
  const text = [row("Column"), row("-"), row("value"), "", "```", "x".repeat(300), "```", "y".repeat(300)].join("\n");
  const { page, bubble } = await visitAndRead(visit, server, text, { viewport: { width: 320, height: 640 } });
  const scrolls = (selector) => bubble.locator(selector).evaluate((box) => box.scrollWidth > box.clientWidth);
  assert.ok(await scrolls(".cw-table"), "the table does");
  assert.ok(await scrolls("pre"), "the code does");
  assert.ok(!(await part(page, "log").evaluate((log) => log.scrollWidth > log.clientWidth)), "the log does not");
});

test("Code is copied with its button, also by the keyboard", async ({ visit, server }) => {
  const { page } = await visitAndRead(visit, server, "```\na\n  *b*\n```", { permissions: ["clipboard-read", "clipboard-write"] });
  await part(page, "copy").focus();
  await page.keyboard.press("Enter");
  await part(page, "copy").getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "a\n  *b*");
});

test("A browser that lets nobody copy leaves the button as it is", async ({ visit, server }) => {
  for (const clipboard of ["undefined", "{ writeText: () => Promise.reject(new Error('no')) }"]) {
    const { page } = await visitAndRead(visit, server, "```\na\n```");
    await page.evaluate(`Object.defineProperty(navigator, "clipboard", { configurable: true, value: ${clipboard} })`);
    await part(page, "copy").click();
    assert.equal(await part(page, "copy").textContent(), "Copy");
    await server.forget();
  }
});

test("A visitor's own words stay as they are, but for addresses", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "**Is** `this` [it](https://a.example/)?");
  const bubble = part(page, "message-visitor").locator(".cw-bubble");
  assert.equal(await bubble.textContent(), "**Is** `this` [it](https://a.example/)?");
  assert.deepEqual(await bubble.locator("*").evaluateAll((all) => all.map(({ href }) => href)), ["https://a.example/"]);
  assert.equal((await server.messages())[0], "visitor: **Is** `this` [it](https://a.example/)?");
});

test("Nothing hostile runs, leaves the page, or becomes another element", async ({ visit, server }) => {
  await server.trouble(QUICK);
  const page = await visit({ prepare: (page) => page.addInitScript(countExecutions) });
  await openChat(page);
  await say(page, RUNS.join(" "));
  await part(page, "message-assistant").nth(1).waitFor();
  const messages = hostileMessages();
  const createdAt = new Date().toISOString();
  const history = messages.map((content, index) => ({ id: `hostile-${index}`, role: "operator", content, createdAt }));
  await page.route("**/connector/chat/messages?*", (route) => route.fulfill({ json: { ok: true, data: { messages: history } } }));
  await eventually(async () => assert.equal(await part(page, "message-operator").count(), messages.length), 40_000);

  const bubbles = part(page, "message").locator(".cw-bubble");
  const tags = await bubbles.locator("*").evaluateAll((all) => [...new Set(all.map(({ tagName }) => tagName))]);
  assert.deepEqual(tags.filter((tag) => !ELEMENTS.includes(tag)), []);
  const schemes = await bubbles.locator("a").evaluateAll((all) => [...new Set(all.map(({ protocol }) => protocol))]);
  assert.deepEqual(schemes.filter((scheme) => !["http:", "https:", "mailto:", "tel:"].includes(scheme)), []);
  const handlers = await bubbles.locator("*").evaluateAll((all) => all.filter((one) => one.getAttributeNames().some((name) => name.startsWith("on"))).length);
  assert.equal(handlers, 0);
  assert.equal(await count(page), 0);
});

test("The same texts run where they are taken for HTML, and are noticed", async ({ visit }) => {
  const browser = (await visit()).context().browser();
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.addInitScript(countExecutions);
    await page.goto("about:blank");
    for (const [index, text] of RUNS.entries()) {
      await page.evaluate((html) => (document.body.appendChild(document.createElement("div")).innerHTML = html), text);
      await eventually(async () => assert.equal(await count(page), index + 1, text));
    }
  } finally {
    await context.close();
  }
});
