// Which of the widget's languages a locale is shown in.

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
export default function languageOf(locale: string): string | undefined {
  try {
    // Many pages have it as Java writes it, with `_`. Chinese that names neither a script nor one of three regions is in
    // simplified characters, which CLDR does not say of all regions.
    const asked = written(locale.replace(/_/g, "-").replace(/^zh-(?!h|tw|mo).*/i, "zh"));
    return LANGUAGES.split(" ").find((tag) => written(tag) === asked);
  } catch {
    return undefined;
  }
}
