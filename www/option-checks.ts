// The checks of the options: for each kind of value in `option-table.mjs` whether a value is valid, and the other spellings
// that are accepted. Loaded for options that `parse-options.ts` does not accept.

import { nullProto } from "./null-proto.js";
import type { ChatWidgetOptions } from "./options.js";

type Name = keyof ChatWidgetOptions | "load";

/** A check in the option table: the kind, and what the kind needs to know. */
interface Rule {
  kind: keyof typeof KINDS;
  /** The kind of value, for "is not …". */
  noun?: string;
  /** Words with spaces between: those of a choice, the first of them the default, or the names of members. */
  words?: string;
  /** Other spellings of words. */
  synonyms?: Record<string, string>;
  /** The largest number, or the maximum length of a text or a list. */
  max?: number;
  /** One text of a list, for "is not …", and its maximum length. */
  one?: string;
  length?: number;
  /** The value in place of an invalid one, in words, if it is not the default. */
  instead?: string;
  /** The value in place of an invalid one, if it is not the default. */
  substitute?: unknown;
  /** Whether the option needs `host-page.ts`. */
  hostPage?: true;
}

// Filled in by the build: the checks in the option table, and the names of all tokens without `--cw-`, with spaces between.
declare const OPTION_RULES: Record<Name, Rule>;
declare const TOKENS: string;

/**
 * Reports an invalid value by its path, such as `visitor.email`, with the expected one. It throws, or returns `undefined`
 * for the value to be left out.
 */
export type Refuse = (path: string, value: unknown, expected: string, noun?: string, instead?: string) => undefined;

/** What is known about the values of an option. */
export interface Check {
  /** The valid values, in words. */
  expected: string;
  /** The kind of value, for "is not …". */
  noun: string;
  /** The default, in words; without one, the option is off. */
  default?: string | undefined;
  /** Attributes hold JSON. */
  json?: true;
  /** The value is shown nowhere. */
  secret?: true;
  /** Returns whether the value is valid. */
  test(value: unknown): boolean;
  /** Parses a value whose members are checked one by one. */
  parse?(value: unknown, path: string, refuse: Refuse): unknown;
  /** Parses another spelling: other case, synonyms. */
  coerce?(text: string, isRightToLeft: boolean): unknown;
}

/** One option. */
export type Row = Omit<Rule, "noun"> & Check;

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown, min: number, max: number): boolean =>
  typeof value === "number" && value >= min && value <= max;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const YES = ["", "true", "1", "yes", "on"];
const NO = ["false", "0", "no", "off"];

/** An object whose members are checked one by one. `nameOf` accepts other spellings of a member's name. */
function members(
  expected: string,
  parse: (name: string, value: unknown, path: string, refuse: Refuse) => unknown,
  nameOf = (given: string) => given,
): Check {
  return {
    expected,
    noun: "an object",
    json: true,
    test: isObject,
    parse: (value, path, refuse) => {
      const result: Record<string, unknown> = Object.create(null);
      for (const [name, member] of Object.entries(value as object)) {
        if (member == null) continue;
        const taken = parse(nameOf(name), member, `${path}.${name}`, refuse);
        if (taken !== undefined) result[nameOf(name)] = taken;
      }
      return result;
    },
  };
}

/** Returns a proxy's prefix as a full address; `undefined` for an invalid prefix. */
export function addressOf(prefix: string): string | undefined {
  if (/[?#\\\s]|^$|^\/\//.test(prefix)) return undefined;
  const { href = "", origin = "" } = globalThis.location ?? {};
  const isFull = /^https?:\/\//i.test(prefix);
  if (!isFull && /^[a-z][a-z\d+.-]*:/i.test(prefix)) return undefined;
  // The address of a `srcdoc` has no origin: there, the browser resolves the prefix.
  if (!isFull && !/^http/.test(href)) return prefix;
  try {
    // Joined by hand, because `new URL` would apply the page's `<base>`.
    const url = new URL(isFull ? prefix : prefix.startsWith("/") ? origin + prefix : new URL(".", href).href + prefix);
    return url.username || url.password ? undefined : url.href.replace(/\/+$/, "");
  } catch {
    return undefined;
  }
}

/** Returns a language tag as the service accepts it (BCP 47). Many pages write `_`, as Java does. */
export function tagOf(text: string): string | undefined {
  const tag = text.trim().replace(/_/g, "-");
  return /^(?=.{2,35}$)([a-z]{2,8}|x(?=-))(-[a-z\d]{1,8})*$/i.test(tag) ? tag : undefined;
}

/** Returns the address of the contact link; `undefined` for an invalid one. */
export function contactOf(text: string): string | undefined {
  if (!/^(https:\/\/|mailto:|tel:)[^\s]+$/i.test(text)) return undefined;
  try {
    return new URL(text).href;
  } catch {
    return undefined;
  }
}

export function isSelector(text: string): boolean {
  try {
    globalThis.document?.createDocumentFragment().querySelector(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns a token's name, also from `--cw-name` and from camel case. */
const tokenOf = (name: string) =>
  name
    .trim()
    .replace(/^--cw-/, "")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** One of some words; the first is the default. */
function choice({ noun, words, synonyms = {} }: Rule): Check {
  const choices = words!.split(" ");
  return {
    expected: `one of ${choices.join(", ")}`,
    noun: noun!,
    default: choices[0],
    test: (value) => choices.includes(value as string),
    coerce: (text) => {
      const word = text
        .trim()
        .toLowerCase()
        .replace(/[\s_-]+/g, "_");
      return choices.includes(word) ? word : new Map(Object.entries(synonyms)).get(word);
    },
  };
}

/** The kinds of values. */
const KINDS = {
  choice,

  /** A choice of the sides of a line, which are also written as those of the screen. */
  side: (rule: Rule): Check => ({
    ...choice(rule),
    coerce: (text, isRightToLeft) => {
      const word = text
        .trim()
        .toLowerCase()
        .replace(/^(bottom|inline)?[\s_-]*/, "");
      if (word === "end" || word === "start") return word;
      if (word !== "left" && word !== "right") return undefined;
      return (word === "right") === isRightToLeft ? "start" : "end";
    },
  }),

  switch: (): Check => ({
    expected: "true or false",
    noun: "true or false",
    default: "true",
    json: true,
    test: (value) => typeof value === "boolean",
    coerce: (text) => {
      const word = text.trim().toLowerCase();
      return YES.includes(word) ? true : NO.includes(word) ? false : undefined;
    },
  }),

  text: ({ noun = "a string", max }: Rule): Check => ({
    expected: max ? `a string of at most ${max} characters` : "a string",
    noun,
    test: (value) => isText(value) && !(value.length > max!),
  }),

  /** A text that fits into a header, or a function. Only the service can tell whether a token is valid. */
  token: (): Check => ({
    expected: "a string without spaces, or a function that returns one",
    noun: "a token",
    secret: true,
    test: (value) => (isText(value) && /^[!-~]*$/.test(value)) || typeof value === "function",
  }),

  /** A list of texts that are not empty. */
  texts: ({ noun, one, max, length }: Rule): Check => ({
    expected: `an array of at most ${max} strings, each of 1 to ${length} characters`,
    noun: noun!,
    json: true,
    test: (value) => Array.isArray(value) && value.length <= max!,
    parse: (value, path, refuse) =>
      [...(value as unknown[])].filter((text, index) => {
        const fits = isText(text) && text !== "" && text.length <= length!;
        return fits || refuse(`${path}.${index}`, text, `a string of 1 to ${length} characters`, one);
      }),
  }),

  integer: ({ noun, max }: Rule): Check => ({
    expected: `a whole number within ±${max}`,
    noun: noun!,
    json: true,
    test: (value) => Number.isInteger(value) && isNumber(value, -max!, max!),
  }),

  proxy: (): Check => ({
    expected:
      'a prefix on this site, such as "/connector", or an address in full, such as "https://api.example/connector"',
    noun: "a prefix of the proxy",
    test: (value) => isText(value) && addressOf(value) !== undefined,
    parse: (value) => addressOf(value as string),
    coerce: (text) => addressOf(text.trim()),
  }),

  tokens: ({ max }: Rule): Check =>
    members(
      'an object such as {"accent": "#0a66c2"}',
      (name, value, path, refuse) => {
        if (!TOKENS.split(" ").includes(name))
          return refuse(path, value, "the name of a token of docs/themes.md", "a token");
        // The widget derives a theme from it, which needs a colour.
        if (name === "accent" && isText(value) && value[0] === "#" && !/^#([\da-f]{3}){1,2}$/i.test(value)) {
          return refuse(path, value, "#rgb or #rrggbb", "a colour");
        }
        const fits = isText(value) && value.trim() !== "" && value.length <= max! && !/[;{}]/.test(value);
        return fits ? value : refuse(path, value, "a value of CSS, as a string", "a value of CSS");
      },
      tokenOf,
    ),

  locale: ({ max }: Rule): Check => ({
    expected: `a language tag (BCP 47) of at most ${max} characters, such as "de" or "en-US"`,
    noun: "a language tag",
    default: "the page's language",
    test: (value) => isText(value) && (value === "" || tagOf(value) !== undefined),
    parse: (value) => tagOf(value as string),
  }),

  strings: (): Check =>
    members('an object such as {"send": "Go"}', (_, value, path, refuse) => {
      if (isText(value)) return value;
      if (!isObject(value)) return refuse(path, value, "a string, or the forms of a plural as an object", "a text");
      const forms = Object.entries(value).filter(([, form]) => form != null);
      const taken = forms.filter(
        ([form, text]) => isText(text) || refuse(`${path}.${form}`, text, "a string", "a text"),
      );
      return Object.assign(Object.create(null), Object.fromEntries(taken));
    }),

  offset: ({ max }: Rule): Check => ({
    ...members('an object such as {"x": 40, "y": 20}, in pixels', (name, value, path, refuse) => {
      if (name !== "x" && name !== "y") return refuse(path, value, "x or y", "a side");
      return isNumber(value, 0, max!)
        ? value
        : refuse(path, value, `a number from 0 to ${max}`, "a distance in pixels", "20");
    }),
    default: "20",
  }),

  launcher: (): Check => ({
    expected: "default, none or a selector of the page's own buttons",
    noun: "a selector",
    default: "default",
    test: (value) => isText(value) && value !== "" && isSelector(value),
    coerce: (text) => {
      const word = text.trim().toLowerCase();
      return YES.includes(word) || word === "default"
        ? "default"
        : NO.includes(word) || word === "none"
          ? "none"
          : undefined;
    },
  }),

  container: (): Check => ({
    expected: "an element of the page or the selector of one",
    noun: "a selector",
    test: (value) =>
      isText(value) ? value !== "" && isSelector(value) : (value as Partial<Node> | null)?.nodeType === 1,
  }),

  visitor: ({ words }: Rule): Check => {
    const names = words!.split(" ");
    return members('an object such as {"name": "Ann", "email": "ann@shop.example"}', (name, value, path, refuse) => {
      if (!names.includes(name)) return refuse(path, value, `one of ${names.join(", ")}`, "a field of the visitor");
      return isText(value) ? value : refuse(path, value, "a string", "a string");
    });
  },

  greeting: ({ max }: Rule): Check => ({
    expected: `a string, or an object such as {"text": "Any questions?", "after": 8}, with at most ${max} seconds`,
    noun: "a greeting",
    test: (value) => isText(value) || (isObject(value) && Object.hasOwn(value, "text") && isText(value["text"])),
    parse: (value, path, refuse) => {
      if (isText(value)) return value;
      const { text, after } = Object.assign(Object.create(null), value) as Record<string, unknown>;
      if (after == null) return Object.assign(Object.create(null), { text });
      if (!isNumber(after, 0, max!)) {
        refuse(`${path}.after`, after, `a number of seconds from 0 to ${max}`, "a number of seconds", "8");
        return Object.assign(Object.create(null), { text });
      }
      return Object.assign(Object.create(null), { text, after });
    },
  }),

  contact: (): Check => ({
    expected: "an address that begins with https://, mailto: or tel:",
    noun: "an address to turn to",
    test: (value) => isText(value) && (value === "" || contactOf(value) !== undefined),
    coerce: (text) => contactOf(text.trim()),
  }),
};

/** Returns all options, by their names. */
function makeTable(): Record<Name, Row> {
  const rows = Object.entries(OPTION_RULES).map(([name, given]) => {
    const rule = nullProto(given);
    return [name, nullProto({ ...rule, ...KINDS[rule.kind](rule) })];
  });
  return Object.fromEntries(rows) as Record<Name, Row>;
}

/** All options, by their names. */
export const TABLE = /* @__PURE__ */ makeTable();
