// The option table and the checks of the options, for the build and for the tests.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./setup.mjs";

/** Returns the names of all tokens, without `--cw-`. */
export function tokenNames() {
  const sheets = [...readdirSync(join(root, "themes")).map((file) => `themes/${file}`), "styles/tokens.css"];
  const text = sheets.map((path) => readFileSync(join(root, path), "utf8")).join("\n");
  const names = [...text.matchAll(/^ *--cw-([\w-]+):/gm)].map(([, name]) => name);
  return [...new Set([...names, "offset-x", "offset-y"])].sort();
}

/** Imports a module of `www/`, bundled as in the build with these definitions. */
export async function importSource(path, { folder = root, ...define } = {}) {
  const { build } = await import("esbuild");
  const place = mkdtempSync(join(tmpdir(), "chat-widget-"));
  const outfile = join(place, "module.mjs");
  await build({
    entryPoints: [join(folder, path)],
    bundle: true,
    outfile,
    format: "esm",
    target: "es2022",
    define: {
      TOKENS: JSON.stringify(tokenNames().join(" ")),
      OPTION_RULES: JSON.stringify(optionRules(await givenTable(folder))),
      ...define,
    },
  });
  return import(pathToFileURL(outfile).href).finally(() => rmSync(place, { recursive: true }));
}

/** Returns the option table of a folder as it is written. */
const givenTable = async (folder = root) =>
  (await import(pathToFileURL(join(folder, "www/option-table.mjs")).href)).TABLE;

/** Returns the rules that the checks are made from. */
const optionRules = (table) =>
  Object.fromEntries(Object.entries(table).map(([name, { check, hostPage }]) => [name, { ...check, hostPage }]));

/** Returns the definitions of the build that are made from the option table. */
export async function optionDefinitions(folder) {
  const table = await givenTable(folder);
  return {
    OPTION_RULES: JSON.stringify(optionRules(table)),
    PLAIN: JSON.stringify(plainPattern(table)),
    SITE_OPTIONS: JSON.stringify(
      Object.keys(table)
        .filter((name) => table[name].site)
        .join(" "),
    ),
    TOKENS: JSON.stringify(tokenNames().join(" ")),
  };
}

/** Returns the checks of options by their names. */
export const checksOf = async (folder) => (await importSource("www/option-checks.ts", { folder })).TABLE;

/** Returns everything that is known about each option, with its checks. */
export async function optionTable() {
  const [table, checks] = await Promise.all([givenTable(), checksOf()]);
  return Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, { ...table[name], ...check }]));
}

/** Returns the pattern of `www/parse-options.ts`: values that are valid without the table, as `name=text` or `name:JSON`. */
function plainPattern(table) {
  const names = new Map();
  for (const [name, { plain = {} }] of Object.entries(table)) {
    for (const [kind, pattern] of Object.entries(plain)) {
      const rule = (kind === "text" ? "=" : ":") + (pattern.includes("|") ? `(${pattern})` : pattern);
      names.set(rule, [...(names.get(rule) ?? []), name]);
    }
  }
  const rules = [...names].map(([rule, names]) => (names.length > 1 ? `(${names.join("|")})` : names[0]) + rule);
  return `^(${rules.join("|")})$`;
}
