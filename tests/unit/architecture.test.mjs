// Every path that ARCHITECTURE.md names exists, and each of its links leads to a file.

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { read } from "../docs-snippets.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = read("ARCHITECTURE.md");
const folders = readdirSync(root);

test("Every path in ARCHITECTURE.md exists", () => {
  const spans = [...page.matchAll(/`([\w./-]+)`/g)].map(([, span]) => span);
  const drawing = [...page.split("```")[1].matchAll(/(?:src|crates)\/[\w.-]+/g)].map(([path]) => path);
  const paths = [...spans, ...drawing].filter((path) => folders.includes(path.split("/")[0]));
  assert.ok(new Set(paths).size > 25, `${paths}`);
  for (const path of paths) assert.ok(existsSync(join(root, path)), path);
});

test("Every link in ARCHITECTURE.md leads to a file", () => {
  for (const [, link] of page.matchAll(/\]\((?!https?:)([^)#]+)/g)) assert.ok(existsSync(join(root, link)), link);
});
