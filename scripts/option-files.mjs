// Writes the files that are made from the option table: `npm run options`. `tests/unit/option-files.test.mjs` fails if one
// of them is not current.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { checksOf } from "./options.mjs";
import { Advice, main, root as project, say } from "./setup.mjs";

const WRITTEN = "Written by `npm run options` from `www/option-table.mjs`.";
const RUST_WIDTH = 110;
const WIDTH = 120;

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (name) => name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
const code = (word) => `\`${word}\``;
const wordsOf = ({ check }) => check.words.split(" ");
const isChoice = ({ check }) => ["choice", "side"].includes(check.kind);

/** Returns a text with the numbers of the check in place of their names: `{max}`. */
const fill = (text, { check }) => text.replace(/\{(max|length)\}/g, (_, name) => check[name].toLocaleString("en-US"));

/** What follows from the kind of a check: the type in TypeScript and in Rust, the words of the docs, and the control. */
const OF_KIND = {
  choice: (row) => ({
    type: wordsOf(row)
      .map((word) => JSON.stringify(word))
      .join(" | "),
    docsType: `${wordsOf(row).map(code).join(", ")}; ${code(wordsOf(row)[0])}`,
    default: code(wordsOf(row)[0]),
    control: "choice",
  }),
  switch: () => ({ type: "boolean", docsType: "boolean, true", default: "true", rust: "bool", control: "flag" }),
  text: () => ({ type: "string", docsType: "string", rust: "Option<String>", control: "text" }),
  texts: () => ({ type: "string[]", docsType: "array of strings", rust: "Vec<String>", control: "lines" }),
  integer: () => ({ type: "number", docsType: "whole number", control: "number" }),
};

/** Returns what follows from the kind of an option's check, and nothing for a check of one option. */
const ofKind = (row) => (isChoice(row) ? OF_KIND.choice : (OF_KIND[row.check.kind] ?? (() => ({}))))(row);

/** Returns an option's description: the comment in the types. */
export function describe(row) {
  const standard = ofKind(row).default;
  return fill(row.doc, row) + (standard ? ` Default: ${standard}.` : "");
}

/** Returns an option's type in TypeScript. */
export function typeOf([name, row]) {
  const type = row.type ?? ofKind(row).type;
  if (!type) throw new Advice(`invalid option ${name}: expected its type in TypeScript, as \`type\``);
  return type;
}

/** Returns the words of a choice or a boolean; `undefined` for another option. */
export const choicesOf = (row) =>
  isChoice(row) ? wordsOf(row) : row.check.kind === "switch" ? ["true", "false"] : undefined;

/** Breaks a text into lines of a maximum width. */
function lines(text, width) {
  const broken = [""];
  for (const word of text.split(" ")) {
    const line = broken.at(-1);
    if (line && line.length + 1 + word.length > width) broken.push(word);
    else broken[broken.length - 1] = line ? `${line} ${word}` : word;
  }
  return broken;
}

/** Returns the types and lists of the options for the entry. */
async function forTypeScript(table, root) {
  const rows = Object.entries(table).filter(([, { effect }]) => effect !== "load");
  const members = rows.map(([name, row]) => {
    const doc = lines(describe(row), WIDTH - "  /**  */".length).join("\n   * ");
    return `  /** ${doc} */\n  ${name}${row.required ? "" : "?"}: ${typeOf([name, row])};\n`;
  });
  const checks = await checksOf(root);
  const named = (has) =>
    JSON.stringify(
      rows
        .filter(([name, row]) => has(row, name))
        .map(([name]) => name)
        .join(" "),
    );
  const elements = rows.filter(([, { element }]) => element !== false).map(([name]) => JSON.stringify(name));
  const themes = wordsOf(table.theme).filter((word) => word !== "custom");
  return `// The options by their names: their types, and lists for what does not load the checks.
// ${WRITTEN}

import type { VisitorProfile } from "./visitor-profile.js";
import type { VisitorToken } from "./visitor-token.js";

/** The presets of \`themes/\`. */
export type ThemeName = ${themes.map((theme) => JSON.stringify(theme)).join(" | ")};

/** The options of a widget. */
export interface ChatWidgetOptions {
${members.join("")}}

/** The options that an element has as attributes and properties: all but \`container\`, which the element itself is. */
export const OPTIONS = [${elements.join(", ")}] as const satisfies readonly (keyof ChatWidgetOptions)[];

export type Option = (typeof OPTIONS)[number];

/** The options whose attributes hold JSON. */
export const JSON_OPTIONS: readonly string[] = ${named((_, name) => checks[name].json)}.split(" ");

/** The options that need another widget when they change: those of the effect \`mount\`. */
export const MOUNT_OPTIONS: readonly string[] = ${named(({ effect }) => effect === "mount")}.split(" ");

/** The options that change without a redraw: those of the effect \`live\`. */
export const LIVE_OPTIONS: readonly string[] = ${named(({ effect }) => effect === "live")}.split(" ");
`;
}

/** Returns the fields of an option in `Settings`. */
function fieldsOf([name, row]) {
  return [row.rust ?? []].flat().map((given) => {
    const type = given.type ?? ofKind(row).rust;
    if (!type) throw new Advice(`invalid option ${name}: expected the type of its field in Rust, as \`rust.type\``);
    const standard = given.default ?? (row.check.kind === "switch" ? true : undefined);
    return {
      field: snake(name),
      option: name,
      ...given,
      doc: fill(given.doc ?? row.doc, row),
      type,
      default: standard,
    };
  });
}

/** The default of a field, by its type. Other types have `Default`. */
const DEFAULTS = {
  "Option<": () => "None",
  "Vec<": () => "Vec::new()",
  bool: ({ default: value }) => String(value),
  u32: ({ default: value }) => value,
  String: ({ option }) => (option === "proxy" ? "proxy.to_owned()" : "DEFAULT_LANGUAGE.to_owned()"),
};

function defaultOf(field) {
  const [, known] = Object.entries(DEFAULTS).find(([type]) => field.type.startsWith(type)) ?? [];
  return known ? known(field) : `${field.type}::default()`;
}

/** Returns the statement that reads a field from the entry's options. */
function reading({ field, option, type, variants, default: value }) {
  const place = `settings.${field}`;
  const name = JSON.stringify(option);
  if (variants || type === "Direction") return `${place} = chosen(&mut fields, ${name}, ${type}::WORDS, ${type}::ALL);`;
  switch (type) {
    case "String":
      return `if let Some(text) = fields.lenient_text(${name}) { ${place} = text; }`;
    case "bool":
      return `${place} = fields.take(${name}) ${value ? "!= Value::Bool(false)" : "== Value::Bool(true)"};`;
    case "u32":
      return `if let Value::Integer(ms) = fields.take(${name}) { ${place} = u32::try_from(ms).unwrap_or(${value}); }`;
    case "Vec<String>":
      return `${place} = texts(&mut fields, ${name});`;
    case "Vec<(String, String)>":
      return `${place} = pairs(&mut fields, ${name});`;
    case "VisitorProfile":
      return `${place} = VisitorProfile::try_from(fields.take(${name})).unwrap_or_default();`;
    default:
      throw new Advice(`invalid option ${option}: no type ${type} is read in scripts/option-files.mjs`);
  }
}

/** Returns the options as `Settings`, for Rust. */
function forRust(table) {
  const fields = Object.entries(table).flatMap(fieldsOf);
  const comment = (text, indent) =>
    lines(text, RUST_WIDTH - indent.length - "/// ".length)
      .map((line) => `${indent}/// ${line}\n`)
      .join("");
  const choices = fields
    .filter(({ variants }) => variants)
    .map(({ type, about, variants }) => {
      const written = Object.entries(variants).map(
        ([word, doc], index) =>
          `${comment(doc, "        ")}${index ? "" : "        #[default]\n"}        ${pascal(word)} = "${word}",\n`,
      );
      return `choice! {\n${comment(about, "    ")}    ${type} {\n${written.join("")}    }\n}\n`;
    });
  const read = fields.filter(({ option, onHost }) => option !== "proxy" && !onHost);
  const texts = read.filter(({ type }) => type === "Option<String>");
  const others = read.filter(({ type }) => type !== "Option<String>");
  return `// ${WRITTEN}

use chat_protocol::{Fields, Value, VisitorProfile};

use super::{DEFAULT_GREETING_AFTER_MS, DEFAULT_LANGUAGE, Offset, chosen, pairs, texts};
use crate::choices::{Direction, choice};

${choices.join("\n")}
/// The options of one widget.
///
/// [\`Settings::new\`] gives the defaults; each field can be set on its own. \`docs/frontend.md\` explains the
/// options by the same names in camel case.
///
/// \`\`\`
/// use chat_widget::{ColorScheme, Position, Settings};
///
/// let mut settings = Settings::new("/connector");
/// settings.position = Position::Start;
/// settings.color_scheme = ColorScheme::Auto;
/// settings.theme_tokens.push(("radius-window".to_owned(), "8px".to_owned()));
/// \`\`\`
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
${fields.map(({ field, type, doc }) => `${comment(doc, "    ")}    pub ${field}: ${type},\n`).join("")}}

impl Settings {
    /// Returns the default settings for the proxy under this prefix.
    pub fn new(proxy: &str) -> Self {
        Self { ${fields.map((field) => `${field.field}: ${defaultOf(field)}`).join(", ")} }
    }
}

impl From<Value> for Settings {
    /// Reads options that the JavaScript entry has validated. An invalid value falls back to the default.
    ///
    /// Tokens, offset and z-index are not read: the entry sets them on the host element itself
    /// (\`www/host-page.ts\`).
    fn from(options: Value) -> Self {
        let mut fields = Fields::lenient(options);
        let mut settings = Self::new(&fields.lenient_text("proxy").unwrap_or_default());
        for (name, place) in [${texts.map(({ field, option }) => `("${option}", &mut settings.${field})`).join(", ")}] {
            *place = fields.lenient_text(name);
        }
        ${others.map(reading).join("\n        ")}
        settings
    }
}
`;
}

/** Returns the text of docs/frontend.md with the table of the options, and those that need a new widget. */
function forDocs(table, page) {
  const cells = ([name, row]) =>
    `| \`${name}\` | ${fill(row.docsType ?? ofKind(row).docsType ?? "object", row)} | ${fill(row.docs, row)} |`;
  const rows = Object.entries(table)
    .filter(([, { docs }]) => docs)
    .map(cells);
  const fixed = Object.keys(table)
    .filter((name) => table[name].effect === "mount")
    .map(code);
  const listed = `${fixed.slice(0, -1).join(", ")} and ${fixed.at(-1)}`;
  return page
    .replace(/^(\| option \| type, default \| meaning \|\n\| --- \| --- \| --- \|\n)(?:\|.*\n)+/m, (_, head) =>
      [head, ...rows.map((row) => `${row}\n`)].join(""),
    )
    .replace(
      /^`update\(\)` changes all options except [^.]*\./m,
      () => `\`update()\` changes all options except ${listed}.`,
    );
}

/** The value of a control without the option. Snippets leave it out. */
const STANDARD = { text: "", lines: [], pairs: {}, fields: {}, flag: true };

/** Returns the options as the playground offers them. */
function forPlayground(table) {
  const offered = Object.entries(table).filter(([, { form }]) => form);
  const options = offered.map(([name, row]) => {
    const { group, kind = ofKind(row).control, values, ...form } = row.form;
    if (!kind) throw new Advice(`invalid option ${name}: expected the kind of its control, as \`form.kind\``);
    const named = () => Object.fromEntries(wordsOf(row).map((word) => [word, word]));
    const choices = kind === "choice" ? Object.entries(values ?? named()) : undefined;
    return {
      name,
      group,
      kind,
      values: choices,
      default: choices ? choices[0][0] : STANDARD[kind],
      ...form,
      onElement: row.element !== false && row.effect !== "load",
      rust: fieldsOf([name, row]).map(({ field, option, type }) => ({ field, option, type })),
    };
  });
  const lines = options.map((option) => `  ${JSON.stringify(option)},\n`).join("");
  return `// The options of the widget, as the playground offers them. ${WRITTEN}
// biome-ignore-all format: one option a line

export const OPTIONS = [
${lines}];
`;
}

/** Returns the options that the console's form offers. */
function forConsole(table, english) {
  const text = (key, fallback) =>
    key in english
      ? `t::${key.toUpperCase()}`
      : `Text::new(${JSON.stringify(`settings.${key}`)}, ${JSON.stringify(fallback)})`;
  const optional = (value) => (value ? `Some(${value})` : "None");
  const written = Object.entries(table)
    .filter(([, { console }]) => console)
    .map(([name, row]) => {
      const { form, console } = row;
      const key = `option_${snake(name)}`;
      const own = (part) => (`${key}_${part}` in english ? text(`${key}_${part}`) : undefined);
      const isTranslated = key in english;
      const help = own("help") ?? (isTranslated ? undefined : text(`${key}_help`, form.help));
      const sample = own("sample") ?? (console.code ? text(`${key}_sample`, form.sample) : undefined);
      return `WidgetOption {
        name: "${name}",
        label: ${text(key, form.label)},
        help: ${optional(help)},
        sample: ${optional(sample)},
        control: ${controlOf(name, row, (value) => text(`${key}_is_${value.replace(/\W/g, "")}`, value.replaceAll("_", " ")))},
        field: ${rustOf(name, row)},
        is_half: ${!!console.half},
        is_code: ${!!console.code},
        path: "${pathOf(name, row)}",
        is_of_site: ${!!row.site},
    }`;
    });
  const paths = Object.entries(table)
    .filter(([, { console, site }]) => console && site)
    .map(([name, row]) => JSON.stringify(pathOf(name, row)));
  return `//! The options that the form offers. ${WRITTEN}

use super::option::{Control, Field, WidgetOption};
use crate::text::{Text, settings as t};

/// The options, in the order of the form.
pub static OPTIONS: [WidgetOption; ${written.length}] = [${written.join(", ")}];

/// The options that are saved, as the service calls them.
pub static PATHS: [&str; ${paths.length}] = [${paths.join(", ")}];
`;
}

/** Returns an option as the service calls it, which has those of the site only. */
const pathOf = (name, { site }) => (site ? `widgetOptions.${name}` : name);

/** Returns the control of an option in the console. */
function controlOf(name, row, text) {
  const kind = row.console.kind ?? row.form.kind ?? ofKind(row).control;
  if (kind === "text") return "Control::Text";
  if (kind === "lines") return "Control::Lines";
  if (kind !== "choice") throw new Advice(`invalid option ${name}: the console has no control of the kind ${kind}`);
  const words = row.form.values ? Object.keys(row.form.values) : wordsOf(row);
  if (row.console.switch) return `Control::Switch { off: "${words[0]}", on: "${words[1]}" }`;
  return `Control::Choice(&[${words.map((word) => `("${word}", ${text(word)})`).join(", ")}])`;
}

/** Returns the place of an option in a Leptos component. */
function rustOf(name, row) {
  if (name === "theme") return "Field::Theme";
  const [field] = fieldsOf([name, row]);
  if (!field) return "Field::None";
  if (field.variants) return `Field::Choice("${field.field}", "${field.type}")`;
  switch (field.type) {
    case "Option<String>":
      return `Field::Text("${field.field}")`;
    case "Vec<String>":
      return `Field::Texts("${field.field}")`;
    case "bool":
      return `Field::Flag("${field.field}", ${!field.default})`;
    default:
      throw new Advice(`invalid option ${name}: the console writes no field of the type ${field.type}`);
  }
}

/** Returns the check of the service for an option that it delivers. Browsers check the rest. */
function siteCheckOf(name, row) {
  const { kind, max } = row.check;
  if (isChoice(row))
    return `Check::Choice(&[${wordsOf(row)
      .map((word) => `"${word}"`)
      .join(", ")}])`;
  if (kind === "texts") return `Check::Texts { max: ${max} }`;
  if (kind === "tokens") return "Check::Tokens";
  if (kind === "contact") return "Check::Contact";
  if (["text", "greeting", "launcher"].includes(kind)) return "Check::Text";
  throw new Advice(`invalid option ${name}: the service has no check of the kind ${kind}`);
}

/** Returns the options that the service delivers. */
function forService(table) {
  const rows = Object.entries(table).filter(([, { site }]) => site);
  const written = rows.map(([name, row]) => `("${name}", ${siteCheckOf(name, row)})`);
  return `//! The options that a site sets for its pages. ${WRITTEN}

use super::Check;

/// The options by their names in JavaScript.
pub(super) static OPTIONS: [(&str, Check); ${rows.length}] = [${written.join(", ")}];
`;
}

/** Formats a file as the project does. */
function formatted(path, text) {
  if (path.endsWith(".js")) return text;
  const [program, args] = path.endsWith(".rs")
    ? ["rustfmt", ["--edition", "2024", "--config-path", join(project, "rustfmt.toml")]]
    : [join(project, "node_modules/.bin/biome"), ["format", "--stdin-file-path", path]];
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: project, encoding: "utf8", input: text });
  if (status !== 0) throw new Advice(`${program} could not format ${path}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Returns the files that are made from the option table of a folder, by their paths. */
export async function optionFiles(root = project) {
  const { TABLE } = await import(pathToFileURL(join(root, "www/option-table.mjs")).href);
  const read = (path) => readFileSync(join(root, path), "utf8");
  const english = JSON.parse(read("crates/console/texts/en/settings.json"));
  const texts = {
    "www/option-names.ts": await forTypeScript(TABLE, root),
    "src/settings/options.rs": forRust(TABLE),
    "www/demo/gallery/options.js": forPlayground(TABLE),
    "crates/console/src/ui/settings/widget/table.rs": forConsole(TABLE, english),
    "crates/service/src/sites/widget_options/table.rs": forService(TABLE),
  };
  const files = Object.entries(texts).map(([path, text]) => [path, formatted(path, text)]);
  return { ...Object.fromEntries(files), "docs/frontend.md": forDocs(TABLE, read("docs/frontend.md")) };
}

/** Writes the files of a folder. Returns the paths of those that have changed. */
export async function writeOptionFiles(root = project) {
  const files = Object.entries(await optionFiles(root));
  const changed = files.filter(([path, text]) => readFileSync(join(root, path), "utf8") !== text);
  for (const [path, text] of changed) writeFileSync(join(root, path), text);
  return changed.map(([path]) => path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const changed = await writeOptionFiles();
    say(changed.length > 0 ? `written: ${changed.join(", ")}` : "all files of the options are current");
  });
}
