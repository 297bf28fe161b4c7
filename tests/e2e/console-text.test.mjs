// The text of messages in the operator console: Markdown as in the widget, visitors' messages as plain text, and no hostile
// text in either.

import assert from "node:assert/strict";
import { eventually, openChat, part, ask } from "./chat.mjs";
import { changeAnswers, choose, isInView, visitorOf } from "./console.mjs";
import { CALLS, naughty, origin, payloads } from "./corpora.mjs";
import { test } from "./harness.mjs";
import { parts } from "./hostile.mjs";

const HISTORY = "**/connector/chat/messages?*";
const ANSWER = `## Delivery
**Three days**, *usually*, ~~four~~; see [our terms](https://shop.example/terms) or studio@shop.example.
Call \`+44\`, [now](tel:+442079460991).

3. Order
   - a pot
4. Pay

> Fragile
> indeed

| Size | Weight | Price |
| :--- | :---: | ---: |
| S | 200 g | 5 |

\`\`\`sh

echo "pots"
  exit
\`\`\`
---
[https://bank.example](https://evil.example) ![a pot](https://shop.example/pot.png) [x](javascript:executed())`;

/** Returns a rendered text as elements without their boxes, links' addresses, and text. It runs in the page. */
function structureOf(bubble) {
  const written = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    const inner = [...node.childNodes].map(written).join("");
    // The console has no header above code blocks.
    if (node.matches("button, svg, .cw-code-head")) return "";
    if (["div", "span"].includes(node.localName)) return inner;
    const value =
      node.localName === "a" ? ` ${node.getAttribute("href")}` : node.localName === "ol" ? ` ${node.start}` : "";
    return `<${node.localName}${value}>${inner}</${node.localName}>`;
  };
  return [...bubble.childNodes].map(written).join("");
}

const structures = (bubbles) =>
  bubbles.evaluateAll((all, source) => all.map(new Function(`return ${source}`)()), `${structureOf}`);

/** Opens the console at a conversation with these messages of a visitor named Anna. */
async function consoleWith(operator, service, history, { prepare, change = (conversation) => conversation } = {}) {
  await visitorOf(service, "Anna").say("Hello");
  const console = await operator();
  await prepare?.(console);
  const createdAt = new Date().toISOString();
  const messages = history.map((message, index) => ({ id: `said-${index}`, createdAt, ...message }));
  await changeAnswers(console, (conversation) => ({
    ...change(conversation),
    ...(conversation.messages && { messages }),
  }));
  await console.reload();
  await choose(console, "Anna");
  assert.equal(await console.locator("#log article").count(), history.length);
  return console;
}

for (const role of ["assistant", "operator"]) {
  test(`The console renders Markdown by the ${role} in the visible part of the log`, async ({ operator, service }) => {
    const console = await consoleWith(operator, service, [{ role, content: ANSWER }]);
    const bubble = console.locator("#log .bubble");
    const shows = async (selector, text) => {
      const found = bubble.locator(selector).first();
      await found.evaluate((element) => element.scrollIntoView({ block: "center" }));
      assert.equal(await found.textContent(), text);
      await isInView(found, "#log");
    };
    await shows(".heading", "Delivery");
    await shows("strong", "Three days");
    await shows("em", "usually");
    await shows("s", "four");
    await shows("code", "+44");
    await shows("ol[start='3'] > li > ul > li", "a pot");
    await shows("blockquote", "Fragile\nindeed");
    await shows("pre code", 'echo "pots"\n  exit');
    await shows(".host", "evil.example");
    const height = await bubble
      .locator("p")
      .nth(1)
      .evaluate((element) => element.offsetHeight);
    assert.ok(height > 40, "a line end is a line break");
    const columns = async (tag) =>
      bubble.locator(tag).evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign));
    assert.deepEqual(
      [await columns("th"), await columns("td")],
      [
        ["start", "center", "end"],
        ["start", "center", "end"],
      ],
    );
    const links = await bubble
      .locator("a")
      .evaluateAll((all) => all.map(({ href, rel, target }) => `${href} ${rel} ${target}`));
    assert.deepEqual(
      links,
      [
        "https://shop.example/terms",
        "mailto:studio@shop.example",
        "tel:+442079460991",
        "https://evil.example/",
        "https://shop.example/pot.png",
      ].map((address) => `${address} noopener noreferrer _blank`),
    );
    assert.ok((await bubble.textContent()).includes("[x](javascript:executed())"));
    assert.equal(
      await console.evaluate(
        () => document.querySelector("#log").scrollWidth - document.querySelector("#log").clientWidth,
      ),
      0,
    );
  });
}

test("The console shows visitors' messages as plain text with links", async ({ operator, service }) => {
  const words = "**Is** `this` <b>it</b>?\n  [Yes](https://a.example/) or\twww.b.example.";
  const console = await consoleWith(operator, service, [{ role: "visitor", content: words }]);
  const bubble = console.locator("#log .bubble");
  assert.equal(await bubble.textContent(), words);
  assert.equal(await bubble.evaluate((element) => getComputedStyle(element).whiteSpaceCollapse), "preserve");
  await isInView(bubble, "#log");
  assert.deepEqual(
    await bubble.locator("*").evaluateAll((all) => all.map(({ localName, href }) => `${localName} ${href}`)),
    ["a https://a.example/", "a https://www.b.example/"],
  );
});

test("The console renders every text of the corpus as the widget does", async ({
  visit,
  operator,
  server,
  service,
  remark,
}) => {
  remark(origin);
  const texts = [ANSWER, ...parts([...new Set(naughty)], 50), ...parts(payloads, 20)].map((some) =>
    [some].flat().join("\n\n"),
  );
  const history = texts.flatMap((content) => [{ role: "operator", content }]);
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1 } });
  const page = await visit();
  await openChat(page);
  await ask(page, "Hello");
  // Hidden, because the layout takes long and is not tested here.
  await page.locator("chat-widget").evaluate((host) => (host.hidden = true));
  const createdAt = new Date().toISOString();
  const messages = history.map((message, index) => ({ id: `said-${index}`, createdAt, ...message }));
  await page.route(HISTORY, (route) => route.fulfill({ json: { ok: true, data: { messages } } }));
  const byOperator = part(page, "message-operator").locator(".cw-bubble");
  await eventually(async () => assert.equal(await byOperator.count(), history.length));
  const expected = await structures(byOperator);
  await server.deleteConversations();
  const console = await consoleWith(operator, service, history);
  const shown = await structures(console.locator("#log .bubble"));
  for (const [index, text] of texts.entries()) assert.equal(shown[index], expected[index], text.slice(0, 200));
});

/** Returns the forbidden nodes of the console, each with the reason. It runs in the page. */
function strange() {
  const ALLOWED =
    "P STRONG EM S CODE PRE A BDI UL OL LI BLOCKQUOTE TABLE THEAD TBODY TR TH TD HR DIV ARTICLE TIME".split(" ");
  const found = [];
  for (const element of document.querySelectorAll("#log *")) {
    const name = element.tagName.toUpperCase();
    if (!ALLOWED.includes(name)) found.push(`${name} is not on the list`);
    for (const { name: attribute, value } of element.attributes) {
      if (!/^(class|dir|href|rel|target|start|tabindex|datetime|title|data-id|data-form)$/.test(attribute))
        found.push(`${name} has ${attribute}`);
      // `:` is the protocol of an address that a browser cannot parse and does not follow.
      const isLinkable =
        /^(https?:\/\/|mailto:|tel:)./i.test(value) && /^((https?|mailto|tel):|:)$/.test(element.protocol);
      if (attribute === "href" && !isLinkable) found.push(`${name} leads to ${value}`);
    }
  }
  for (const element of document.querySelectorAll("#conversations *, #about *, .talk-head *")) {
    if (!/^(LI|BUTTON|SPAN|TIME|SECTION|H2|DIV|P|METER|DL|DT|DD|OL)$/i.test(element.tagName))
      found.push(`${element.tagName} beside the log`);
  }
  return found;
}

/** Opens the console at a hostile conversation, and asserts that nothing in it has run or is more than text and links. */
async function isHarmless(operator, service, history) {
  const errors = [];
  const prepare = async (console) => {
    console.on("pageerror", (error) => errors.push(error.message));
    await console.addInitScript((calls) => {
      window.executions = 0;
      for (const name of calls) window[name] = () => (window.executions += 1);
    }, CALLS);
    // The console's policy would block a payload that gets through.
    await console.route("**/operator", async (route) => {
      const response = await route.fetch();
      const { "content-security-policy": _, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
  };
  const some = (index) => payloads.slice(index * 40, index * 40 + 40).join(" ");
  const event = {
    eventType: some(8),
    title: some(9),
    path: some(10),
    eventData: { label: some(11) },
    receivedAt: some(12),
  };
  const change = (conversation) => ({
    ...conversation,
    // The start of the name stays, because it identifies the conversation.
    visitor: { name: `Anna ${some(0)}`, email: some(1), company: some(2), visitorId: some(3) },
    locale: some(4),
    sourcePage: some(5),
    lastVisitorMessage: { ...conversation.lastVisitorMessage, content: some(6) },
    lead: { ...conversation.lead, summary: some(7) },
    ...(conversation.events && { events: [event] }),
  });
  const console = await consoleWith(operator, service, history, { prepare, change });
  assert.deepEqual([...new Set(await console.evaluate(strange))], []);
  assert.equal(await console.evaluate(() => window.executions), 0);
  assert.deepEqual(errors, []);
  return console;
}

test("No hostile text runs as script in the console, from any author and in any field", async ({
  operator,
  service,
  remark,
}) => {
  remark(origin);
  const history = ["visitor", "assistant", "operator", "Other"].flatMap((role) =>
    parts(payloads, 20).map((some) => ({ role, content: some.join("\n\n") })),
  );
  const console = await isHarmless(operator, service, history);
  assert.equal(await console.locator("#log .visitor .bubble").first().textContent(), history[0].content);
});

test("Hostile links and tables run no script in the console, and link only to allowed schemes", async ({
  operator,
  service,
}) => {
  const forms = [
    (text) => `[x](${text})`,
    (text) => `![${text}](https://shop.example/${text})`,
    (text) => `https://${text}`,
    (text) => `| ${text} |\n|-|\n| ${text} |`,
  ];
  const history = forms.flatMap((form, index) =>
    parts(payloads, 4).map((some) => ({
      role: ["assistant", "operator"][index % 2],
      content: some.map(form).join("\n\n"),
    })),
  );
  await isHarmless(operator, service, history);
});
