// Every file and every test that SECURITY.md cites exists.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { read } from "../docs-snippets.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = read("SECURITY.md");
const isPath = (span) => /^[\w.-]+(?:\/[\w.-]+)*\.(?:rs|mjs|ts|toml)$/.test(span);
const spans = (text) => [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span);
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The rows of the tables: the rule, the files that enforce it, the tests that prove it. */
const rules = page
  .split("## Where each rule is enforced")[1]
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:rule|---) /.test(line));

/** Returns whether a source file has a test of this name, in any form. */
function declares(file, name) {
  const source = read(file);
  if (!file.endsWith(".rs")) return new RegExp(`\\b(?:test|describe)\\(\\s*"${escaped(name)}"`).test(source);
  // A function, or a name that a macro turns into one.
  return new RegExp(`fn ${name}\\b|^    ${name},$`, "m").test(source);
}

test("Every file in SECURITY.md exists", () => {
  const files = spans(page).filter(isPath);
  assert.ok(files.length > 60, `${files.length}`);
  for (const file of files) assert.ok(existsSync(join(root, file)), file);
});

test("Every rule in SECURITY.md names a file that enforces it and a test that exists", () => {
  assert.ok(rules.length > 25, `${rules.length}`);
  for (const line of rules) {
    const columns = line.slice(2, -2).split(" | ");
    assert.equal(columns.length, 3, `invalid row: expected three columns, got ${line}`);
    const [rule, enforced, proved] = columns;
    assert.ok(spans(enforced).some(isPath), `${rule}: no file enforces it`);
    let file = null;
    let tests = 0;
    for (const span of spans(proved)) {
      if (isPath(span)) file = span;
      else if (file) {
        assert.ok(declares(file, span), `${rule}: ${file} has no test ${span}`);
        tests += 1;
      }
    }
    assert.ok(tests > 0 || proved.includes("lint"), `${rule}: no test proves it`);
  }
});

test("A missing test is found", () => {
  assert.ok(declares("fuzz/tests/corpus.rs", "proxy_request"));
  assert.ok(!declares("fuzz/tests/corpus.rs", "proxy_requests"));
  assert.ok(!declares("tests/e2e/page.test.mjs", "No response or request contains"));
});
