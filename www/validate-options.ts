// Validates a page's options by their checks. From code, an invalid one throws; as an attribute, it is left out with one
// warning. The file is loaded for options that `parse-options.ts` does not accept.

import { attributeOf } from "./attribute-name.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import { localeOf } from "./locale.js";
import { type Refuse, type Row, TABLE } from "./option-checks.js";
import type { ParsedOptions } from "./parse-options.js";

type Name = keyof typeof TABLE;

/** The warnings that are in the console already. */
const warned = new Set<string>();

function warn(message: string): void {
  if (!warned.has(message)) console.warn(message);
  warned.add(message);
}

/**
 * Returns the valid options, in an object that inherits nothing. An option that was given and is left out is `undefined`.
 *
 * Without `prefix` they come from a page's code, and a `TypeError` says which one is invalid. With it they are attributes
 * with that prefix, `data-` or none, or properties of an element: an invalid one is left out with a warning.
 */
export default function validateOptions(given: object, prefix?: string): ParsedOptions {
  return prefix === undefined ? parse(given, refuseStrictly) : parseAttributes(given, prefix, warn);
}

/** Returns the valid options of a widget that cannot run, without a proxy and without warnings. */
export function parseQuietly(given: object): ParsedOptions {
  return parseAttributes({ ...given, proxy: "/" }, "", () => {});
}

/** Parses attributes, and reports each invalid one. Throws for an invalid proxy. */
export function parseAttributes(given: object, prefix: string, report: (message: string) => void): ParsedOptions {
  const refuse: Refuse = (path, value, expected, noun = "of use", instead) => {
    const [name = "", ...rest] = path.split(".");
    const shown = typeof value === "string" && rest.length === 0 ? `"${clip(value)}"` : show(value);
    const used = instead === undefined ? "it is left out" : `using ${instead}`;
    report(
      `chat widget: ${[prefix + attributeOf(name), ...rest].join(".")}=${shown} is not ${noun}; expected ${expected}; ${used}`,
    );
    return undefined;
  };
  return parse(given, refuse, true);
}

const refuseStrictly: Refuse = (path, value, expected) => {
  throw new TypeError(`chat widget: the option ${path} must be ${expected}, not ${show(value)}`);
};

function parse(given: object, refuse: Refuse, isLoose = false): ParsedOptions {
  const options: Record<string, unknown> = Object.create(null);
  const own: Record<string, unknown> = Object.assign(Object.create(null), given);
  const names = Object.keys(TABLE) as Name[];
  for (const name of names) {
    if (!Object.hasOwn(own, name)) continue;
    const row = TABLE[name];
    let value = own[name];
    options[name] = undefined;
    // An attribute that a template left empty is not set.
    if (value == null || (isLoose && value === "" && row.coerce?.("", false) === undefined)) continue;
    if (isLoose && typeof value === "string") value = parseText(name, row, value, own["locale"]);
    // Without a proxy there is no chat.
    options[name] = parseValue(name, row, value, name === "proxy" ? refuseStrictly : refuse);
    if (isLoose && options[name] === undefined) options[name] = row.substitute;
    const isSelector = isLoose && name === "container" && typeof value === "string" && options[name];
    if (isSelector && !document.querySelector(value as string)) {
      options[name] = refuse(name, value, row.expected, "on this page", row.instead);
    }
  }
  if (Object.hasOwn(own, "proxy") && !options["proxy"]) refuseStrictly("proxy", own["proxy"], TABLE.proxy.expected);
  if (names.some((name) => TABLE[name].hostPage && options[name] !== undefined)) options["page"] = true;
  return options as unknown as ParsedOptions;
}

/** Returns the value of an attribute's text; the text itself where it has no other. */
function parseText(name: Name, row: Row, text: string, locale: unknown): unknown {
  const coerced = row.coerce?.(text, RIGHT_TO_LEFT.test(localeOf(typeof locale === "string" ? locale : "")));
  if (coerced !== undefined) return coerced;
  // A greeting is text or JSON.
  if (!row.json && !(name === "greeting" && /^\s*\{/.test(text))) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function parseValue(name: Name, row: Row, value: unknown, refuse: Refuse): unknown {
  try {
    if (row.test(value)) return row.parse ? row.parse(value, name, refuse) : value;
  } catch (error) {
    // A getter of the page's own may throw anything.
    if (String(error).includes("chat widget: the option")) throw error;
  }
  const shown = row.secret ? `a value of the type ${typeof value}` : value;
  return refuse(name, shown, row.expected, row.noun, row.instead ?? row.default);
}

/** Returns a value as it is written, as far as it can be. */
function show(value: unknown): string {
  try {
    return clip(JSON.stringify(value) ?? String(value));
  } catch {
    return `a value of the type ${typeof value}`;
  }
}

const clip = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
