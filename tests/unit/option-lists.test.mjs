// The option table, the types, the docs and the element's lists have the same options.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { importSource, optionTable } from "../../scripts/options.mjs";
import { read } from "../docs-snippets.mjs";

const TABLE = await optionTable();
const lists = await importSource("www/option-names.ts");

test("the table has the options of the types, and the script tag's own", () => {
  const body = read("www/options.ts").match(/export interface ChatWidgetOptions \{\n([^]*?)\n\}/)[1];
  const typed = [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name);
  assert.deepEqual(Object.keys(TABLE).sort(), [...typed, "load"].sort());
});

const named = (has) =>
  Object.entries(TABLE)
    .filter(([name, row]) => has(row, name))
    .map(([name]) => name)
    .sort();

test("the lists of the element and of update() are those of the table", () => {
  const { OPTIONS, JSON_OPTIONS, MOUNT_OPTIONS, LIVE_OPTIONS } = lists;
  assert.deepEqual(
    [...OPTIONS].sort(),
    named((row, name) => row.effect !== "load" && name !== "container"),
  );
  assert.deepEqual(
    [...JSON_OPTIONS].sort(),
    named(({ json }) => json),
  );
  assert.deepEqual(
    [...MOUNT_OPTIONS].sort(),
    named(({ effect }) => effect === "mount"),
  );
  assert.deepEqual(
    [...LIVE_OPTIONS].sort(),
    named(({ effect }) => effect === "live"),
  );
});

test("docs/frontend.md names the options that recreate the widget, and the one that only the script tag has", () => {
  const docs = read("docs/frontend.md");
  const [, listed] = docs.match(/^`update\(\)` changes all options except (.*?)\. These need a new widget/m);
  const fixed = [...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  assert.deepEqual(
    fixed.sort(),
    named(({ effect }) => effect === "mount"),
  );
  for (const name of named(({ effect }) => effect === "load"))
    assert.match(docs, new RegExp(`script tag .*\`${name}\``));
});

test("the types document the default of each choice, boolean and number option", () => {
  const types = read("www/options.ts").match(/export interface ChatWidgetOptions \{\n([^]*?)\n\}/)[1];
  for (const [name, row] of Object.entries(TABLE)) {
    if (!row.default || name === "load") continue;
    const [, comment] = types.match(new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n  ${name}\\??:`));
    assert.match(comment.replace(/\s*\n\s*\*\s*/g, " "), new RegExp(`Default: \`?${row.default}`), name);
  }
});

test("docs/frontend.md documents the values and the default of each option", () => {
  const section = read("docs/frontend.md").split("## Options\n")[1].split("\n## ")[0];
  const rows = new Map(
    [...section.matchAll(/^\| `(\w+)` \| ([^|]*) \| (.*) \|$/gm)].map(([, name, type, words]) => [
      name,
      { type, words },
    ]),
  );
  for (const [name, row] of Object.entries(TABLE)) {
    if (name === "load") continue;
    assert.ok(rows.has(name), `docs/frontend.md has no row for ${name}`);
    const { type, words } = rows.get(name);
    const choices = row.expected.match(/^one of (.*)$/)?.[1].split(", ");
    if (choices && name !== "theme") {
      for (const choice of choices) assert.ok(type.includes(`\`${choice}\``), `${name}: ${choice}`);
      assert.ok(type.endsWith(`\`${choices[0]}\``), `${name}: the default is ${choices[0]}`);
    }
    if (row.expected === "true or false") assert.equal(type, "boolean, true", name);
    const [value] = row.default?.match(/^\w+$/) ?? [];
    if (value && !choices) assert.match(type, new RegExp(`[,;] \`?${value}\`?$`), `${name}: the default`);
    const limits = row.expected.replace(/\{.*\}|"[^"]*"|BCP 47/g, "").matchAll(/\d{2,}/g);
    for (const [limit] of limits)
      assert.ok(`${type} ${words}`.replaceAll(",", "").includes(limit), `${name}: ${limit}`);
  }
  const themes = readdirSync(new URL("../../themes", import.meta.url)).map((file) => basename(file, ".css"));
  assert.deepEqual(TABLE.theme.expected.slice("one of ".length).split(", ").sort(), [...themes, "custom"].sort());
});
