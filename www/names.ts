// The names of what `<chat-widget>` takes and does.

/** The options that an element has as attributes and properties. */
export const OPTIONS = [
  "proxy",
  "theme",
  "themeTokens",
  "colorScheme",
  "locale",
  "strings",
  "suggestedQuestions",
  "isolate",
  "position",
  "offset",
  "zIndex",
  "launcher",
  "visitor",
  "customerId",
  "events",
  "consent",
  "greeting",
  "preview",
  "titleAlert",
  "operatorName",
  "replyTime",
  "contact",
] as const;

/** The controls of a widget that an element has as methods. */
export const CONTROLS = [
  "open",
  "close",
  "toggle",
  "show",
  "hide",
  "reloadConfig",
  "setTheme",
  "setLocale",
  "update",
  "identify",
  "sendMessage",
  "setDraft",
  "track",
  "grantConsent",
  "reset",
  "diagnose",
] as const;

/** Those that are no text: their attributes hold JSON. */
export const JSON_OPTIONS: readonly string[] =
  "isolate offset preview strings suggestedQuestions themeTokens titleAlert visitor zIndex".split(" ");

export type Option = (typeof OPTIONS)[number];
export type Control = (typeof CONTROLS)[number];

/** The attribute of an option. */
export const attributeOf = (option: string) => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
