// The locale of the chat.

/** A language tag (BCP 47) of at most 35 characters, as the service accepts it. */
export const TAG = /^(?!.{36})[a-z]{2,8}(-[a-z\d]{1,8})*$/i;

/**
 * Returns the first valid language tag of: the page's option, the page's language, the browser's language; else `en`. Many
 * pages write `_`, as Java does.
 */
export function localeOf(chosen: unknown): string {
  const tags = [chosen, document.documentElement.lang, navigator.language].map((tag) => `${tag}`.replace(/_/g, "-"));
  return tags.find((tag) => TAG.test(tag)) ?? "en";
}
