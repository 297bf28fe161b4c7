// The attributes of `<chat-widget>`, for the wrappers of frameworks.

import { attributeOf } from "../attribute-name.js";
import { type Option, OPTIONS } from "../option-names.js";
import type { ChatWidgetOptions } from "../options.js";
import { nullProto } from "../null-proto.js";

/** The options of `<chat-widget>`, and whether it is part of the page's layout. */
export type ElementOptions = Pick<ChatWidgetOptions, Option> & { inline?: boolean };

/** Returns options as attributes, which a server can render as well: without the visitor's token, which may be a function. */
export function attributesOf(given: ElementOptions): Record<string, string | undefined> {
  const options = nullProto(given);
  const attributes: Record<string, string | undefined> = { inline: options.inline ? "" : undefined };
  for (const name of OPTIONS) {
    if (name === "visitorToken") continue;
    const value = options[name];
    attributes[attributeOf(name)] =
      typeof value === "string" || value == null ? (value ?? undefined) : JSON.stringify(value);
  }
  return attributes;
}
