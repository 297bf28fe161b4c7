// The choices made in the playground: a map from the names of fields to their texts, which is written into the address,
// and the options that it makes.

import { OPTIONS } from "./options.js";

const COLOUR = /^#[0-9a-f]{6}$/i;

/** Returns the names of an option's fields: `locale`, `visitor.email`, `themeTokens.accent`. */
export function fieldsOf({ name, kind, fields = [], colours = [] }) {
  const own = kind === "fields" ? [] : [name];
  return [...own, ...[...fields, ...colours].map((field) => `${name}.${field.name}`)];
}

/** The names of all fields. */
export const NAMES = OPTIONS.flatMap(fieldsOf);

/** Parses the chosen fields of an address. Unknown names are ignored. */
export function chosenIn(search) {
  const query = new URLSearchParams(search);
  return new Map(NAMES.filter((name) => query.get(name)).map((name) => [name, query.get(name)]));
}

/** Returns the address's parameters for these fields, in the order of the options. */
export function parametersOf(chosen) {
  return new URLSearchParams(NAMES.filter((name) => chosen.get(name)).map((name) => [name, chosen.get(name)]));
}

/** Returns the chosen options, `proxy` first. Those that have their default value are left out. */
export function optionsOf(chosen) {
  const options = { proxy: chosen.get("proxy") || "/connector" };
  for (const option of OPTIONS) {
    if (option.name === "proxy") continue;
    const value = optionValue(option, chosen);
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(option.default)) options[option.name] = value;
  }
  return options;
}

/** Returns the value of one option, or `undefined` for one that was not chosen or is invalid. */
function optionValue(option, chosen) {
  const { name, kind, values } = option;
  const text = chosen.get(name) ?? "";
  switch (kind) {
    case "choice":
      return values.some(([value]) => value === text) ? text : undefined;
    case "flag":
      return text === "" ? undefined : text === "true";
    case "number":
      return numberOf(text);
    case "lines":
      return linesOf(text);
    case "pairs":
      return { ...coloursOf(option, chosen), ...pairsOf(text) };
    case "fields":
      return name === "greeting" ? greetingOf(chosen) : objectOf(option, chosen);
    default:
      return text;
  }
}

function numberOf(text = "") {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

function linesOf(text) {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Parses `name=value` lines into an object; `name.form=value` makes an object of forms. */
function pairsOf(text) {
  const pairs = {};
  for (const line of linesOf(text)) {
    const [, name, form, value] = line.match(/^([\w-]+)(?:\.(\w+))?\s*=\s*(.*)$/) ?? [];
    if (!name) continue;
    if (form) pairs[name] = { ...pairs[name], [form]: value };
    else pairs[name] = value;
  }
  return pairs;
}

/** Returns the colours of the theme `custom`. */
function coloursOf({ name, colours = [] }, chosen) {
  if (chosen.get("theme") !== "custom") return {};
  const chosenOnes = colours.map((colour) => [colour.name, chosen.get(`${name}.${colour.name}`) ?? colour.sample]);
  return Object.fromEntries(chosenOnes.filter(([, colour]) => COLOUR.test(colour)));
}

function objectOf({ name, fields }, chosen) {
  const pairs = fields.map((field) => {
    const text = chosen.get(`${name}.${field.name}`);
    return [field.name, field.kind === "number" ? numberOf(text) : text || undefined];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** Returns a greeting: its text alone when no time was chosen. */
function greetingOf(chosen) {
  const text = chosen.get("greeting.text");
  const after = numberOf(chosen.get("greeting.after"));
  if (!text) return undefined;
  return after === undefined ? text : { text, after };
}
