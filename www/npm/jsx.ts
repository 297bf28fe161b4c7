// The attributes, properties and events of `<chat-widget>` in JSX and in templates, for the types of frameworks.

import type { Option } from "../option-names.js";
import type { ChatWidgetEventMap, ChatWidgetOptions } from "../options.js";

type Kebab<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Kebab<Rest>}`
  : Name;

/** The options as properties, and as attributes in kebab-case. An attribute also takes other spellings, and JSON. */
export type ChatWidgetAttributes = { inline?: boolean | "" } & {
  [Name in Option]?: ChatWidgetOptions[Name] | (string & {});
} & {
  [Name in Option as Exclude<Kebab<Name>, Name>]?: Extract<ChatWidgetOptions[Name], string | number> | (string & {});
};

/** The listeners of the events, by their names after a prefix: `on` or `on:`. */
export type ChatWidgetListeners<Prefix extends string> = {
  [Name in keyof ChatWidgetEventMap as `${Prefix}${Name}`]?: (event: ChatWidgetEventMap[Name]) => void;
};
