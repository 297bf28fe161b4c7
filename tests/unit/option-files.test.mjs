// The files that are made from the option table are current, and a new row of the table is all that they need.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { optionFiles, writeOptionFiles } from "../../scripts/option-files.mjs";
import { importSource, optionDefinitions, optionTable } from "../../scripts/options.mjs";
import { root } from "../../scripts/setup.mjs";
import { read } from "../docs-snippets.mjs";

const FILES = await optionFiles();

/** A copy of the project with another option, of the same shape as `suggestedQuestions`. Only the table is written. */
const copy = mkdtempSync(join(tmpdir(), "options-"));
for (const path of [...Object.keys(FILES), "www", "crates/console/texts/en"])
  cpSync(join(root, path), join(copy, path), { recursive: true });
const table = readFileSync(join(copy, "www/option-table.mjs"), "utf8");
const [row] = table.match(/^ {2}suggestedQuestions: \{\n[^]*?\n {2}\},\n/m);
const another = row
  .replace("suggestedQuestions", "quickReplies")
  .replaceAll(/questions/g, "replies")
  .replaceAll(/Questions/g, "Replies")
  .replace("max: 20", "max: 7");
writeFileSync(join(copy, "www/option-table.mjs"), table.replace(row, row + another));
const written = await writeOptionFiles(copy);
after(() => rmSync(copy, { recursive: true }));

test("The files that are made from the option table are current", () => {
  for (const [path, text] of Object.entries(FILES)) assert.equal(read(path), text, `${path}: run npm run options`);
});

test("The themes are the files of themes/, and the script tag's own option is in the docs", async () => {
  const { theme, ...table } = await optionTable();
  const files = readdirSync(join(root, "themes")).map((file) => basename(file, ".css"));
  assert.deepEqual(theme.words.split(" ").sort(), [...files, "custom"].sort());
  for (const name of Object.keys(table).filter((name) => table[name].effect === "load"))
    assert.match(read("docs/frontend.md"), new RegExp(`script tag .*\`${name}\``));
});

const inCopy = (path) => readFileSync(join(copy, path), "utf8");
const source = (path, definitions) => importSource(path, { folder: copy, ...definitions });
const CHOSEN = { proxy: "/connector", quickReplies: ["Yes", "No"] };

test("A new row of the table is in every file that is made from it", () => {
  assert.deepEqual(written.sort(), Object.keys(FILES).sort());
});

test("The types have a new row as an option, as an attribute and as a property", () => {
  const file = join(copy, "www", "usage.ts");
  writeFileSync(
    file,
    `import type { ChatWidgetOptions } from "./options.js";
    import type { ElementOptions } from "./npm/markup.js";
    import type { ChatWidgetAttributes } from "./npm/jsx.js";
    export const options: ChatWidgetOptions = ${JSON.stringify(CHOSEN)};
    export const element: ElementOptions = options;
    export const attributes: ChatWidgetAttributes = { "quick-replies": '["Yes"]', quickReplies: ["Yes"] };
    // @ts-expect-error: it is a list
    export const invalid: ChatWidgetOptions = { proxy: "/connector", quickReplies: 5 };
    `,
  );
  const flags =
    "--noEmit --strict --skipLibCheck --target es2022 --module es2022 --moduleResolution bundler --lib es2022,dom";
  const { status, stdout } = spawnSync(
    join(root, "node_modules/.bin/tsc"),
    [...flags.split(" "), "--ignoreConfig", file],
    {
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stdout);
  assert.match(
    inCopy("www/option-names.ts"),
    /\/\*\* At most 7 replies to start with, each of 1 to 4,000 characters\. \*\//,
  );
});

test("The element has a new row as an attribute of JSON, which is checked", async () => {
  const { attributesOf } = await source("www/npm/markup.ts");
  assert.equal(attributesOf(CHOSEN)["quick-replies"], '["Yes","No"]');
  const { JSON_OPTIONS, MOUNT_OPTIONS } = await source("www/option-names.ts");
  assert.ok(JSON_OPTIONS.includes("quickReplies") && !MOUNT_OPTIONS.includes("quickReplies"));
  const { default: check } = await source("www/validate-options.ts");
  assert.deepEqual(check(CHOSEN).quickReplies, CHOSEN.quickReplies);
  assert.throws(
    () => check({ ...CHOSEN, quickReplies: Array(8).fill("Yes") }),
    /^TypeError: chat widget: the option quickReplies must be an array of at most 7 strings, each of 1 to 4000 characters/,
  );
  const { parsePlain } = await source("www/parse-options.ts", await optionDefinitions(copy));
  assert.deepEqual(
    { ...parsePlain({ ...CHOSEN, quickReplies: '["Yes"]' }, true) },
    { ...CHOSEN, quickReplies: ["Yes"] },
  );
});

test("The settings of Rust have a new row as a field, and read it", () => {
  const settings = inCopy("src/settings/options.rs");
  assert.match(settings, /^ {4}pub quick_replies: Vec<String>,$/m);
  assert.match(settings, /^ {12}quick_replies: Vec::new\(\),$/m);
  assert.match(settings, /^ {8}settings\.quick_replies = texts\(&mut fields, "quickReplies"\);$/m);
});

test("The docs have a new row in the table of the options", () => {
  const [line] = inCopy("docs/frontend.md").match(/^\| `quickReplies`.*$/m);
  assert.equal(
    line,
    "| `quickReplies` | array of strings | replies to click before the first message: at most 7, each with 1 to 4,000 characters |",
  );
});

test("The playground offers a new row, and its code has it in every language", async () => {
  const gallery = (file) => import(pathToFileURL(join(copy, "www/demo/gallery", file)).href);
  const { chosenIn, optionsOf } = await gallery("choices.js");
  assert.deepEqual(optionsOf(chosenIn("quickReplies=Yes%0ANo")), CHOSEN);
  const { SNIPPETS } = await gallery("snippets.js");
  const codes = Object.fromEntries(SNIPPETS.map(({ name, code }) => [name, code(CHOSEN)]));
  const expected = {
    script: `data-quick-replies='["Yes","No"]'`,
    element: `quick-replies='["Yes","No"]'`,
    react: 'quickReplies={["Yes", "No"]}',
    vue: 'quickReplies: ["Yes", "No"]',
    leptos: 'settings.quick_replies = vec!["Yes".to_owned(), "No".to_owned()];',
  };
  assert.deepEqual(Object.keys(codes), Object.keys(expected));
  for (const [name, line] of Object.entries(expected)) assert.ok(codes[name].includes(line), `${name}: ${codes[name]}`);
});

test("The console's form offers a new row in English until it is translated, and knows its field for the code", () => {
  const form = inCopy("crates/console/src/ui/settings/widget/table.rs");
  const [entry] = form.match(/^ {8}name: "quickReplies",\n[^]*?^ {4}\}/m);
  assert.match(entry, /label: Text::new\("settings\.option_quick_replies", "Suggested replies"\)/);
  assert.match(entry, /control: Control::Lines/);
  assert.match(entry, /field: Field::Texts\("quick_replies"\)/);
});

test("ARCHITECTURE.md names at most four files to write for suggestedQuestions, each of which has it", () => {
  const section = read("ARCHITECTURE.md").split("## Add an option\n")[1].split("\n## ")[0];
  const [, listed] = section.match(/^For `suggestedQuestions`, these files are (.*)\.$/m);
  const files = [...listed.matchAll(/`([^`]+)`/g)].map(([, path]) => path);
  assert.ok(files.length > 0 && files.length <= 4, listed);
  for (const path of files) assert.match(read(path), /suggested.?questions?|suggestion/i, path);
});
