// The languages of the operators' console: complete and well-formed.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { assertPluralForms, assertTrimmed, formsOf, placeholderCheck, placeholders } from "./translations.mjs";

const folder = fileURLToPath(new URL("../../crates/console/texts", import.meta.url));

/** Returns the texts of a language by file and key, in the order of the files. */
function textsIn(tag) {
  const files = readdirSync(`${folder}/${tag}`).sort();
  return new Map(
    files.flatMap((file) => {
      const texts = JSON.parse(readFileSync(`${folder}/${tag}/${file}`, "utf8"));
      return Object.entries(texts).map(([key, text]) => [`${file} ${key}`, text]);
    }),
  );
}

const english = textsIn("en");
const LANGUAGES = readdirSync(folder).filter((tag) => tag !== "en");
/** Texts of more words that are the same in every language: names and addresses. */
const NAMES = /^[\W\d]*$|https?:|\{\{/;

/** Returns the words of a text, without its placeholders and abbreviations such as HTML. */
const words = (text) => text.replace(/\{\w*\}|\p{Lu}{2,}/gu, "").match(/\p{L}{2,}/gu) ?? [];

test("The console has the widget's languages", () => {
  const widget = fileURLToPath(new URL("../../src/text/locales", import.meta.url));
  const expected = readdirSync(widget).map((file) => file.replace(".json", ""));
  assert.deepEqual(LANGUAGES.sort(), expected.sort());
  assert.ok(english.size > 700, "the English texts are read");
});

for (const tag of LANGUAGES) {
  test(`${tag}: the console has every text, with its placeholders and plural forms`, () => {
    const texts = textsIn(tag);
    assert.deepEqual([...texts.keys()], [...english.keys()]);
    const check = placeholderCheck(tag);
    for (const [name, text] of texts) {
      const original = english.get(name);
      assert.equal(typeof text, typeof original, name);
      if (typeof original === "object") assertPluralForms(tag, text, name);
      const [, expected] = formsOf(original).at(-1);
      check(text, placeholders(expected), name, !original.one?.includes("{count}"));
      assertTrimmed(text, name, { joined: expected !== expected.trimEnd() });
    }
  });

  test(`${tag}: no text of three words or more is left in English`, () => {
    const untranslated = [];
    for (const [name, text] of textsIn(tag)) {
      const originals = formsOf(english.get(name)).map(([, form]) => form);
      for (const [, form] of formsOf(text)) {
        const same = originals.includes(form) && words(form).length > 2 && !NAMES.test(form);
        if (same) untranslated.push(`${name}: ${form}`);
      }
    }
    assert.deepEqual(untranslated, []);
  });
}
