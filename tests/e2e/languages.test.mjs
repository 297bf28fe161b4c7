// The widget in the visitor's language: its selection, its texts, and their fit.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually, openChat, part, say, shopWith } from "./chat.mjs";
import { test } from "./harness.mjs";
import { FAST_POLLING } from "./sandbox.mjs";

const FOLDER = fileURLToPath(new URL("../../src/text/locales/", import.meta.url));
const LANGUAGES = readdirSync(FOLDER).map((file) => basename(file, ".json"));
const textsOf = (tag) => JSON.parse(readFileSync(`${FOLDER}${tag}.json`, "utf8"));
const ENGLISH = { write: "Write a message", answeredByAi: "Answers by AI" };
const QUESTION = "How long does delivery take?";
/** The narrowest phone in use. */
const NARROW = { viewport: { width: 320, height: 568 } };

/** Prepares a visit of the shop with the locale of the script tag and the `lang` of the page. */
const shopIn =
  ({ locale, lang = "en", strings, operatorName }) =>
  async (page) => {
    const attributes = [
      locale !== undefined && `data-locale="${locale}"`,
      strings && `data-strings='${JSON.stringify(strings)}'`,
      operatorName && `data-operator-name="${operatorName}"`,
    ];
    await page.addInitScript(() => {
      window.errors = [];
      addEventListener("chat-widget:error", ({ detail }) => window.errors.push(detail));
    });
    const tag = attributes.filter(Boolean).join(" ");
    await shopWith((html) => html.replace('lang="en"', `lang="${lang}"`).replace('data-locale="en-US"', () => tag))(
      page,
    );
  };

/** Returns the language, direction and texts of the open window. */
const written = (page) =>
  part(page, "window").evaluate((window) => {
    const { lang, dir } = window.parentElement;
    const write = window.querySelector("[part~=input]").placeholder;
    return { lang, dir, write, answeredByAi: window.querySelector("[part~=presence]").textContent };
  });

/** Fills in a draft of this length, and waits for the note about it. */
async function noteOf(page, length, text) {
  await part(page, "input").fill("a".repeat(length));
  await part(page, "composer").getByText(text, { exact: true }).waitFor();
}

/** Sends a question and waits for the reply, in any language. */
async function askAndWait(page) {
  const answers = await part(page, "message-assistant").count();
  await say(page, QUESTION);
  await part(page, "message-assistant").nth(answers).waitFor();
}

/** Returns the files of languages that were requested: ahead of the widget, by it, or both. */
const languageFiles = (record) => [
  ...new Set(record.moduleFiles().filter((path) => path.startsWith("/chat-widget/locales/"))),
];

/** Opens the chat, and asserts that it is in this language and that no other one was loaded. */
async function assertLanguage(language, page, record) {
  await openChat(page);
  const { write, answeredByAi } = language === "en" ? ENGLISH : textsOf(language);
  const dir = ["ar", "he"].includes(language) ? "rtl" : "ltr";
  assert.deepEqual(await written(page), { lang: language, dir, write, answeredByAi });
  const files = language === "en" ? [] : [`/chat-widget/locales/${language}.mjs`];
  assert.deepEqual(languageFiles(record), files);
}

for (const [locale, language] of [
  ["pt-PT", "pt-BR"],
  ["en-GB", "en"],
]) {
  test(`The locale ${locale} resolves to ${language}, and no other language is loaded`, async ({ visit, recordOf }) => {
    const page = await visit({ prepare: shopIn({ locale }) });
    await assertLanguage(language, page, recordOf(page));
  });
}

test("Without a locale the page's language is used", async ({ visit, recordOf }) => {
  const page = await visit({ locale: "fr-FR", prepare: shopIn({ lang: "tr" }) });
  await assertLanguage("tr", page, recordOf(page));
});

test("Without a locale and a page language the browser's language is used", async ({ visit, recordOf }) => {
  const page = await visit({ locale: "fr-CA", prepare: shopIn({ lang: "" }) });
  await assertLanguage("fr", page, recordOf(page));
});

test("In Arabic the layout is mirrored, and plural forms follow the number", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit({ prepare: shopIn({ locale: "ar-EG" }) });
  const { charactersLeft, tooLong, openChatUnread } = textsOf("ar");
  await openChat(page);
  const box = (name) => part(page, name).boundingBox();
  assert.ok((await box("launcher")).x < 100, "the launcher is at the left");
  assert.ok((await box("send")).x < (await box("input")).x, "the send button is at the left");

  const counted = { 0: "zero", 1: "one", 2: "two", 5: "few", 11: "many", 100: "other" };
  for (const [left, form] of Object.entries(counted)) {
    await noteOf(page, 4000 - left, charactersLeft[form].replace("{count}", left));
  }
  await noteOf(page, 4002, tooLong.two);

  await askAndWait(page);
  await part(page, "close").click();
  for (const [unread, form] of [
    [1, "one"],
    [2, "two"],
    [3, "few"],
  ]) {
    await server.operatorSays(`${unread}`);
    const label = openChatUnread[form].replace("{count}", unread);
    await eventually(async () => assert.equal(await part(page, "launcher").getAttribute("aria-label"), label));
  }
});

for (const [sentence, strings, shown] of [
  [
    "In English singular and plural forms follow the number",
    undefined,
    ["0 characters left", "1 character left", "2 characters left"],
  ],
  [
    "The strings option replaces a single plural form in English",
    { charactersLeft: { other: "{count} to go" } },
    ["0 to go", "1 character left", "2 to go"],
  ],
]) {
  test(sentence, async ({ visit }) => {
    const page = await visit({ prepare: shopIn({ locale: "en", strings }) });
    await openChat(page);
    for (const [left, text] of shown.entries()) await noteOf(page, 4000 - left, text);
  });
}

test("Times use the locale's format, also where the texts are English", async ({ visit }) => {
  const page = await visit({ locale: "en-US", prepare: shopIn({ locale: "sv-SE" }) });
  await openChat(page);
  await askAndWait(page);
  const shown = await page.locator(".cw-message .cw-time").allTextContents();
  assert.ok(shown.some((time) => time !== ""));
  for (const time of shown) assert.match(time, /^(\d{1,2}:\d\d)?$/);
});

test("The strings option replaces texts and single plural forms", async ({ visit }) => {
  const strings = { write: "Frag die Töpferin", charactersLeft: { one: "Ein einziges" }, tooLong: "Zu lang: {count}" };
  const page = await visit({ prepare: shopIn({ locale: "de", strings }) });
  await openChat(page);
  assert.equal((await written(page)).write, "Frag die Töpferin");
  assert.equal((await written(page)).answeredByAi, textsOf("de").answeredByAi);
  for (const [length, text] of [
    [3999, "Ein einziges"],
    [3998, "Noch 2 Zeichen"],
    [4001, "Zu lang: 1"],
    [4002, "Zu lang: 2"],
  ])
    await noteOf(page, length, text);
});

test("A language file that does not load leaves the chat in English, and emits an error", async ({
  visit,
  recordOf,
}) => {
  const prepare = async (page) => {
    await shopIn({ locale: "ar" })(page);
    await page.route("**/locales/ar.mjs", (route) => route.fulfill({ status: 404 }));
  };
  const page = await visit({ prepare });
  await openChat(page);
  assert.deepEqual(await written(page), { lang: "en", dir: "ltr", ...ENGLISH });
  await eventually(async () => {
    const [{ code, message }] = await page.evaluate(() => window.errors);
    assert.equal(code, "LANGUAGE_MISSING");
    assert.match(message, /locales\/ar\.mjs/);
  });
  assert.deepEqual(languageFiles(recordOf(page)), ["/chat-widget/locales/ar.mjs"]);
});

test("The operatorName option is shown, whatever characters it has", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit({ prepare: shopIn({ locale: "de", operatorName: "Anna $& Co" }) });
  await openChat(page);
  await askAndWait(page);
  await server.operatorOnline(true);
  await part(page, "presence").getByText("Anna $& Co ist da", { exact: true }).waitFor();
});

/** Shows the window in each language, and returns the elements that overflow their boxes. It runs in the page. */
async function findCutOff(languages) {
  const found = [];
  const { shadowRoot } = document.querySelector("chat-widget");
  for (const language of languages) {
    await globalThis.chatWidget.setLocale(language);
    while (!shadowRoot.querySelector(`[lang="${language}"] > [part~=window]`)) await new Promise(requestAnimationFrame);
    const window = shadowRoot.querySelector("[part~=window]");
    const frame = window.getBoundingClientRect();
    for (const element of window.querySelectorAll("*")) {
      const name = `${language}: ${element.localName}.${element.getAttribute("class")}: ${element.textContent.slice(0, 60)}`;
      // Text for screen readers takes no space; a title or a name given by the site ends in an ellipsis.
      if (element.closest(".cw-hidden, .cw-title, .cw-name")) continue;
      // A text button extends into the margin by its padding, where nothing clips it.
      const hang = getComputedStyle(element).overflowX === "visible" ? 4 : 0;
      if (element.clientWidth > 0 && element.scrollWidth > element.clientWidth + hang) found.push(`${name} is cut off`);
      const { left, right } = element.getBoundingClientRect();
      if (left < frame.left - 0.5 || right > frame.right + 0.5) found.push(`${name} sticks out`);
    }
    const input = window.querySelector("[part~=input]");
    if (input) {
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = getComputedStyle(input).font;
      const wide = pen.measureText(input.placeholder).width;
      if (wide > input.clientWidth) found.push(`${language}: the placeholder has ${input.clientWidth} of ${wide} px`);
    }
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.push(`${language}: the page scrolls sideways`);
  }
  return found;
}

test("In every language all texts fit on the narrowest phone", async ({ visit, server }) => {
  const page = await visit({ prepare: shopIn({ locale: "en" }), ...NARROW });
  // The texts of the steps are English.
  const fits = async (state) => assert.deepEqual(await page.evaluate(findCutOff, [...LANGUAGES, "en"]), [], state);
  const notice = (text) => part(page, "notice").getByText(text).waitFor();
  await openChat(page);
  await fits("open");

  await part(page, "input").fill("a".repeat(4321));
  await fits("too long");
  await server.setFaults({ ai: "quota_insufficient" });
  await say(page, QUESTION);
  await part(page, "offer").waitFor();
  await fits("offered a person");
  await server.setFaults({ only: "send", status: 402 });
  await say(page, QUESTION);
  await notice("The chat is not available right now.");
  await part(page, "message-failed").waitFor();
  await fits("not sent");

  await server.setFaults({ ai: "blocked" });
  await part(page, "retry").click();
  await notice("This conversation is closed");
  await fits("closed");

  await page.context().setOffline(true);
  await notice("You are offline");
  await fits("offline");
});
