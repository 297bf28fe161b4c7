// The languages of the widget, as the gallery offers them.

export const LANGUAGES = [
  "ar",
  "de",
  "en-US",
  "es",
  "fr",
  "he",
  "hi",
  "id",
  "it",
  "ja",
  "ko",
  "nl",
  "pl",
  "pt-BR",
  "ru",
  "th",
  "tr",
  "vi",
  "zh-CN",
  "zh-TW",
];

/** Returns the name of a language in that language, such as `Deutsch`. */
export function nameOf(tag) {
  const name = new Intl.DisplayNames([tag], { type: "language" }).of(tag === "en-US" ? "en" : tag);
  return name[0].toLocaleUpperCase(tag) + name.slice(1);
}
