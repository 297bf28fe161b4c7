// What holds for every translation, of the widget as of the console.

import assert from "node:assert/strict";

/** Returns the placeholders of a text, sorted. */
export const placeholders = (text) => (text.match(/\{\w*\}/g) ?? []).sort().join();

/** Returns the forms of a text, with their plural categories. A text without forms has the category "". */
export const formsOf = (text) => (typeof text === "string" ? [["", text]] : Object.entries(text));

/** Fails unless the text has exactly the plural forms of the language. */
export function assertPluralForms(tag, text, name) {
  const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories.sort();
  assert.deepEqual(Object.keys(text).sort(), categories, name);
}

/**
 * Returns a function that fails unless all forms of a text have the placeholders `expected`. `oneInWords` tells that English
 * spells out its form `one`.
 */
export function placeholderCheck(tag) {
  const rules = new Intl.PluralRules(tag);
  const numbers = Array.from({ length: 1000 }, (_, number) => rules.select(number));
  return (text, expected, name, oneInWords = false) => {
    for (const [category, form] of formsOf(text)) {
      // A form for a single number may spell it out.
      const isSingle = numbers.filter((selected) => selected === category).length === 1;
      const inWords = (isSingle || (oneInWords && category === "one")) && !form.includes("{count}");
      const wanted = inWords ? expected.replace(/\{count\},?/, "").replace(/,$/, "") : expected;
      assert.equal(placeholders(form), wanted, `${name} ${category}`);
    }
  };
}

/** Fails for an empty text and for space around it. Texts that are joined to a value may end with space. */
export function assertTrimmed(text, name, { joined = false } = {}) {
  for (const [, form] of formsOf(text)) assert.match(joined ? form.trimEnd() : form, /^\S(.*\S)?$/s, name);
}
