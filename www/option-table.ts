// The option table: of each option what a page may write, what is used in place of something else, and what is taken
// although it is written differently. The check of options, the attributes, `diagnose()` and the tests of the docs read it.

import type { ChatWidgetOptions } from "./options.js";

// Filled in by the build: the names of all tokens without `--cw-`, with spaces between.
declare const TOKENS: string;

/**
 * Is told of a value that cannot be used, by its place, such as `visitor.email`, and what it should be. It throws, or
 * gives `undefined`, with which the value is left out.
 */
export type Refuse = (path: string, value: unknown, expected: string, noun?: string, instead?: string) => undefined;

/** One option. */
export interface Row {
  /** What a page may write, in words. */
  expected: string;
  /** The kind of value, for "is not …". */
  noun: string;
  /** What is used in place of a value that cannot be, in words; without it, the option is left out. */
  instead?: string;
  /** That value, where leaving the option out would be something else. */
  substitute?: unknown;
  /** Attributes hold JSON. */
  json?: true;
  /**
   * Pattern of the values that are right without a look into this table, as text, or as JSON if they are no text. The
   * module has these patterns, and loads the table for other values and options alone. Options have one that most pages
   * use, and that bring no file of their own.
   */
  plain?: { text?: string; json?: string };
  /** Whether the value can be used as it is. */
  test(value: unknown): boolean;
  /** Reads a value whose members are looked at one by one. */
  read?(value: unknown, path: string, refuse: Refuse): unknown;
  /** Reads what is written differently: other case, synonyms. */
  loosen?(text: string, isRightToLeft: boolean): unknown;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown, least: number, most: number): boolean =>
  typeof value === "number" && value >= least && value <= most;
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

/** One of some words; the first is used in place of another. */
function choice(noun: string, words: string, synonyms: Record<string, string> = {}): Row {
  const choices = words.split(" ");
  return {
    expected: `one of ${choices.join(", ")}`,
    noun,
    instead: choices[0]!,
    test: (value) => choices.includes(value as string),
    loosen: (text) => {
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

const SWITCH: Row = {
  expected: "true or false",
  noun: "true or false",
  instead: "true",
  json: true,
  test: (value) => typeof value === "boolean",
  loosen: (text) => {
    const word = text.trim().toLowerCase();
    return YES.includes(word) ? true : NO.includes(word) ? false : undefined;
  },
};

const TEXT: Row = { expected: "a string", noun: "a string", plain: { text: "[^{][^]*" }, test: isText };

/** An object of which each member is looked at, and may be known by a name that is written differently. */
function members(
  expected: string,
  read: (name: string, value: unknown, path: string, refuse: Refuse) => unknown,
  nameOf = (given: string) => given,
): Row {
  return {
    expected,
    noun: "an object",
    json: true,
    test: isObject,
    read: (value, path, refuse) => {
      const result: Record<string, unknown> = Object.create(null);
      for (const [name, member] of Object.entries(value as object)) {
        if (member == null) continue;
        const taken = read(nameOf(name), member, `${path}.${name}`, refuse);
        if (taken !== undefined) result[nameOf(name)] = taken;
      }
      return result;
    },
  };
}

/** A proxy's prefix as a full address: of the page's own origin, unless it names another one. */
export function addressOf(prefix: string): string | undefined {
  if (/[?#\\\s]|^$|^\/\//.test(prefix)) return undefined;
  const { href = "", origin = "" } = globalThis.location ?? {};
  const isFull = /^https?:\/\//i.test(prefix);
  if (!isFull && /^[a-z][a-z\d+.-]*:/i.test(prefix)) return undefined;
  // The address of a `srcdoc` names no origin: there, the browser finds it.
  if (!isFull && !/^http/.test(href)) return prefix;
  try {
    // Joined by hand, because a `<base>` of the page's would count otherwise.
    const url = new URL(isFull ? prefix : prefix.startsWith("/") ? origin + prefix : new URL(".", href).href + prefix);
    return url.username || url.password ? undefined : url.href.replace(/\/+$/, "");
  } catch {
    return undefined;
  }
}

/** BCP 47 as the service takes it. Many pages write it as Java does, with `_`. */
export function tagOf(text: string): string | undefined {
  const tag = text.trim().replace(/_/g, "-");
  return /^(?=.{2,35}$)([a-z]{2,8}|x(?=-))(-[a-z\d]{1,8})*$/i.test(tag) ? tag : undefined;
}

/** An address that the contact link may have. */
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

/** A token's name, also as the style sheet has it, or as JavaScript would write it. */
const tokenOf = (name: string) =>
  name
    .trim()
    .replace(/^--cw-/, "")
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** All options, by their names; `load` is the script tag's alone. */
export const TABLE: Record<keyof ChatWidgetOptions | "load", Row> = {
  proxy: {
    expected:
      'a prefix on this site, such as "/connector", or an address in full, such as "https://api.example/connector"',
    noun: "a prefix of the proxy",
    plain: { text: "(\\/[\\w-]+)+" },
    test: (value) => isText(value) && addressOf(value) !== undefined,
    read: (value) => addressOf(value as string),
    loosen: (text) => addressOf(text.trim()),
  },
  theme: {
    ...choice(
      "a theme",
      "teal blue emerald violet amber rose slate light_teal light_blue light_amber light_rose custom",
    ),
    plain: { text: "(light_)?(teal|blue|amber|rose)|emerald|violet|slate|custom" },
  },
  themeTokens: members(
    'an object such as {"accent": "#0a66c2"}',
    (name, value, path, refuse) => {
      if (!TOKENS.split(" ").includes(name))
        return refuse(path, value, "the name of a token of docs/themes.md", "a token");
      // The widget derives a theme from it, which wants a colour.
      if (name === "accent" && isText(value) && value[0] === "#" && !/^#([\da-f]{3}){1,2}$/i.test(value)) {
        return refuse(path, value, "#rgb or #rrggbb", "a colour");
      }
      const fits = isText(value) && value.trim() !== "" && value.length <= MAX_TOKEN && !/[;{}]/.test(value);
      return fits ? value : refuse(path, value, "a value of CSS, as a string", "a value of CSS");
    },
    tokenOf,
  ),
  colorScheme: {
    ...choice("a color scheme", "theme auto light dark", { system: "auto" }),
    plain: { text: "theme|auto|light|dark" },
  },
  locale: {
    expected: 'a language tag (BCP 47) of at most 35 characters, such as "de" or "en-US"',
    noun: "a language tag",
    instead: "the page's language",
    plain: { text: "[a-z]{2}(-[A-Z]{2})?" },
    test: (value) => isText(value) && (value === "" || tagOf(value) !== undefined),
    read: (value) => tagOf(value as string),
  },
  strings: members('an object such as {"send": "Go"}', (_, value, path, refuse) => {
    if (isText(value)) return value;
    if (!isObject(value)) return refuse(path, value, "a string, or the forms of a plural as an object", "a text");
    const forms = Object.entries(value).filter(([, form]) => form != null);
    const taken = forms.filter(([form, text]) => isText(text) || refuse(`${path}.${form}`, text, "a string", "a text"));
    return Object.assign(Object.create(null), Object.fromEntries(taken));
  }),
  suggestedQuestions: {
    expected: `an array of at most ${MAX_QUESTIONS} strings, each of 1 to ${MAX_QUESTION} characters`,
    noun: "a list of questions",
    json: true,
    plain: { json: '\\[("[^"\\\\]{1,200}",? ?){0,9}\\]' },
    test: (value) => Array.isArray(value) && value.length <= MAX_QUESTIONS,
    read: (value, path, refuse) =>
      [...(value as unknown[])].filter((text, index) => {
        const fits = isText(text) && text !== "" && text.length <= MAX_QUESTION;
        return fits || refuse(`${path}.${index}`, text, `a string of 1 to ${MAX_QUESTION} characters`, "a question");
      }),
  },
  position: {
    ...choice("a position", "end start"),
    plain: { text: "end|start" },
    loosen: (text, isRightToLeft) => {
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
    ...members('an object such as {"x": 40, "y": 20}, in pixels', (name, value, path, refuse) => {
      if (name !== "x" && name !== "y") return refuse(path, value, "x or y", "a side");
      return isNumber(value, 0, MAX_OFFSET_PX)
        ? value
        : refuse(path, value, `a number from 0 to ${MAX_OFFSET_PX}`, "a distance in pixels", "20");
    }),
    instead: "20",
  },
  zIndex: {
    expected: `a whole number within ±${MAX_Z_INDEX}`,
    noun: "a layer",
    instead: "2147483000",
    json: true,
    test: (value) => Number.isInteger(value) && isNumber(value, -MAX_Z_INDEX, MAX_Z_INDEX),
  },
  launcher: {
    expected: "default, none or a selector of the page's own buttons",
    noun: "a selector",
    instead: "default",
    test: (value) => isText(value) && value !== "" && isSelector(value),
    loosen: (text) => {
      const word = text.trim().toLowerCase();
      return YES.includes(word) || word === "default"
        ? "default"
        : NO.includes(word) || word === "none"
          ? "none"
          : undefined;
    },
  },
  container: {
    expected: "an element of the page or the selector of one",
    noun: "a selector",
    instead: "a window that floats",
    test: (value) =>
      isText(value) ? value !== "" && isSelector(value) : (value as Partial<Node> | null)?.nodeType === 1,
  },
  isolate: SWITCH,
  visitor: members('an object such as {"name": "Ann", "email": "ann@shop.example"}', (name, value, path, refuse) => {
    if (!VISITOR.includes(name)) return refuse(path, value, `one of ${VISITOR.join(", ")}`, "a field of the visitor");
    return isText(value) ? value : refuse(path, value, "a string", "a string");
  }),
  customerId: {
    expected: `a string of at most ${MAX_CUSTOMER_ID} characters`,
    noun: "a customer's id",
    test: (value) => isText(value) && value.length <= MAX_CUSTOMER_ID,
  },
  events: choice("a mode of reporting", "auto manual off", {
    none: "off",
    false: "off",
    no: "off",
    0: "off",
    true: "auto",
    yes: "auto",
    1: "auto",
    on: "auto",
  }),
  // A page that writes it wants visitors to be asked: what it means must not be guessed at their expense.
  consent: { ...choice("a state of consent", "granted required"), instead: "required", substitute: "required" },
  operatorName: TEXT,
  greeting: {
    expected: `a string, or an object such as {"text": "Any questions?", "after": 8}, with at most ${MAX_GREETING_AFTER} seconds`,
    noun: "a greeting",
    plain: { text: "[^{][^]*" },
    test: (value) => isText(value) || (isObject(value) && Object.hasOwn(value, "text") && isText(value["text"])),
    read: (value, path, refuse) => {
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
  preview: SWITCH,
  titleAlert: SWITCH,
  contact: {
    expected: "an address that begins with https://, mailto: or tel:",
    noun: "an address to turn to",
    test: (value) => isText(value) && (value === "" || contactOf(value) !== undefined),
    loosen: (text) => contactOf(text.trim()),
  },
  replyTime: TEXT,
  load: { ...choice("a time to load", "idle intent eager"), plain: { text: "idle|intent|eager" } },
};
