// What Rust has by itself of the option table: the themes, with those of the site's own colour, and a limit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource, optionTable } from "../../scripts/options.mjs";
import { read } from "../docs-snippets.mjs";

const TABLE = await optionTable();

test("the themes have the choices of the option table, in its order", () => {
  const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).slice(1);
  const themes = [...read("src/theme.rs").matchAll(/^ {4}(\w+)(\(Accent\))?,$/gm)].map(([, name]) => snake(name));
  assert.equal(themes.join(" "), TABLE.theme.words);
});

test("the offset has the limit of the option table", () => {
  const [, limit] = read("src/page_widget.rs").match(/MAX_OFFSET_PX: f64 = ([\d_]+)/);
  assert.equal(Number(limit.replaceAll("_", "")), TABLE.offset.max);
});

test("Rust's test data of derived themes matches the script tag's derivation", async () => {
  const { default: sheetOf } = await importSource("www/derive.ts");
  for (const line of read("tests/unit/derived-themes.txt").trim().split("\n")) {
    const [accent, ...sheet] = line.split(" ");
    assert.equal(sheet.join(" "), sheetOf(accent), accent);
  }
});
