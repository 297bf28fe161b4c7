// Rules of the console's source that neither the compiler nor clippy knows.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = execFileSync("git", ["ls-files", "crates/console/src/*.rs"], { cwd: root, encoding: "utf8" })
  .trim()
  .split("\n")
  .map((name) => ({ name, text: readFileSync(`${root}/${name}`, "utf8") }));

test("Handlers read elements by `rendered()`, which does not panic when the component is gone", () => {
  const withElements = files.filter(({ text }) => text.includes("NodeRef"));
  assert.ok(withElements.length > 10);
  const wrong = withElements.flatMap(({ name, text }) => {
    const refs = [...text.matchAll(/(\w+)(?: = |: )NodeRef/g)].map((found) => found[1]);
    const read = new RegExp(`\\b(?:${refs.join("|") || "none"})\\.(?:try_)?get_untracked\\(\\)`);
    const lines = text.split("\n").filter((line) => read.test(line));
    return lines.map((line) => `${name}: ${line.trim()}`);
  });
  assert.deepEqual(wrong, []);
});

test("Whether a key belongs to an input method is asked in one place, which knows Safari", () => {
  const asking = files.filter(({ text }) => /event\.is_composing\(\)/.test(text)).map(({ name }) => name);
  assert.deepEqual(asking, ["crates/console/src/browser.rs"]);
});
