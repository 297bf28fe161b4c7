// The texts of the plugin for WordPress: a template for translators, and the binary catalogues that WordPress reads.
//
//     node scripts/wordpress-texts.mjs        writes connectors/wordpress/languages/chat-widget.pot

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main, root } from "./setup.mjs";

const DOMAIN = "chat-widget";
const SOURCES = join(root, "connectors/wordpress");
const LANGUAGES = join(SOURCES, "languages");
/** Calls of WordPress' functions for texts, with one literal and the domain. */
export const TEXT_CALL =
  /\b(?:__|_e|esc_html__|esc_html_e|esc_attr__|esc_attr_e)\(\s*'((?:[^'\\]|\\.)*)'\s*,\s*'([\w-]+)'\s*,?\s*\)/g;

/** Returns the texts of the plugin's sources in order, each with the files that have it and the comment for translators. */
export function pluginTexts() {
  const texts = new Map();
  const add = (text, file, comment) => {
    const known = texts.get(text) ?? { files: new Set(), comment };
    texts.set(text, { files: known.files.add(file), comment: known.comment ?? comment });
  };
  const main = readFileSync(join(SOURCES, `${DOMAIN}.php`), "utf8");
  for (const field of ["Plugin Name", "Description"])
    add(main.match(new RegExp(`^ \\* ${field}: (.+)$`, "m"))[1], `${DOMAIN}.php`, `${field} of the plugin`);
  for (const name of readdirSync(join(SOURCES, "src")).sort()) {
    const source = readFileSync(join(SOURCES, "src", name), "utf8");
    for (const { 1: literal, 2: domain, index } of source.matchAll(TEXT_CALL)) {
      if (domain !== DOMAIN) throw new Error(`${name}: ${literal} has the domain ${domain}`);
      const comment = source.slice(0, index).match(/\/\* translators: (.*?) \*\/[^;]*$/)?.[1];
      add(literal.replace(/\\(['\\])/g, "$1"), `src/${name}`, comment);
    }
  }
  return new Map([...texts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns a text as a literal of a catalogue, in lines of at most 120 characters. */
function literal(keyword, text) {
  const quoted = (part) => `"${part.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  if (keyword.length + 1 + quoted(text).length <= 120) return `${keyword} ${quoted(text)}\n`;
  const lines = text.match(/.{1,110}(?: |$)/g);
  return `${keyword} ""\n${lines.map((line) => `${quoted(line)}\n`).join("")}`;
}

/** Returns the template for translators. */
export function template() {
  const head = ["Project-Id-Version: Chat widget", "MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8"];
  let pot = `msgid ""\nmsgstr ""\n${head.map((line) => `"${line}\\n"\n`).join("")}`;
  for (const [text, { files, comment }] of pluginTexts()) {
    pot += `\n${comment ? `#. translators: ${comment}\n` : ""}#: ${[...files].join(" ")}\n`;
    pot += `${literal("msgid", text)}msgstr ""\n`;
  }
  return pot;
}

/** Reads a catalogue. Returns the translations by their texts; that of the empty text is the header. */
export function readCatalogue(po) {
  const found = new Map();
  for (const [, id, translation] of po.matchAll(/^msgid ((?:"[^\n]*"\n)+)msgstr ((?:"[^\n]*"\n?)+)/gm)) {
    const text = (quoted) =>
      quoted
        .split("\n")
        .map((line) => line.slice(1, -1))
        .join("")
        .replace(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter));
    found.set(text(id), text(translation));
  }
  return found;
}

/** Returns a catalogue in the binary format of gettext. */
export function binaryCatalogue(po) {
  const bytes = (text) => Buffer.from(text);
  const entries = [...readCatalogue(po)].map(([id, text]) => [bytes(id), bytes(text)]);
  entries.sort(([one], [other]) => Buffer.compare(one, other));
  const HEADER = 28;
  const tables = Buffer.alloc(HEADER + 16 * entries.length);
  [0x950412de, 0, entries.length, HEADER, HEADER + 8 * entries.length, 0, 0].forEach((value, index) =>
    tables.writeUInt32LE(value, 4 * index),
  );
  const texts = [];
  let end = tables.length;
  for (const column of [0, 1])
    for (const [row, entry] of entries.entries()) {
      const place = HEADER + 8 * (column * entries.length + row);
      tables.writeUInt32LE(entry[column].length, place);
      tables.writeUInt32LE(end, place + 4);
      texts.push(entry[column], Buffer.alloc(1));
      end += entry[column].length + 1;
    }
  return Buffer.concat([tables, ...texts]);
}

/** Returns the catalogues of the translations, by their languages. */
export const catalogues = () =>
  Object.fromEntries(
    readdirSync(LANGUAGES)
      .filter((name) => name.endsWith(".po"))
      .map((name) => [name.slice(DOMAIN.length + 1, -3), readFileSync(join(LANGUAGES, name), "utf8")]),
  );

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => writeFileSync(join(LANGUAGES, `${DOMAIN}.pot`), template()));
}
