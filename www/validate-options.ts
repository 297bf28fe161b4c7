// Reads a page's options by the option table. From code, a wrong one is refused; as an attribute, it costs that option
// alone, with one warning. It is loaded for options that are not plainly right.

import { RIGHT_TO_LEFT } from "./direction.js";
import { localeOf } from "./locale.js";
import { attributeOf } from "./option-names.js";
import { type Refuse, type Row, TABLE } from "./option-table.js";
import type { ReadOptions } from "./plain.js";

type Name = keyof typeof TABLE;

/** Options for which `host-page.ts` is loaded. */
const PAGE_OPTIONS: readonly Name[] = ["container", "isolate", "launcher", "offset", "themeTokens", "zIndex"];

/** Warnings that are in the console already. */
const warned = new Set<string>();

function warn(message: string): void {
  if (!warned.has(message)) console.warn(message);
  warned.add(message);
}

/**
 * The options that can be used, in an object that inherits nothing. An option that was given and is not there any more is
 * `undefined`.
 *
 * Without `prefix` they are a page's code, and a `TypeError` says what the first wrong one may be. With it they are
 * attributes with that prefix, `data-` or none, and properties of an element: a wrong one is left out, with a warning.
 */
export default function validateOptions(given: object, prefix?: string): ReadOptions {
  return prefix === undefined ? read(given, refuseStrictly) : readAttributes(given, prefix, warn);
}

/** What of some options can be used where the chat cannot run, and so has no proxy: quietly, as often as is needed. */
export function readQuietly(given: object): ReadOptions {
  return readAttributes({ ...given, proxy: "/" }, "", () => {});
}

/** Reads attributes, and tells of each that cannot be used. Throws for a proxy that cannot. */
export function readAttributes(given: object, prefix: string, tell: (message: string) => void): ReadOptions {
  const refuse: Refuse = (path, value, expected, noun = "of use", instead) => {
    const [name = "", ...rest] = path.split(".");
    const shown = typeof value === "string" && rest.length === 0 ? `"${clip(value)}"` : show(value);
    const used = instead === undefined ? "it is left out" : `using ${instead}`;
    tell(
      `chat widget: ${[prefix + attributeOf(name), ...rest].join(".")}=${shown} is not ${noun}; expected ${expected}; ${used}`,
    );
    return undefined;
  };
  return read(given, refuse, true);
}

const refuseStrictly: Refuse = (path, value, expected) => {
  throw new TypeError(`chat widget: the option ${path} must be ${expected}, not ${show(value)}`);
};

function read(given: object, refuse: Refuse, isLoose = false): ReadOptions {
  const options: Record<string, unknown> = Object.create(null);
  const own: Record<string, unknown> = Object.assign(Object.create(null), given);
  for (const name of Object.keys(TABLE) as Name[]) {
    if (!Object.hasOwn(own, name)) continue;
    const row = TABLE[name];
    let value = own[name];
    options[name] = undefined;
    // What a template left empty was not given.
    if (value == null || (isLoose && value === "" && row.loosen?.("", false) === undefined)) continue;
    if (isLoose && typeof value === "string") value = readText(name, row, value, own["locale"]);
    // Without a proxy there is no chat to go on with.
    options[name] = readValue(name, row, value, name === "proxy" ? refuseStrictly : refuse);
    if (isLoose && options[name] === undefined) options[name] = row.substitute;
    if (
      isLoose &&
      name === "container" &&
      typeof value === "string" &&
      options[name] &&
      !document.querySelector(value)
    ) {
      options[name] = refuse(name, value, row.expected, "on this page", row.instead);
    }
  }
  if (Object.hasOwn(own, "proxy") && !options["proxy"]) refuseStrictly("proxy", own["proxy"], TABLE.proxy.expected);
  if (PAGE_OPTIONS.some((name) => options[name] !== undefined)) options["page"] = true;
  return options as unknown as ReadOptions;
}

/** The value that an attribute's text says; the text itself where it says none. */
function readText(name: Name, row: Row, text: string, locale: unknown): unknown {
  const loosened = row.loosen?.(text, RIGHT_TO_LEFT.test(localeOf(typeof locale === "string" ? locale : "")));
  if (loosened !== undefined) return loosened;
  // A greeting may be words as well.
  if (!row.json && !(name === "greeting" && /^\s*\{/.test(text))) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function readValue(name: Name, row: Row, value: unknown, refuse: Refuse): unknown {
  try {
    if (row.test(value)) return row.read ? row.read(value, name, refuse) : value;
  } catch (error) {
    // A getter of the page's own may throw anything.
    if (String(error).includes("chat widget: the option")) throw error;
  }
  return refuse(name, value, row.expected, row.noun, row.instead);
}

/** A value as it is written, as far as it can be. */
function show(value: unknown): string {
  try {
    return clip(JSON.stringify(value) ?? String(value));
  } catch {
    return `a value of the type ${typeof value}`;
  }
}

const clip = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
