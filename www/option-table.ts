// The option table: for each option the valid values, the default, the effect of a change, and the other spellings that
// are accepted. The validation, the attributes, `update()`, `diagnose()` and the docs are made from it or held to it by
// `tests/unit/option-lists.test.mjs`.

import type { ChatWidgetOptions } from "./options.js";

// Filled in by the build: the names of all tokens without `--cw-`, with spaces between.
declare const TOKENS: string;

/**
 * Reports an invalid value by its path, such as `visitor.email`, with the expected one. It throws, or returns `undefined`
 * for the value to be left out.
 */
export type Refuse = (path: string, value: unknown, expected: string, noun?: string, instead?: string) => undefined;

/**
 * The effect of a change on a mounted widget: `mount` needs another widget, `redraw` renders the widget again, `live` applies
 * to what is there. `load` is for the script tag alone, before there is a widget.
 */
export type Effect = "mount" | "redraw" | "live" | "load";

/** The check of a kind of value. */
interface Kind {
  /** The valid values, in words. */
  expected: string;
  /** The kind of value, for "is not …". */
  noun: string;
  /** The default, in words; without one, the option is off. */
  default?: string;
  /** The value in place of an invalid one, in words, if it is not the default. */
  instead?: string;
  /** The value in place of an invalid one, if it is not the default. */
  substitute?: unknown;
  /** Attributes hold JSON. */
  json?: true;
  /**
   * The pattern of values that are valid without this table, as text, or as JSON if they are no text. The module has these
   * patterns, and loads the table for other values and options. The options with a pattern are those that most pages use
   * and that need no file.
   */
  plain?: { text?: string; json?: string };
  /** Returns whether the value is valid. */
  test(value: unknown): boolean;
  /** Parses a value whose members are checked one by one. */
  parse?(value: unknown, path: string, refuse: Refuse): unknown;
  /** Parses another spelling: other case, synonyms. */
  coerce?(text: string, isRightToLeft: boolean): unknown;
}

/** One option. */
export interface Row extends Kind {
  effect: Effect;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown, min: number, max: number): boolean =>
  typeof value === "number" && value >= min && value <= max;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The largest integer of CSS. */
const MAX_Z_INDEX = 2_147_483_647;
const MAX_OFFSET_PX = 10_000;
const MAX_QUESTIONS = 20;
/** Maximum characters of a message: a question is sent as one. */
const MAX_QUESTION = 4000;
const MAX_CUSTOMER_ID = 200;
/** A day, in seconds. */
const MAX_GREETING_AFTER = 86_400;
const MAX_TOKEN = 500;

/** One of some words; the first is the default. */
function choice(noun: string, words: string, synonyms: Record<string, string> = {}): Kind {
  const choices = words.split(" ");
  return {
    expected: `one of ${choices.join(", ")}`,
    noun,
    default: choices[0]!,
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

const YES = ["", "true", "1", "yes", "on"];
const NO = ["false", "0", "no", "off"];

const SWITCH: Kind = {
  expected: "true or false",
  noun: "true or false",
  default: "true",
  json: true,
  test: (value) => typeof value === "boolean",
  coerce: (text) => {
    const word = text.trim().toLowerCase();
    return YES.includes(word) ? true : NO.includes(word) ? false : undefined;
  },
};

const TEXT: Kind = { expected: "a string", noun: "a string", plain: { text: "[^{][^]*" }, test: isText };

/** An object whose members are checked one by one. `nameOf` accepts other spellings of a member's name. */
function members(
  expected: string,
  parse: (name: string, value: unknown, path: string, refuse: Refuse) => unknown,
  nameOf = (given: string) => given,
): Kind {
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

const VISITOR = "visitorId name email phone company wechat whatsapp country".split(" ");

/** Returns a token's name, also from `--cw-name` and from camel case. */
const tokenOf = (name: string) =>
  name
    .trim()
    .replace(/^--cw-/, "")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** All options, by their names. */
export const TABLE: Record<keyof ChatWidgetOptions | "load", Row> = {
  proxy: {
    effect: "mount",
    expected:
      'a prefix on this site, such as "/connector", or an address in full, such as "https://api.example/connector"',
    noun: "a prefix of the proxy",
    plain: { text: "(\\/[\\w-]+)+" },
    test: (value) => isText(value) && addressOf(value) !== undefined,
    parse: (value) => addressOf(value as string),
    coerce: (text) => addressOf(text.trim()),
  },
  theme: {
    effect: "live",
    ...choice(
      "a theme",
      "teal blue emerald violet amber rose slate light_teal light_blue light_amber light_rose custom",
    ),
    plain: { text: "(light_)?(teal|blue|amber|rose)|emerald|violet|slate|custom" },
  },
  themeTokens: {
    effect: "live",
    ...members(
      'an object such as {"accent": "#0a66c2"}',
      (name, value, path, refuse) => {
        if (!TOKENS.split(" ").includes(name))
          return refuse(path, value, "the name of a token of docs/themes.md", "a token");
        // The widget derives a theme from it, which needs a colour.
        if (name === "accent" && isText(value) && value[0] === "#" && !/^#([\da-f]{3}){1,2}$/i.test(value)) {
          return refuse(path, value, "#rgb or #rrggbb", "a colour");
        }
        const fits = isText(value) && value.trim() !== "" && value.length <= MAX_TOKEN && !/[;{}]/.test(value);
        return fits ? value : refuse(path, value, "a value of CSS, as a string", "a value of CSS");
      },
      tokenOf,
    ),
  },
  colorScheme: {
    effect: "redraw",
    ...choice("a color scheme", "theme auto light dark", { system: "auto" }),
    plain: { text: "theme|auto|light|dark" },
  },
  locale: {
    effect: "redraw",
    expected: 'a language tag (BCP 47) of at most 35 characters, such as "de" or "en-US"',
    noun: "a language tag",
    default: "the page's language",
    plain: { text: "[a-z]{2}(-[A-Z]{2})?" },
    test: (value) => isText(value) && (value === "" || tagOf(value) !== undefined),
    parse: (value) => tagOf(value as string),
  },
  strings: {
    effect: "redraw",
    ...members('an object such as {"send": "Go"}', (_, value, path, refuse) => {
      if (isText(value)) return value;
      if (!isObject(value)) return refuse(path, value, "a string, or the forms of a plural as an object", "a text");
      const forms = Object.entries(value).filter(([, form]) => form != null);
      const taken = forms.filter(
        ([form, text]) => isText(text) || refuse(`${path}.${form}`, text, "a string", "a text"),
      );
      return Object.assign(Object.create(null), Object.fromEntries(taken));
    }),
  },
  suggestedQuestions: {
    effect: "redraw",
    expected: `an array of at most ${MAX_QUESTIONS} strings, each of 1 to ${MAX_QUESTION} characters`,
    noun: "a list of questions",
    json: true,
    plain: { json: '\\[("[^"\\\\]{1,200}",? ?){0,9}\\]' },
    test: (value) => Array.isArray(value) && value.length <= MAX_QUESTIONS,
    parse: (value, path, refuse) =>
      [...(value as unknown[])].filter((text, index) => {
        const fits = isText(text) && text !== "" && text.length <= MAX_QUESTION;
        return fits || refuse(`${path}.${index}`, text, `a string of 1 to ${MAX_QUESTION} characters`, "a question");
      }),
  },
  position: {
    effect: "redraw",
    ...choice("a position", "end start"),
    plain: { text: "end|start" },
    coerce: (text, isRightToLeft) => {
      const word = text
        .trim()
        .toLowerCase()
        .replace(/^(bottom|inline)?[\s_-]*/, "");
      if (word === "end" || word === "start") return word;
      if (word !== "left" && word !== "right") return undefined;
      return (word === "right") === isRightToLeft ? "start" : "end";
    },
  },
  offset: {
    effect: "live",
    ...members('an object such as {"x": 40, "y": 20}, in pixels', (name, value, path, refuse) => {
      if (name !== "x" && name !== "y") return refuse(path, value, "x or y", "a side");
      return isNumber(value, 0, MAX_OFFSET_PX)
        ? value
        : refuse(path, value, `a number from 0 to ${MAX_OFFSET_PX}`, "a distance in pixels", "20");
    }),
    default: "20",
  },
  zIndex: {
    effect: "live",
    expected: `a whole number within ±${MAX_Z_INDEX}`,
    noun: "a layer",
    instead: "2147483000",
    json: true,
    test: (value) => Number.isInteger(value) && isNumber(value, -MAX_Z_INDEX, MAX_Z_INDEX),
  },
  launcher: {
    effect: "redraw",
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
  },
  container: {
    effect: "mount",
    expected: "an element of the page or the selector of one",
    noun: "a selector",
    instead: "a window that floats",
    test: (value) =>
      isText(value) ? value !== "" && isSelector(value) : (value as Partial<Node> | null)?.nodeType === 1,
  },
  isolate: { effect: "mount", ...SWITCH },
  visitor: {
    effect: "live",
    ...members('an object such as {"name": "Ann", "email": "ann@shop.example"}', (name, value, path, refuse) => {
      if (!VISITOR.includes(name)) return refuse(path, value, `one of ${VISITOR.join(", ")}`, "a field of the visitor");
      return isText(value) ? value : refuse(path, value, "a string", "a string");
    }),
  },
  customerId: {
    effect: "mount",
    expected: `a string of at most ${MAX_CUSTOMER_ID} characters`,
    noun: "a customer's id",
    test: (value) => isText(value) && value.length <= MAX_CUSTOMER_ID,
  },
  events: {
    effect: "mount",
    plain: { text: "auto|manual|off" },
    ...choice("a mode of reporting", "auto manual off", {
      none: "off",
      false: "off",
      no: "off",
      0: "off",
      true: "auto",
      yes: "auto",
      1: "auto",
      on: "auto",
    }),
  },
  // A page that sets it wants visitors to be asked: an invalid value must not be guessed at their expense.
  consent: {
    effect: "mount",
    ...choice("a state of consent", "granted required"),
    instead: "required",
    substitute: "required",
  },
  operatorName: { effect: "redraw", ...TEXT },
  greeting: {
    effect: "redraw",
    expected: `a string, or an object such as {"text": "Any questions?", "after": 8}, with at most ${MAX_GREETING_AFTER} seconds`,
    noun: "a greeting",
    plain: { text: "[^{][^]*" },
    test: (value) => isText(value) || (isObject(value) && Object.hasOwn(value, "text") && isText(value["text"])),
    parse: (value, path, refuse) => {
      if (isText(value)) return value;
      const { text, after } = Object.assign(Object.create(null), value) as Record<string, unknown>;
      if (after == null) return Object.assign(Object.create(null), { text });
      if (!isNumber(after, 0, MAX_GREETING_AFTER)) {
        refuse(
          `${path}.after`,
          after,
          `a number of seconds from 0 to ${MAX_GREETING_AFTER}`,
          "a number of seconds",
          "8",
        );
        return Object.assign(Object.create(null), { text });
      }
      return Object.assign(Object.create(null), { text, after });
    },
  },
  preview: { effect: "redraw", ...SWITCH },
  titleAlert: { effect: "redraw", ...SWITCH },
  contact: {
    effect: "redraw",
    expected: "an address that begins with https://, mailto: or tel:",
    noun: "an address to turn to",
    test: (value) => isText(value) && (value === "" || contactOf(value) !== undefined),
    coerce: (text) => contactOf(text.trim()),
  },
  replyTime: { effect: "redraw", ...TEXT },
  load: { effect: "load", ...choice("a time to load", "idle intent eager"), plain: { text: "idle|intent|eager" } },
};
