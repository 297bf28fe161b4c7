// The language in which a locale is shown, and its texts. Pages in English use the texts of the module.

import type { loadChunk } from "./load-chunk.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import type { ChatWidgetOptions } from "./options.js";

// Filled in by the build: the tags of `src/text/locales/`, all languages but English, separated by spaces.
declare const LANGUAGES: string;

/** Returns the canonical language and script of a tag: `heHebr` for `iw` and for `he-IL`. */
function languageAndScript(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return language + script;
}

/**
 * Returns the tag of the language in which a locale (BCP 47) is shown: the same language in the same script, in any region.
 * `undefined` stands for English, which serves all other locales and invalid ones.
 */
export function languageOf(locale: string): string | undefined {
  try {
    // Many pages write `_`, as Java does. Chinese without a script or one of three regions is taken as simplified, which
    // CLDR does not do for all regions.
    const asked = languageAndScript(locale.replace(/_/g, "-").replace(/^zh-(?!h|tw|mo).*/i, "zh"));
    return LANGUAGES.split(" ").find((tag) => languageAndScript(tag) === asked);
  } catch {
    return undefined;
  }
}

/** The settings of the WebAssembly module for a language. */
export interface Words {
  language?: string | undefined;
  direction?: "ltr" | "rtl" | undefined;
  strings: Record<string, string>;
}

/**
 * Returns the texts of a locale's language, replaced by the page's own; the form of a plural has the name `name.category`.
 * If the file of the language does not load, it calls `onMissing` and returns the page's texts alone.
 */
export default async function wordsIn(
  locale: string,
  replaced: ChatWidgetOptions["strings"] = {},
  load: typeof loadChunk,
  onMissing: (error: unknown) => void,
): Promise<Words> {
  const language = languageOf(locale);
  const strings: Words["strings"] = {};
  for (const [name, text] of Object.entries(replaced)) {
    if (typeof text === "string") strings[name] = text;
    else for (const [category, form] of Object.entries(text)) strings[`${name}.${category}`] = form;
  }
  if (!language) return { strings };
  try {
    const texts = await load<Words["strings"]>(`locales/${language}`);
    const direction = RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";
    return { language, direction, strings: { ...texts, ...strings } };
  } catch (error) {
    onMissing(error);
    return { strings };
  }
}
