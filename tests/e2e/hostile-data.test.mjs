// Hostile text outside of messages: in storage, in the config, in the page's options.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { optionTable } from "../../scripts/options.mjs";
import { CONFIG, eventually, openChat, part } from "./chat.mjs";
import { payloads } from "./corpora.mjs";
import { test } from "./harness.mjs";
import { LISTS, inConversation, isHarmless, parts, watched } from "./hostile.mjs";

/** The number of messages that are rendered when the window opens. */
const SHOWN_AT_FIRST = 40;
const TEXTS = JSON.parse(readFileSync(new URL("../../src/text/locales/de.json", import.meta.url), "utf8"));

/** Joins texts into messages of at most 4,000 characters. */
function messagesOf(texts) {
  const messages = [""];
  for (const text of texts) {
    const longer = `${messages.at(-1)}${text}\n\n`;
    if (longer.length > 4000) messages.push(`${text}\n\n`);
    else messages[messages.length - 1] = longer;
  }
  return messages;
}

/** Sets the browser's storage before each page load. */
function keep({ all, tab }) {
  localStorage.clear();
  sessionStorage.clear();
  for (const [key, value] of Object.entries(all)) localStorage.setItem(key, JSON.stringify(value));
  for (const [key, text] of Object.entries(tab)) sessionStorage.setItem(key, text);
}

/** Opens a page with the given storage and without a service. */
async function visitWith(visit, kept) {
  const prepare = async (page) => {
    await watched(page);
    await page.addInitScript(keep, kept);
    await page.route("**/connector/**", (route) => route.abort("connectionrefused"));
  };
  const page = await visit({ prepare });
  // Two megabytes of messages are rendered while other browsers use the same two cores.
  page.setDefaultTimeout(60_000);
  await openChat(page);
  return page;
}

const VISITOR = "v0123456789abcdef";

test("Hostile data in the browser's storage runs no script", async ({ visit }) => {
  const some = (index) => payloads[index % payloads.length];
  const roles = ["assistant", "operator", "visitor", "<img src=x onerror=alert(1)>"];
  const entries = roles.flatMap((role, row) =>
    parts(payloads, SHOWN_AT_FIRST / roles.length).map((texts, column) => {
      const index = row * 10 + column;
      return {
        letter: null,
        serial: index + 1,
        id: some(index),
        role,
        text: texts.join("\n\n"),
        at: some(index),
        delivery: null,
      };
    }),
  );
  const conversation = {
    v: 3,
    visitorId: VISITOR,
    revision: 7,
    writer: some(0),
    term: 1,
    conversationId: some(1),
    after: some(2),
    readUpTo: 0,
    floor: 0,
    cut: false,
    newest: entries.length,
    notice: some(3),
    operatorOnline: some(4),
    entries,
  };
  const name = payloads.join(" ");
  const config = { assistantName: name, welcomeMessage: payloads.join("\n\n"), avatarUrl: some(5), locale: some(6) };
  const all = {
    "chat-widget:visitor": { v: 3, visitorId: VISITOR },
    "chat-widget:conversation": conversation,
    "chat-widget:config": { v: 3, data: { config, locale: some(7), tenantId: some(8), siteId: some(9) } },
    "chat-widget:seen": { v: 3, serial: some(10) },
    "chat-widget:tracking": { v: 3, offUntil: some(11) },
    "chat-widget:sound": some(12),
  };
  // Keys of other versions or other scripts.
  for (const payload of payloads) all[`chat-widget:${payload}`] = payload;
  const draft = payloads.join("\n");
  const page = await visitWith(visit, { all, tab: { "chat-widget::draft": draft } });
  await eventually(async () => assert.equal(await part(page, "message").count(), entries.length + 1));
  assert.equal(await part(page, "title").textContent(), name);
  assert.equal(await part(page, "input").inputValue(), draft.replace(/\r\n?/g, "\n"));
  await isHarmless(page);
});

test("Hostile text in queued messages of the browser's storage runs no script", async ({ visit }) => {
  const texts = messagesOf(payloads);
  const pending = texts.map((text, index) => [
    `chat-widget:outbox:m${index}`,
    {
      v: 3,
      visitorId: VISITOR,
      text,
      path: text,
      written: Date.now() + index,
      failed: index % 2 > 0,
      ...(index % 3 > 0 && { key: `chat-${VISITOR}-m${index}`, body: text }),
    },
  ]);
  for (const some of parts(pending, Math.ceil(pending.length / SHOWN_AT_FIRST))) {
    const all = { "chat-widget:visitor": { v: 3, visitorId: VISITOR }, ...Object.fromEntries(some) };
    const page = await visitWith(visit, { all, tab: {} });
    await eventually(async () => assert.equal(await part(page, "message-visitor").count(), some.length));
    await isHarmless(page);
    await page.close();
  }
});

/**
 * Gives the page's chat one config after the other, each with a payload in all of its fields, and checks it with each.
 * The responses are made in the page: thousands over the network would take minutes.
 */
async function configure({ some, lists }) {
  const found = [];
  const { fetch } = window;
  let config;
  window.fetch = (address, options) =>
    address.includes("/chat/config")
      ? Promise.resolve(Response.json({ ok: true, data: { config } }))
      : fetch(address, options);
  const { shadowRoot } = document.querySelector("chat-widget");
  let changed = () => {};
  new MutationObserver(() => changed()).observe(shadowRoot, { subtree: true, childList: true, characterData: true });
  const title = shadowRoot.querySelector("[part=title]");
  for (const text of some) {
    config = { assistantName: text, welcomeMessage: text, avatarUrl: text, locale: text };
    window.chatWidget.reloadConfig();
    while (title.textContent !== text) await new Promise((resolve) => (changed = resolve));
    const here = window.strange(lists);
    if (here.length > 0) found.push([text, ...here]);
  }
  window.fetch = fetch;
  return found;
}

test("Hostile text in any field of the config runs no script", async ({ visit }) => {
  // An avatar may have any https URL, which is tested below.
  assert.deepEqual(
    payloads.filter((text) => text.startsWith("https://")),
    [],
  );
  const page = await visit({ prepare: watched });
  await openChat(page);
  await page.locator("chat-widget").evaluate((host) => (host.hidden = true));
  const found = await page.evaluate(configure, { some: payloads, lists: LISTS });
  assert.deepEqual(found, []);
  await isHarmless(page);
});

test("An avatar URL that tries to close its attribute stays a URL", async ({ visit, recordOf }) => {
  const page = await visit({ prepare: watched });
  // The shop's policy blocks pictures of that host.
  recordOf(page).tolerate("https://pictures.example");
  await page.route("https://pictures.example/**", (route) => route.fulfill({ path: "www/demo/icon.svg" }));
  await openChat(page);
  const avatarUrl = `https://pictures.example/x.svg" onerror="alert(1)" x='><script>alert(1)</script>`;
  const config = { assistantName: "Clover", avatarUrl };
  await page.route(CONFIG, (route) => route.fulfill({ json: { ok: true, data: { config } } }));
  await page.evaluate(() => window.chatWidget.reloadConfig());
  const picture = page.locator("chat-widget img").first();
  await eventually(async () => assert.ok(await picture.evaluate((picture) => picture.naturalWidth > 0)));
  assert.equal(await picture.getAttribute("src"), avatarUrl);
  await isHarmless(page);
});

/** Replaces the widget by one with these options and a greeting that was not dismissed. */
async function mount(options) {
  (window.mounted ?? window.chatWidget)?.destroy();
  delete window.mounted;
  localStorage.removeItem("chat-widget:greeted");
  const { ChatWidget } = await import("/chat-widget/chat-widget.mjs");
  window.mounted = await ChatWidget.mount({ proxy: "/connector", ...options });
}

test("Hostile text in any string option runs no script", async ({ visit, server }) => {
  const page = await inConversation(visit, server, { prepare: watched });
  await server.operatorOnline(true);
  await server.operatorSays("Anna here.");
  await part(page, "presence").getByText("A person is online").waitFor();
  const names = Object.keys(TEXTS);
  const table = await optionTable();
  const mountable = Object.keys(table).filter((name) => table[name].effect !== "load");
  const textOptions = mountable.filter((name) => table[name].expected === "a string");
  for (const some of parts(payloads, Math.ceil(payloads.length / 200))) {
    const [text] = some;
    const all = some.join("\n");
    const questions = parts(some, 20).map((texts) => texts.join(" ").slice(0, 4000));
    const options = {
      ...Object.fromEntries(textOptions.map((name) => [name, all])),
      suggestedQuestions: questions,
      greeting: { text: all, after: 0 },
      strings: Object.fromEntries(parts(some, names.length).map((texts, index) => [names[index], texts.join(" ")])),
      visitor: { name: text, email: text },
    };
    const customerId = text.slice(0, 200);
    const others = mountable.filter((name) => !(name in { ...options, customerId }));
    for (const [name, value] of [
      ...others.map((name) => [name, `<img src=x onerror=alert(1)>${text}`]),
      ["themeTokens", { accent: `${text}{}` }],
      ["themeTokens", { [text]: "red" }],
      ["locale", text],
    ]) {
      const expected = new RegExp(`TypeError: chat widget: the option ${name}`);
      await assert.rejects(page.evaluate(mount, { ...options, [name]: value }), expected, `${name} accepts any text`);
    }
    // Without a conversation there are a greeting and suggestions; in a conversation there is the operator's name.
    await page.evaluate(mount, { ...options, customerId });
    await part(page, "preview").waitFor();
    await isHarmless(page);
    await page.evaluate(() => window.mounted.open());
    assert.deepEqual(await part(page, "suggestion").allTextContents(), questions);
    await isHarmless(page);
    await page.evaluate(mount, options);
    await page.evaluate(() => window.mounted.open());
    await part(page, "message-operator").waitFor();
    assert.equal(await part(page, "message-operator").locator(".cw-name").textContent(), all);
    await isHarmless(page);
  }
});
