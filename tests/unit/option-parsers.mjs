// The parsers of options, with the globals of a page, for the tests of options.

import { importSource, optionDefinitions, optionTable } from "../../scripts/options.mjs";

// The globals of a page that the options use.
globalThis.location = new URL("https://shop.example/pots/mugs.html?page=2");
const nothing = {
  querySelector(selector) {
    if (!/^[\w.#-]+$/.test(selector) || /[.#]$/.test(selector)) throw new SyntaxError("not a selector");
    return null;
  },
};
globalThis.document = { ...nothing, documentElement: { lang: "en" }, createDocumentFragment: () => nothing };
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { language: "en-GB" } });

export const TABLE = await optionTable();
export const { default: check, parseAttributes } = await importSource("www/validate-options.ts");
export const { parsePlain } = await importSource("www/parse-options.ts", await optionDefinitions());
export const { localeOf } = await importSource("www/locale.ts");

export const PROXY = { proxy: "/connector" };
/** Returns the parsed attributes, and the warnings. */
export function readTag(attributes) {
  const warnings = [];
  const { ...options } = parseAttributes({ ...PROXY, ...attributes }, "data-", (message) => warnings.push(message));
  return { options, warnings };
}

/** Returns one parsed attribute, and the warnings. */
export const readOne = (name, text) => readTag({ [name]: text });
