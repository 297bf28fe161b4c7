// Which of the widget's languages a locale is shown in, and its texts. It is loaded by pages that are not in English, and by
// those that have texts of their own.

import type { loadChunk } from "./load-chunk.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import type { ChatWidgetOptions } from "./options.js";

// Filled in by the build: the files of `src/text/locales/`, which are all languages but English, with spaces between.
declare const LANGUAGES: string;

/** Language and script, by its canonical name: `iw` is `heHebr`, as `he-IL` is. */
function written(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return language + script;
}

/**
 * The tag of the language that a locale, BCP 47, is shown in: the same language in the same script, wherever it is
 * spoken. `undefined` for English, which is also for all others, and for what is no locale.
 */
export function languageOf(locale: string): string | undefined {
  try {
    // Many pages have it as Java writes it, with `_`. Chinese that names neither a script nor one of three regions is in
    // simplified characters, which CLDR does not say of all regions.
    const asked = written(locale.replace(/_/g, "-").replace(/^zh-(?!h|tw|mo).*/i, "zh"));
    return LANGUAGES.split(" ").find((tag) => written(tag) === asked);
  } catch {
    return undefined;
  }
}

/** What the WebAssembly module is told of a language. */
export interface Words {
  language?: string | undefined;
  direction?: "ltr" | "rtl" | undefined;
  strings: Record<string, string>;
}

/**
 * The texts of a locale's language with the page's own in their place; the form of a plural has the name `name.category`.
 * Where the file of the language does not come, the texts are the module's and the page's, and `onMissing` is told why.
 */
export default async function wordsIn(
  locale: string,
  own: ChatWidgetOptions["strings"] = {},
  load: typeof loadChunk,
  onMissing: (error: unknown) => void,
): Promise<Words> {
  const language = languageOf(locale);
  const strings: Words["strings"] = {};
  for (const [name, text] of Object.entries(own)) {
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
