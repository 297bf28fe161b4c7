// The names of the options that `<chat-widget>` has as attributes and properties. `option-table.ts` has all options; a test
// holds these lists to it, because the element does not load the table.

import type { ChatWidgetOptions } from "./options.js";

/** The options that an element has as attributes and properties: all but `container`, which the element itself is. */
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
] as const satisfies readonly (keyof ChatWidgetOptions)[];

export type Option = (typeof OPTIONS)[number];

/** The options whose attributes hold JSON. */
export const JSON_OPTIONS: readonly string[] =
  "isolate offset preview strings suggestedQuestions themeTokens titleAlert visitor zIndex".split(" ");

/** The options that need another widget when they change: those of the effect `mount`. */
export const MOUNT_OPTIONS: readonly string[] = "proxy customerId container isolate events consent".split(" ");

/** The options that change without a redraw: those of the effect `live`. */
export const LIVE_OPTIONS: readonly string[] = "theme themeTokens offset zIndex visitor".split(" ");

/** Returns the attribute name of an option. */
export const attributeOf = (option: string) => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
