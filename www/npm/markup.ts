// What the wrappers for frameworks have in common.

import { attributeOf, type Option, OPTIONS } from "../names.js";
import type { ChatWidgetEvents, ChatWidgetOptions } from "../options.js";
import { own } from "../own.js";

/** The options of `<chat-widget>`, and whether it stands where it is written. */
export type ElementOptions = Pick<ChatWidgetOptions, Option> & { inline?: boolean };

/** The events of a widget, by their names. */
export const EVENTS = [
  "ready",
  "open",
  "close",
  "message",
  "unread",
  "presence",
  "lead",
  "theme",
  "error",
  "destroy",
] as const satisfies readonly (keyof ChatWidgetEvents)[];

/** Options as the attributes that a server can write as well. */
export function attributesOf(given: ElementOptions): Record<string, string | undefined> {
  const options = own(given);
  const attributes: Record<string, string | undefined> = { inline: options.inline ? "" : undefined };
  for (const name of OPTIONS) {
    const value = options[name];
    attributes[attributeOf(name)] =
      typeof value === "string" || value == null ? (value ?? undefined) : JSON.stringify(value);
  }
  return attributes;
}
