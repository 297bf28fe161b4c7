// What the wrappers for frameworks have in common.

import { attributeOf, type Option, OPTIONS } from "../option-names.js";
import type { ChatWidgetOptions } from "../options.js";
import { own } from "../own.js";

/** The options of `<chat-widget>`, and whether it stands where it is written. */
export type ElementOptions = Pick<ChatWidgetOptions, Option> & { inline?: boolean };

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
