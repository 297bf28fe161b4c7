// What the page for front-end developers names is what there is.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path) => readFileSync(`${root}/${path}`, "utf8");
const docs = read("docs/frontend.md");
const types = read("www/options.ts");

/** The names in the first column of the table under a heading. */
function tabled(heading) {
  const section = docs.split(`## ${heading}\n`)[1].split("\n## ")[0];
  const cells = section.split("\n").filter((line) => line.startsWith("| `")).map((line) => line.split("|")[1]);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name));
}

/** The members of an interface of the types. */
function members(name) {
  const body = types.match(new RegExp(`export interface ${name} \\{\\n([^]*?)\\n\\}`))[1];
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, member]) => member);
}

const sorted = (names) => [...new Set(names)].sort();

test("The options in the docs are those of the types", () => {
  assert.deepEqual(sorted(tabled("Options")), sorted(members("ChatWidgetOptions")));
});

test("The events in the docs are those of the types", () => {
  assert.deepEqual(sorted(tabled("Events")), sorted(members("ChatWidgetEvents")));
});

test("The controls in the docs are those of the class", () => {
  const body = read("www/module.ts").split("export class ChatWidget {")[1];
  const methods = [...body.matchAll(/^ {2}(?:readonly |async |get )?([a-z]\w*)(?:<[^>]*>)?(?:\(| =)/gim)].map(([, name]) => name);
  const own = methods.filter((name) => name !== "constructor");
  assert.deepEqual(sorted(tabled("Controls")), sorted(own));
});

test("The policy in docs/csp.md is the one that the tests' site has, but for what is about other things", () => {
  const parse = (text) => new Map(text.split(/;\s*/).map((directive) => directive.split(/ (.*)/).slice(0, 2)));
  const site = parse(read("crates/connector/src/site.rs").match(/POLICY: &str = "([^"]*)"/)[1].replace(/\\\n\s*/g, ""));
  for (const name of ["form-action", "base-uri", "frame-ancestors"]) site.delete(name);
  assert.deepEqual([...parse(read("docs/csp.md").match(/^Content-Security-Policy: (.*)$/m)[1])], [...site]);
});

test("Every part in the docs is in the interface", () => {
  const sources = readdirSync(`${root}/src/ui`).map((file) => read(`src/ui/${file}`)).join("\n");
  const parts = [...docs.split("## Parts\n")[1].matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  for (const name of parts) {
    const stem = name.replace(/^message-(visitor|assistant|operator)$/, "message-");
    assert.match(sources, new RegExp(`part=${name}[" ]|"part", "${name}"|"?[ "]${stem}`), name);
  }
});
