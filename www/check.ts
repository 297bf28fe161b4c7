// What a page's options must be. A wrong one is named, with what it may be, before anything is put on the page.

import type { ChatWidgetOptions } from "./options.js";

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === "string";
const isObject: Test = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const areTexts: Test = (value) => Array.isArray(value) && value.every(isText);

const SWITCH: [Test, string] = [(value) => typeof value === "boolean", "true or false"];
const TEXT: [Test, string] = [isText, "a string"];
const OBJECT: [Test, string] = [isObject, "an object"];

const choice = (choices: string): [Test, string] => [
  (value) => choices.split(" ").includes(value as string),
  `one of ${choices.replace(/ /g, ", ")}`,
];

const RULES: Partial<Record<keyof ChatWidgetOptions, [Test, string]>> = {
  proxy: [(value) => isText(value) && value !== "", "a string"],
  locale: TEXT,
  customerId: TEXT,
  operatorName: TEXT,
  replyTime: TEXT,
  contact: TEXT,
  preview: SWITCH,
  titleAlert: SWITCH,
  colorScheme: choice("theme auto light dark"),
  position: choice("end start"),
  events: choice("auto manual off"),
  consent: choice("granted required"),
  theme: [(value) => isText(value) && /^[a-z_]+$/.test(value as string), "a preset's name"],
  strings: OBJECT,
  visitor: OBJECT,
  suggestedQuestions: [areTexts, "an array of strings"],
};

/** Throws a `TypeError` for the first option that cannot be used. */
export function check(options: ChatWidgetOptions): void {
  const look = (name: string, value: unknown, [test, words]: [Test, string]) => {
    if (!test(value)) throw new TypeError(`chat widget: the option ${name} must be ${words}, not ${String(JSON.stringify(value))}`);
  };
  look("proxy", options.proxy, RULES.proxy!);
  for (const [name, rule] of Object.entries(RULES)) {
    const value = options[name as keyof ChatWidgetOptions];
    if (value == null) continue;
    look(name, value, rule);
    if (rule !== OBJECT) continue;
    for (const [key, text] of Object.entries(value as object)) {
      if (text == null) continue;
      if (name === "strings" && isObject(text)) {
        for (const form in text as object) look(`${name}.${key}.${form}`, (text as Record<string, unknown>)[form], TEXT);
      } else look(`${name}.${key}`, text, TEXT);
    }
  }
}
