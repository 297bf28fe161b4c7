// Hostile text in what is said: nothing in it runs, asks for anything, or becomes more than text and links; and whatever is
// said is shown.

import assert from "node:assert/strict";
import { delivered, eventually, openChat, part, readThrough, say } from "./chat.mjs";
import { naughty, origin, payloads } from "./corpora.mjs";
import { test } from "./harness.mjs";
import { inConversation, isHarmless, parts, watched } from "./hostile.mjs";

const HISTORY = "**/connector/chat/messages?*";
/** So many messages are on the page at once. */
const MOST_SHOWN = 120;

/** Every form in which Markdown has a link or an address, and what may stand around it. */
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

/** The history of a conversation that has begun is this, from now on. */
async function tell(page, said) {
  const createdAt = new Date().toISOString();
  const messages = said.map(({ role, content }, index) => ({ id: `hostile-${index}`, role, content, createdAt }));
  await page.route(HISTORY, (route) => route.fulfill({ json: { ok: true, data: { messages } } }));
}

/** The chat shows these messages, all at once. */
async function shows(visit, server, said, { laidOut }) {
  assert.ok(said.length < MOST_SHOWN - 3, `${said.length} messages`);
  const page = await inConversation(visit, server, { prepare: watched });
  const before = await part(page, "message").count();
  // To lay out a hundred thousand paragraphs takes long, and decides nothing here.
  if (!laidOut) await page.locator("chat-widget").evaluate((host) => (host.hidden = true));
  await tell(page, said);
  await eventually(async () => assert.equal(await part(page, "message").count(), before + said.length), 30_000);
  await isHarmless(page);
}

test("Hostile text in messages runs no script, sends no request and makes no element, from any author", async ({
  visit,
  server,
  remark,
}) => {
  remark(origin);
  const said = ["assistant", "operator", "visitor", "<script>alert(1)</script>"].flatMap((role) =>
    parts(payloads, 28).map((some) => ({ role, content: some.join("\n\n") })),
  );
  await shows(visit, server, said, { laidOut: true });
});

test("Hostile links and Markdown run no script, and link only to allowed schemes", async ({ visit, server }) => {
  const said = parts(payloads, 20).flatMap((some, index) =>
    parts([...LINKS, ...PLACES], 5).map((forms) => ({
      role: ["assistant", "operator"][index % 2],
      content: some.flatMap((text) => forms.map((form) => form(text))).join("\n\n"),
    })),
  );
  await shows(visit, server, said, { laidOut: false });
});

/** Types texts into the chat, one after the other, and sends each. */
function sayAll(texts) {
  const input = document.querySelector("chat-widget").shadowRoot.querySelector("[part=input]");
  for (const text of texts) {
    input.value = text;
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  }
}

/** Of the naughty strings, each once: those with something in them, and those of white space, which are no message. */
const strings = [...new Set(naughty)];
const blank = strings.filter((text) => /^\p{White_Space}*$/u.test(text));
const sayable = strings.filter((text) => !blank.includes(text));

test("Every text that a visitor writes is shown and sent unchanged, and blank text is not sent", async ({
  visit,
  server,
  remark,
}) => {
  remark(`${sayable.length} strings, and ${blank.length} that are blank`);
  assert.deepEqual(
    sayable.filter((text) => text.length > 4000),
    [],
    "none is too long to be sent",
  );
  // The longer a conversation is, the more is kept with each message.
  for (const some of parts(sayable, 4)) {
    const page = await visit({ prepare: watched });
    await openChat(page);
    for (const text of blank) {
      await say(page, text);
      assert.equal(await part(page, "send").getAttribute("aria-disabled"), "true");
    }
    await page.evaluate(sayAll, some);
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
    await page.close();
    await server.forget();
  }
});

/** A text in which nothing has a meaning for Markdown. */
const escaped = (text) => text.replace(/[!-/:-@[-`{-~]/g, "\\$&");
/** What Markdown takes away from every text: white space around lines, and lines without anything else. */
const lines = (text) =>
  text
    .split("\n")
    .map((line) => line.replace(/^[ \t]+|[\0- ]+$/g, ""))
    .join("");
/** What has a meaning for Markdown: marks of emphasis, code, links and escapes anywhere, marks of blocks before a line. */
const MARKS = /[\\`*_~[\]|]|^\s*(#{1,6} |>|[-+](\s|$)|\d+[.)](\s|$))|<(https?:|mailto:|tel:|www\.)|---/im;

test("Every text of an assistant or an operator is shown, and unchanged where it has no Markdown", async ({
  visit,
  server,
  remark,
}) => {
  const page = await inConversation(visit, server, { prepare: watched });
  const roles = ["assistant", "operator"];
  const history = sayable.flatMap((text) => [
    { role: "visitor", content: text },
    ...roles.flatMap((role) => [text, escaped(text)].map((content) => ({ role, content }))),
  ]);
  await tell(page, history);
  await part(page, "message-operator").first().waitFor();
  const shown = new Map(await readThrough(page));
  const marked = sayable.filter((text) => MARKS.test(text));
  remark(`${sayable.length} strings, ${marked.length} of them with marks of Markdown`);
  for (const text of sayable) {
    const [raw, plain, ...byOperator] = shown.get(text).map(lines);
    assert.deepEqual(byOperator, [raw, plain], "a person's words are laid out like the assistant's");
    assert.equal(plain, lines(text));
    if (!MARKS.test(text)) assert.equal(raw, lines(text));
  }
  await isHarmless(page);
});
