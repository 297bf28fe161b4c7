// The option table of `www/option-table.ts`, for the build and for the tests.

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
export async function importSource(path, define = {}) {
  const { build } = await import("esbuild");
  const folder = mkdtempSync(join(tmpdir(), "chat-widget-"));
  const outfile = join(folder, "module.mjs");
  await build({
    entryPoints: [join(root, path)],
    bundle: true,
    outfile,
    format: "esm",
    target: "es2022",
    define: { TOKENS: JSON.stringify(tokenNames().join(" ")), ...define },
  });
  return import(pathToFileURL(outfile).href).finally(() => rmSync(folder, { recursive: true }));
}

/** Returns the option table by the names of the options. */
export const optionTable = async () => (await importSource("www/option-table.ts")).TABLE;

/** Returns the pattern of `www/parse-options.ts`: values that are valid without the table, as `name=text` or `name:JSON`. */
export async function plainPattern() {
  const names = new Map();
  for (const [name, { plain = {} }] of Object.entries(await optionTable())) {
    for (const [kind, pattern] of Object.entries(plain)) {
      const rule = (kind === "text" ? "=" : ":") + (pattern.includes("|") ? `(${pattern})` : pattern);
      names.set(rule, [...(names.get(rule) ?? []), name]);
    }
  }
  const rules = [...names].map(([rule, names]) => (names.length > 1 ? `(${names.join("|")})` : names[0]) + rule);
  return `^(${rules.join("|")})$`;
}
