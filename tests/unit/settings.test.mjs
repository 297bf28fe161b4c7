// The settings for Rust have the options of `www/option-table.ts`, with the same choices and limits.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { importSource, optionTable } from "../../scripts/options.mjs";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const TABLE = await optionTable();
const settings = read("src/settings.rs");
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the fields of a struct. */
const fieldsOf = (name) => {
  const body = settings.match(new RegExp(`pub struct ${name} \\{\\n([^]*?)\\n\\}`))[1];
  return [...body.matchAll(/^ {4}pub (\w+): ([^]*?),$/gm)].map(([, field, type]) => [field, type]);
};

/** Options that Rust has in another place or does not need. */
const ELSEWHERE = {
  theme: "a property of the component",
  container: "the component stands where the application puts it",
  titleAlert: "the title is the application's",
  contact: "shown in place of a module that cannot run",
  load: "the widget is in the application's own module",
};

test("Settings has a field for each option, except those that JavaScript derives", () => {
  const options = Object.keys(TABLE).filter((name) => !(name in ELSEWHERE));
  const derived = ["language", "direction", "greeting_after_ms", "inline"];
  assert.deepEqual(
    fieldsOf("Settings")
      .map(([name]) => name)
      .sort(),
    [...options.map(snake), ...derived].sort(),
  );
});

/** Fields of `Settings` that the JavaScript entry does not pass on: it sets them on the host element itself. */
const ON_THE_HOST = ["themeTokens", "offset", "zIndex"];

test("Settings are read from each option that the JavaScript entry passes on", () => {
  const body = settings.match(/^impl From<Value> for Settings \{\n([^]*?)\n\}/m)[1];
  const names = [...body.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  for (const name of Object.keys(TABLE)) {
    if (name in ELSEWHERE) continue;
    const isRead = names.includes(name);
    assert.equal(isRead, !ON_THE_HOST.includes(name), `From<Value> for Settings ${isRead ? "reads" : "lacks"} ${name}`);
  }
});

test("the enums have the choices of the option table, in its order", () => {
  const enums = Object.fromEntries(
    [...read("src/choices.rs").matchAll(/^ {4}(\w+) \{\n([^]*?)^ {4}\}/gm)].map(([, name, body]) => [
      name,
      [...body.matchAll(/^ {8}\w+ = "(\w+)",$/gm)].map(([, word]) => word),
    ]),
  );
  for (const [option, name] of [
    ["position", "Position"],
    ["colorScheme", "ColorScheme"],
    ["events", "EventMode"],
  ]) {
    assert.equal(Object.fromEntries(fieldsOf("Settings"))[snake(option)], name);
    assert.equal(`one of ${enums[name].join(", ")}`, TABLE[option].expected);
    assert.equal(enums[name][0], TABLE[option].default, "the first is the default");
  }
  const themes = [...read("src/theme.rs").matchAll(/^ {4}(\w+)(\(Accent\))?,$/gm)].map(([, name]) =>
    snake(name).slice(1),
  );
  assert.equal(`one of ${themes.join(", ")}`, TABLE.theme.expected);
});

test("the offset has the sides and the limit of the option table", () => {
  assert.deepEqual(
    fieldsOf("Offset").map(([name]) => name),
    ["x", "y"],
  );
  const limit = Number(
    read("src/page_widget.rs")
      .match(/MAX_OFFSET_PX: f64 = ([\d_]+)/)[1]
      .replaceAll("_", ""),
  );
  const refused = (x) => {
    const paths = [];
    TABLE.offset.parse({ x }, "offset", (path) => void paths.push(path));
    return paths.length > 0;
  };
  assert.deepEqual([refused(0), refused(limit), refused(limit + 1), refused(-1)], [false, false, true, true]);
});

test("Rust's test data of derived themes matches the script tag's derivation", async () => {
  const { default: sheetOf } = await importSource("www/derive.ts");
  for (const line of read("tests/unit/derived-themes.txt").trim().split("\n")) {
    const [accent, ...sheet] = line.split(" ");
    assert.equal(sheet.join(" "), sheetOf(accent), accent);
  }
});
