// Hostile text, wherever text comes in: nothing in it runs, asks for anything, or becomes more than text and links; and
// whatever is said is shown.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { CONFIG, ask, delivered, eventually, openChat, part, readThrough, say } from "./chat.mjs";
import { CALLS, naughty, origin, payloads } from "./corpora.mjs";
import { test } from "./harness.mjs";

const QUICK = { presence: { suggestedMessageIntervalMs: 1, suggestedPresenceIntervalMs: 1 } };
const HISTORY = "**/connector/chat/messages?*";
/** So many messages are on the page at once, and so many of them when a page opens. */
const MOST_SHOWN = 120;
const SHOWN_AT_FIRST = 40;
const TEXTS = JSON.parse(readFileSync(new URL("../../src/text/locales/de.json", import.meta.url), "utf8"));

/** Everything that may stand in a bubble. */
const IN_BUBBLES = "P STRONG EM S CODE PRE A BDI UL OL LI BLOCKQUOTE TABLE THEAD TBODY TR TH TD HR DIV BUTTON";
/** What the widget itself is made of. */
const AROUND = "BDI BUTTON DIV FORM H2 HEADER I IMG P PATH SECTION SLOT SPAN SVG TEXTAREA";
/** Where a link may lead; `:` is what a browser makes of an address that it cannot read, and does not follow. */
const SCHEMES = ["http:", "https:", "mailto:", "tel:", ":"];
const ADDRESS = "^(https?://|mailto:|tel:).";
const LISTS = { elements: [IN_BUBBLES, AROUND], schemes: SCHEMES, address: ADDRESS };

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

/** A list in so many parts, or fewer. */
function parts(list, count) {
  const size = Math.ceil(list.length / count);
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
}

/** Before anything is loaded: whatever a payload does to show that it runs is counted. */
function countExecutions(calls) {
  window.executions = 0;
  for (const name of calls) window[name] = () => (window.executions += 1);
}

/**
 * The shop, whose policy is told of everything and stops nothing: a payload that got through would run, and be reported,
 * and its requests would be made.
 */
async function watched(page) {
  await page.addInitScript(countExecutions, CALLS);
  await page.addInitScript(`window.strange = ${strange}`);
  await page.route("**/", async (route) => {
    const response = await route.fetch();
    const { "content-security-policy": policy, ...headers } = response.headers();
    await route.fulfill({ response, headers: { ...headers, "content-security-policy-report-only": policy } });
  });
}

/** What stands in the widget and may not, each with where it stands. */
function strange(lists) {
  const [inBubbles, around] = lists.elements.map((names) => new Set(names.split(" ")));
  const leads = new RegExp(lists.address, "i");
  const host = document.querySelector("chat-widget");
  const found = [];
  for (const element of [...host.querySelectorAll("*"), ...host.shadowRoot.querySelectorAll("*")]) {
    const name = element.tagName.toUpperCase();
    const allowed = element.parentElement?.closest(".cw-bubble:not(.cw-typing)") ? inBubbles : around;
    const wrong = [];
    if (!allowed.has(name)) wrong.push("is not on the list");
    for (const { name: attribute, value } of element.attributes) {
      if (/^on|^(srcdoc|srcset|action|formaction|data|background|poster|ping)$|:/.test(attribute)) wrong.push(`has ${attribute}`);
      if (attribute === "href" && !(leads.test(value) && lists.schemes.includes(element.protocol))) wrong.push(`leads to ${value}`);
      if (attribute === "src" && (name !== "IMG" || new URL(element.src).protocol !== "https:")) wrong.push(`loads ${value}`);
      if (attribute === "style" && /url|import|expression/.test(value)) wrong.push(`is styled with ${value}`);
    }
    for (const what of wrong) found.push(`${name} ${what}`);
  }
  return found;
}

/** Nothing ran, and nothing stands in the widget that may not. */
async function isHarmless(page) {
  assert.deepEqual(await page.evaluate((lists) => window.strange(lists), LISTS), []);
  assert.equal(await page.evaluate(() => window.executions), 0);
}

/** The history of a conversation that has begun is this, from now on. */
async function tell(page, said) {
  const createdAt = new Date().toISOString();
  const messages = said.map(({ role, content }, index) => ({ id: `hostile-${index}`, role, content, createdAt }));
  await page.route(HISTORY, (route) => route.fulfill({ json: { ok: true, data: { messages } } }));
}

/** A page whose visitor has asked something, at a service that is read often. */
async function inConversation(visit, server, options) {
  await server.trouble(QUICK);
  const page = await visit(options);
  await openChat(page);
  await ask(page, "Hello");
  return page;
}

/** The chat shows these messages, all at once. */
async function shows(visit, server, said, { laidOut }) {
  assert.ok(said.length < MOST_SHOWN - 3, `${said.length} messages`);
  const page = await inConversation(visit, server, { prepare: watched });
  const before = await part(page, "message").count();
  // To lay out a hundred thousand paragraphs takes long, and decides nothing here.
  if (!laidOut) await page.evaluate(() => window.chatWidget.hide());
  await tell(page, said);
  await eventually(async () => assert.equal(await part(page, "message").count(), before + said.length), 30_000);
  await isHarmless(page);
}

test("Nothing hostile in what is said runs, asks for anything, or becomes another element, whoever says it", async ({
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

test("Nothing hostile in links, addresses and whatever else Markdown has runs, or leads anywhere but where links may", async ({
  visit,
  server,
}) => {
  const said = parts(payloads, 20).flatMap((some, index) =>
    parts([...LINKS, ...PLACES], 5).map((forms) => ({
      role: ["assistant", "operator"][index % 2],
      content: some.flatMap((text) => forms.map((form) => form(text))).join("\n\n"),
    })),
  );
  await shows(visit, server, said, { laidOut: false });
});

/** Texts, each as long as a message may be, in which all of these stand. */
function messagesOf(texts) {
  const messages = [""];
  for (const text of texts) {
    const longer = `${messages.at(-1)}${text}\n\n`;
    if (longer.length > 4000) messages.push(`${text}\n\n`);
    else messages[messages.length - 1] = longer;
  }
  return messages;
}

/** What is kept in the browser is this, whenever a page begins. */
function keep({ all, tab }) {
  localStorage.clear();
  sessionStorage.clear();
  for (const [key, value] of Object.entries(all)) localStorage.setItem(key, JSON.stringify(value));
  for (const [key, text] of Object.entries(tab)) sessionStorage.setItem(key, text);
}

/** A page that begins with what is kept; the service is not there to say anything else. */
async function visitWith(visit, kept) {
  const prepare = async (page) => {
    await watched(page);
    await page.addInitScript(keep, kept);
    await page.route("**/connector/**", (route) => route.abort("connectionrefused"));
  };
  const page = await visit({ prepare });
  await openChat(page);
  return page;
}

const VISITOR = "v0123456789abcdef";

test("Nothing hostile in the browser's storage runs, whoever put it there", async ({ visit }) => {
  const some = (index) => payloads[index % payloads.length];
  const roles = ["assistant", "operator", "visitor", "<img src=x onerror=alert(1)>"];
  const entries = roles.flatMap((role, row) =>
    parts(payloads, SHOWN_AT_FIRST / roles.length).map((texts, column) => {
      const index = row * 10 + column;
      return { letter: null, serial: index + 1, id: some(index), role, text: texts.join("\n\n"), at: some(index), delivery: null };
    }),
  );
  const conversation = {
    v: 3, visitorId: VISITOR, revision: 7, writer: some(0), term: 1, conversationId: some(1), after: some(2),
    readUpTo: 0, floor: 0, cut: false, newest: entries.length, notice: some(3), operatorOnline: some(4), entries,
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
  // What another version, or somebody else, may have called its own.
  for (const payload of payloads) all[`chat-widget:${payload}`] = payload;
  const draft = payloads.join("\n");
  const page = await visitWith(visit, { all, tab: { "chat-widget::draft": draft } });
  await eventually(async () => assert.equal(await part(page, "message").count(), entries.length + 1));
  assert.equal(await part(page, "title").textContent(), name);
  assert.equal(await part(page, "input").inputValue(), draft.replace(/\r\n?/g, "\n"));
  await isHarmless(page);
});

test("Nothing hostile runs in messages that wait in the browser's storage to be sent", async ({ visit }) => {
  const texts = messagesOf(payloads);
  const letters = texts.map((text, index) => [
    `chat-widget:outbox:m${index}`,
    {
      v: 3, visitorId: VISITOR, text, path: text, written: Date.now() + index, failed: index % 2 > 0,
      ...(index % 3 > 0 && { key: `chat-${VISITOR}-m${index}`, body: text }),
    },
  ]);
  for (const some of parts(letters, Math.ceil(letters.length / SHOWN_AT_FIRST))) {
    const all = { "chat-widget:visitor": { v: 3, visitorId: VISITOR }, ...Object.fromEntries(some) };
    const page = await visitWith(visit, { all, tab: {} });
    await eventually(async () => assert.equal(await part(page, "message-visitor").count(), some.length));
    await isHarmless(page);
    await page.close();
  }
});

/**
 * The page's chat gets one config after the other, each with a payload in all of its fields, and is looked at with each.
 * The answers are made in the page: some thousands over the network would take minutes.
 */
async function configure({ some, lists }) {
  const found = [];
  const { fetch } = window;
  let config;
  window.fetch = (address, options) =>
    address.includes("/chat/config") ? Promise.resolve(Response.json({ ok: true, data: { config } })) : fetch(address, options);
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

test("Nothing hostile runs in any field of the config", async ({ visit }) => {
  // Over https, the assistant's picture may come from anywhere: that is tested below.
  assert.deepEqual(payloads.filter((text) => text.startsWith("https://")), []);
  const page = await visit({ prepare: watched });
  await openChat(page);
  await page.evaluate(() => window.chatWidget.hide());
  const found = await page.evaluate(configure, { some: payloads, lists: LISTS });
  assert.deepEqual(found, []);
  await isHarmless(page);
});

test("A picture's address that ends its attribute too early is an address, and nothing more", async ({ visit, recordOf }) => {
  const page = await visit({ prepare: watched });
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
  // The shop's own policy would not have it, from there.
  for (const complaint of recordOf(page).forgive()) assert.match(complaint, /https:\/\/pictures\.example/);
});

/** Puts a widget with these options in place of the one that is there; its greeting was not dismissed yet. */
async function mount(options) {
  (window.mounted ?? window.chatWidget).destroy();
  localStorage.removeItem("chat-widget:greeted");
  const { ChatWidget } = await import("/chat-widget/chat-widget.mjs");
  window.mounted = await ChatWidget.mount({ proxy: "/connector", ...options });
}

test("Nothing hostile runs in any option of the page that is a text", async ({ visit, server }) => {
  const page = await inConversation(visit, server, { prepare: watched });
  await server.operatorOnline(true);
  await server.operatorSays("Anna here.");
  await part(page, "presence").getByText("A person is here").waitFor();
  const names = Object.keys(TEXTS);
  for (const some of parts(payloads, Math.ceil(payloads.length / 200))) {
    const [text] = some;
    const all = some.join("\n");
    const options = {
      operatorName: all,
      replyTime: all,
      suggestedQuestions: some,
      greeting: { text: all, after: 0 },
      strings: Object.fromEntries(parts(some, names.length).map((texts, index) => [names[index], texts.join(" ")])),
      themeTokens: { accent: text, [text]: text },
      visitor: { name: text, email: text },
      locale: text,
    };
    // A customer without a conversation is greeted, and asked something; in a conversation a person has a name.
    await page.evaluate(mount, { ...options, customerId: text });
    await part(page, "preview").waitFor();
    await isHarmless(page);
    await page.evaluate(() => window.mounted.open());
    assert.deepEqual(await part(page, "suggestion").allTextContents(), some);
    await isHarmless(page);
    await page.evaluate(mount, options);
    await page.evaluate(() => window.mounted.open());
    await part(page, "message-operator").waitFor();
    assert.equal(await part(page, "message-operator").locator(".cw-name").textContent(), all);
    await isHarmless(page);
  }
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

test("Whatever a visitor writes is shown as it was written, and arrives so; what is blank is not sent", async ({
  visit,
  server,
  remark,
}) => {
  remark(`${sayable.length} strings, and ${blank.length} that are blank`);
  assert.deepEqual(sayable.filter((text) => text.length > 4000), [], "none is too long to be sent");
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
    assert.deepEqual((await arrived()).map(({ content }) => content), some);
    await delivered(page);
    assert.deepEqual((await readThrough(page)).map(([text]) => text), some);
    await isHarmless(page);
    await page.close();
    await server.forget();
  }
});

/** A text in which nothing has a meaning for Markdown. */
const escaped = (text) => text.replace(/[!-/:-@[-`{-~]/g, "\\$&");
/** What Markdown takes away from every text: white space around lines, and lines without anything else. */
const lines = (text) => text.split("\n").map((line) => line.replace(/^[ \t]+|[\0- ]+$/g, "")).join("");
/** What has a meaning for Markdown: marks of emphasis, code, links and escapes anywhere, marks of blocks before a line. */
const MARKS = /[\\`*_~[\]|]|^\s*(#{1,6} |>|[-+](\s|$)|\d+[.)](\s|$))|<(https?:|mailto:|tel:|www\.)|---/im;

test("Whatever an assistant or an operator writes is shown, to the letter where Markdown has no say", async ({
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

/**
 * Takes texts for HTML, each in a place of its own, and gives which of them ran: by themselves, and when a hand did all that
 * they wait for. They are in a frame that keeps them from leading the page away.
 */
async function takeForHtml({ texts, calls }) {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-same-origin";
  document.body.append(frame);
  const [inner, body] = [frame.contentWindow, frame.contentDocument.body];
  const ran = { alone: new Set(), byHand: new Set() };
  let hand;
  const called = () => {
    const at = inner.event?.target?.closest?.("[data-place]");
    if (hand !== undefined) ran.byHand.add(hand);
    else if (at) ran.alone.add(Number(at.dataset.place));
  };
  // They may call what is the page's as well.
  for (const name of calls) window[name] = inner[name] = called;
  const places = texts.map((html, place) => {
    const element = document.createElement("div");
    element.dataset.place = place;
    body.append(element);
    element.innerHTML = html;
    return element;
  });
  // What they ask for has failed when this has, and what moves has begun to.
  await new Promise((resolve) => Object.assign(new Image(), { onerror: resolve, src: "https://nowhere.example/" }));
  for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
  for (hand = 0; hand < places.length; hand += 1) {
    for (const element of places[hand].querySelectorAll("*")) {
      // A form's own fields may stand in place of its methods.
      for (const name of Element.prototype.getAttributeNames.call(element)) {
        if (name.startsWith("on")) EventTarget.prototype.dispatchEvent.call(element, new inner.Event(name.slice(2)));
      }
    }
  }
  frame.remove();
  return { alone: [...ran.alone], byHand: [...ran.byHand] };
}

test("The same texts run where they are taken for HTML, and are counted", async ({ visit, remark }) => {
  const context = await (await visit()).context().browser().newContext();
  // A frame in a frame that goes takes Chromium along.
  const texts = payloads.filter((text) => !/srcdoc/i.test(text));
  const [alone, ran] = [new Set(), new Set()];
  try {
    await context.setOffline(true);
    const page = await context.newPage();
    for (const some of parts(texts, Math.ceil(texts.length / 150))) {
      const result = await page.evaluate(takeForHtml, { texts: some, calls: CALLS });
      for (const place of result.alone) alone.add(some[place]);
      for (const place of [...result.alone, ...result.byHand]) ran.add(some[place]);
    }
  } finally {
    await context.close();
  }
  remark(`${ran.size} of ${texts.length} ran, ${alone.size} of them by themselves`);
  // The others are addresses, are for other browsers, or are not meant to run.
  assert.ok(ran.size > texts.length / 2, `${ran.size} of ${texts.length} ran`);
  assert.ok(alone.size > 200, `${alone.size} ran by themselves`);
});

test("What would run in the shop is noticed there: that it ran, what it asked for, and where it stands", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: watched });
  await openChat(page);
  await isHarmless(page);
  await part(page, "message").first().locator(".cw-bubble").evaluate((bubble) => {
    bubble.innerHTML = '<img src="//evil.example/x.png" onerror="alert(1)"><a href="javascript:alert(1)">x</a>';
  });
  await eventually(async () => assert.equal(await page.evaluate(() => window.executions), 1));
  assert.deepEqual(await page.evaluate((lists) => window.strange(lists), LISTS), [
    "IMG is not on the list",
    "IMG loads //evil.example/x.png",
    "IMG has onerror",
    "A leads to javascript:alert(1)",
  ]);
  const record = recordOf(page);
  await eventually(() => {
    for (const expected of [/policy: require-trusted-types-for/, /policy: script-src-attr/, /policy: img-src/, /request to another place/]) {
      assert.ok(record.complaints.some((complaint) => expected.test(complaint)), `${expected}`);
    }
  });
  record.forgive();
});
