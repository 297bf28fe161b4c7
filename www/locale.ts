// The locale of a page's chat.

/** BCP 47, of at most 35 characters: so the service takes it. */
export const TAG = /^(?!.{36})[a-z]{2,8}(-[a-z\d]{1,8})*$/i;

/**
 * The first of these that is a language tag: what the page chose, the page's language, the browser's. Many pages write it
 * as Java does, with `_`.
 */
export function localeOf(chosen: unknown): string {
  const tags = [chosen, document.documentElement.lang, navigator.language].map((tag) => `${tag}`.replace(/_/g, "-"));
  return tags.find((tag) => TAG.test(tag)) ?? "en";
}
