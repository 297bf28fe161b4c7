// The languages of the interface: complete, well-formed, small, and resolved from locales.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { assertPluralForms, assertTrimmed, formsOf, placeholderCheck, placeholders } from "./translations.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path) => readFileSync(`${root}/${path}`, "utf8");

const FOLDER = "src/text/locales";
const LANGUAGES = readdirSync(`${root}/${FOLDER}`).map((file) => basename(file, ".json"));
const locales = new Map(LANGUAGES.map((tag) => [tag, JSON.parse(read(`${FOLDER}/${tag}.json`))]));
const english = new Map(
  [...read("src/text/strings.rs").matchAll(/\w+ = "(\w+)":\s*"([^"]+)";/g)].map(([, key, text]) => [key, text]),
);

const MAX_BYTES = 2000;
/** Texts that are the same in a language and in English. */
const SHARED = {
  ai: ["he", "hi", "id", "ja", "ko", "nl", "pl", "th", "vi", "zh-CN", "zh-TW"],
  assistant: ["fr"],
  code: ["de", "fr", "nl"],
  contactEmail: ["fr", "pt-BR"],
  contactName: ["de"],
  messages: ["fr"],
};

const isPlural = (key) => english.get(key).includes("{count}");

/** Runs a test for each language. */
function testEachLanguage(sentence, check) {
  for (const [tag, texts] of locales) test(`${tag}: ${sentence}`, () => check(tag, texts));
}

test("There are 20 languages, English included", () => {
  const expected = "ar de es fr he hi id it ja ko nl pl pt-BR ru th tr vi zh-CN zh-TW".split(" ");
  assert.deepEqual([...LANGUAGES].sort(), expected);
  assert.ok(english.size > 60, "the table of texts is read");
});

testEachLanguage("the file has exactly the texts of the table, in its order", (_, texts) => {
  assert.deepEqual(Object.keys(texts), [...english.keys()]);
});

testEachLanguage(
  "a text with a number has the plural forms of the language, and no other text has forms",
  (tag, texts) => {
    for (const [key, text] of Object.entries(texts)) {
      if (isPlural(key)) assertPluralForms(tag, text, key);
      else assert.equal(typeof text, "string", key);
    }
  },
);

testEachLanguage("the placeholders are those of the English text", (tag, texts) => {
  const check = placeholderCheck(tag);
  for (const [key, text] of Object.entries(texts)) {
    const [expected] = english.get(key).split("|").map(placeholders);
    check(text, expected, key);
  }
});

testEachLanguage("no text is empty or has space around it", (_, texts) => {
  for (const [key, text] of Object.entries(texts)) assertTrimmed(text, key);
});

testEachLanguage("every text is translated", (tag, texts) => {
  for (const [key, text] of Object.entries(texts)) {
    const same = formsOf(text).some(([, form]) => english.get(key).split("|").includes(form));
    assert.equal(same, SHARED[key]?.includes(tag) ?? false, key);
  }
});

testEachLanguage(`the file has at most ${MAX_BYTES} bytes (brotli)`, (_, texts) => {
  const module = `export default ${JSON.stringify(texts)};\n`;
  const bytes = brotliCompressSync(module).length;
  assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
});

test("Texts use the punctuation of their language", () => {
  const wrong = {
    // French has a non-breaking space before high punctuation.
    fr: /[^\u202f][;!?]|[^\u00a0]:(?=\s)|'/,
    es: /^[^¿]*\?|^[^¡]*!/,
    "zh-CN": /[,;!?]|[^\w]\.(?!\w)|\.$/,
    "zh-TW": /[,;!?]|[^\w]\.(?!\w)|\.$/,
    ja: /[,;!?]|\.$/,
    hi: /\.$/,
    ar: /[,;?]/,
    it: /'/,
  };
  for (const [tag, pattern] of Object.entries(wrong)) {
    for (const [key, text] of Object.entries(locales.get(tag))) {
      // The address in the example keeps its ending.
      for (const [, form] of formsOf(text))
        assert.doesNotMatch(form.replace(/name@example\.com\.?/, "x"), pattern, `${tag} ${key}`);
    }
  }
});

async function importLanguageOf() {
  const { outputFiles } = await build({
    entryPoints: [`${root}/www/language.ts`],
    define: { LANGUAGES: JSON.stringify(LANGUAGES.join(" ")) },
    bundle: true,
    format: "esm",
    write: false,
  });
  return (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)).languageOf;
}

test("A locale resolves to its language and script in any region, or to English", async () => {
  const languageOf = await importLanguageOf();
  for (const [expected, locales] of Object.entries({
    ar: ["ar", "ar-EG", "AR-eg", "ar-u-nu-latn", "ar-Arab-MA"],
    de: ["de", "de-AT", "de_DE", "de-CH-1996", "DE"],
    he: ["he-IL", "iw", "iw-IL"],
    id: ["id", "in", "in-ID"],
    "pt-BR": ["pt", "pt-PT", "pt_BR", "pt-MO"],
    "zh-CN": ["zh", "zh-CN", "zh-SG", "zh-Hans", "zh-Hans-HK", "zh-MY", "cmn"],
    "zh-TW": ["zh-TW", "zh-HK", "zh-MO", "zh_TW", "zh-Hant", "zh-Hant-HK", "zh-Hant-US"],
    undefined: [
      "en",
      "en-GB",
      "sv",
      "fil",
      "tlh-Latn",
      "fa-IR",
      "ar-Latn",
      "hi-Latn",
      "x",
      "",
      "not a locale",
      "de-",
      "-",
      "ü",
    ],
  })) {
    for (const locale of locales) assert.equal(String(languageOf(locale)), expected, locale);
  }
  for (const tag of LANGUAGES) assert.equal(languageOf(tag), tag);
});

/** Parts of valid and invalid tags. */
const PIECES = [
  ..."ar de en he hi in iw pt zh cmn x i u nu t und root Arab Hans Hant Latn BR TW MO 419 1996 calendar".split(" "),
  ..."- _ -- . ; , @ % / \\ ' \" < { \0 \n ü ß ı İ 語 🙂 \u202e \ud800".split(" "),
  "",
  " ",
  "a".repeat(9),
  "constructor",
  "__proto__",
];

test("Every locale resolves to one of the languages", async () => {
  const languageOf = await importLanguageOf();
  const cases = Number(process.env.PROPTEST_CASES ?? 5_000);
  // A fixed seed makes each run the same.
  let seed = 1;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let tried = 0; tried < cases; tried += 1) {
    let locale = "";
    for (let pieces = random(7); pieces >= 0; pieces -= 1)
      locale += PIECES[random(PIECES.length)] + (random(2) ? "-" : "");
    const language = languageOf(locale);
    assert.ok(language === undefined || LANGUAGES.includes(language), JSON.stringify(locale));
  }
  for (const piece of PIECES)
    assert.equal(languageOf(`q${piece}`.repeat(1 << 19)), undefined, "a locale of a megabyte");
});

test("The table of docs/languages.md has every text unchanged", () => {
  const rows = read("docs/languages.md").matchAll(/^\| `(\w+)` \| (.*) \|$/gm);
  const documented = [...rows].map(([, key, text]) => [key, text.replaceAll("<br>", "|")]);
  assert.deepEqual(documented, [...english]);
});
