// Hostile text in messages: it runs no script, sends no request and becomes text and links only; and every message is
// shown.

import assert from "node:assert/strict";
import { delivered, eventually, openChat, part, readThrough, say, stored } from "./chat.mjs";
import { naughty, origin, payloads } from "./corpora.mjs";
import { test } from "./harness.mjs";
import { inConversation, isHarmless, parts, watched } from "./hostile.mjs";

const HISTORY = "**/connector/chat/messages?*";
/** Maximum number of messages that are rendered at once. */
const MAX_SHOWN = 120;

/** Every form of links and addresses in Markdown, and of the text around them. */
const LINKS = [
  (text) => `[x](${text})`,
  (text) => `![x](${text})`,
  (text) => `<${text}>`,
  (text) => `[${text}](https://shop.example/)`,
  (text) => `![${text}](https://shop.example/)`,
  (text) => `[x](https://shop.example/ "${text}")`,
  (text) => `[x](https://shop.example/${text})`,
  (text) => `[x](<${text}>)`,
  (text) => `[x]: ${text}`,
  (text) => `https://${text}`,
  (text) => `www.shop.example/${text}`,
  (text) => `mailto:${text} tel:${text}`,
  (text) => `${text}@shop.example`,
];
const PLACES = [
  (text) => `# ${text}`,
  (text) => `> 1. ${text}`,
  (text) => `**${text}** \`${text}\``,
  (text) => `| ${text} |\n| - |\n| ${text} |`,
  (text) => `\`\`\`${text}\n${text}\n\`\`\``,
];

/** Replaces the history of an existing conversation by that of a service that returns all of it to each poll. */
async function replaceHistory(page, history) {
  const createdAt = new Date().toISOString();
  const messages = history.map(({ role, content }, index) => ({ id: `hostile-${index}`, role, content, createdAt }));
  await page.route(HISTORY, (route) => route.fulfill({ json: { ok: true, data: { messages } } }));
}

/** Shows these messages in the chat, all at once. */
async function shows(visit, server, history, { laidOut }) {
  assert.ok(history.length < MAX_SHOWN - 3, `${history.length} messages`);
  const page = await inConversation(visit, server, { prepare: watched });
  const before = await part(page, "message").count();
  // Hidden, because the layout of 100,000 paragraphs takes long and is not tested here.
  if (!laidOut) await page.locator("chat-widget").evaluate((host) => (host.hidden = true));
  await replaceHistory(page, history);
  await eventually(async () => assert.equal(await part(page, "message").count(), before + history.length), 30_000);
  await isHarmless(page);
}

test("Hostile text in messages runs no script, sends no request and makes no element, from any author", async ({
  visit,
  server,
  remark,
}) => {
  remark(origin);
  const history = ["assistant", "operator", "visitor", "<script>alert(1)</script>"].flatMap((role) =>
    parts(payloads, 28).map((some) => ({ role, content: some.join("\n\n") })),
  );
  await shows(visit, server, history, { laidOut: true });
});

test("Hostile links and Markdown run no script, and link only to allowed schemes", async ({ visit, server }) => {
  const history = parts(payloads, 20).flatMap((some, index) =>
    parts([...LINKS, ...PLACES], 5).map((forms) => ({
      role: ["assistant", "operator"][index % 2],
      content: some.flatMap((text) => forms.map((form) => form(text))).join("\n\n"),
    })),
  );
  await shows(visit, server, history, { laidOut: false });
});

/** Types texts into the chat and sends each. */
function sendAll(texts) {
  const input = document.querySelector("chat-widget").shadowRoot.querySelector("[part=input]");
  for (const text of texts) {
    input.value = text;
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  }
}

/** The naughty strings without duplicates, and those among them that are blank. */
const strings = [...new Set(naughty)];
const blank = strings.filter((text) => /^\p{White_Space}*$/u.test(text));
const sendable = strings.filter((text) => !blank.includes(text));

assert.ok(
  sendable.every((text) => text.length <= 4000),
  "no text exceeds the maximum length",
);

// Each message stores the conversation, so shorter ones are faster.
for (const [index, some] of parts(sendable, 8).entries()) {
  test(`Every text that a visitor writes is shown and sent unchanged, and blank text is not sent, part ${index + 1}`, async ({
    visit,
    server,
    remark,
  }) => {
    remark(`${some.length} strings, and ${blank.length} that are blank`);
    const page = await visit({ prepare: watched });
    await openChat(page);
    for (const text of blank) {
      await say(page, text);
      assert.equal(await part(page, "send").getAttribute("aria-disabled"), "true");
    }
    await page.evaluate(sendAll, some);
    const arrived = async () => (await server.conversation()).messages.filter(({ role }) => role === "visitor");
    await eventually(async () => assert.equal((await arrived()).length, some.length), 30_000);
    assert.deepEqual(
      (await arrived()).map(({ content }) => content),
      some,
    );
    await delivered(page);
    assert.deepEqual(
      (await readThrough(page)).map(([text]) => text),
      some,
    );
    await isHarmless(page);
  });
}

/** Escapes every character with a meaning in Markdown. */
const escaped = (text) => text.replace(/[!-/:-@[-`{-~]/g, "\\$&");
/** Removes the white space that Markdown ignores: around lines, and blank lines. */
const lines = (text) =>
  text
    .split("\n")
    .map((line) => line.replace(/^[ \t]+|[\0- ]+$/g, ""))
    .join("");
/** Matches Markdown: emphasis, code, links and escapes anywhere, and block markers at the start of a line. */
const MARKS = /[\\`*_~[\]|]|^\s*(#{1,6} |>|[-+](\s|$)|\d+[.)](\s|$))|<(https?:|mailto:|tel:|www\.)|---/im;

test("Every text of an assistant or an operator is shown, and unchanged where it has no Markdown", async ({
  visit,
  server,
  remark,
}) => {
  const page = await inConversation(visit, server, { prepare: watched });
  const roles = ["assistant", "operator"];
  const history = sendable.flatMap((text) => [
    { role: "visitor", content: text },
    ...roles.flatMap((role) => [text, escaped(text)].map((content) => ({ role, content }))),
  ]);
  await replaceHistory(page, history);
  // A long history is taken over in parts.
  const last = `hostile-${history.length - 1}`;
  await eventually(async () => assert.equal((await stored(page))["chat-widget:conversation"].after, last));
  const shown = new Map(await readThrough(page));
  const marked = sendable.filter((text) => MARKS.test(text));
  remark(`${sendable.length} strings, ${marked.length} of them with marks of Markdown`);
  for (const text of sendable) {
    const [raw, plain, ...byOperator] = shown.get(text).map(lines);
    assert.deepEqual(byOperator, [raw, plain], "an operator's message is rendered like the assistant's");
    assert.equal(plain, lines(text));
    if (!MARKS.test(text)) assert.equal(raw, lines(text));
  }
  await isHarmless(page);
});
