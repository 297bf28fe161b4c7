// Comments in Rust keep to the line length of the formatter, which leaves them as they are.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { read } from "../docs-snippets.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const limit = Number(read("rustfmt.toml").match(/^max_width = (\d+)$/m)?.[1]);

test("The editor and the formatter agree on the length of a Rust line", () => {
  assert.equal(Number(read(".editorconfig").match(/\[\*\.rs\][^[]*max_line_length = (\d+)/)?.[1]), limit);
});

test("No comment in Rust is longer than a line", () => {
  const files = execFileSync("git", ["ls-files", "*.rs"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  assert.ok(files.length > 100, `${files.length} files`);
  const long = files.flatMap((file) =>
    readFileSync(`${root}/${file}`, "utf8")
      .split("\n")
      .flatMap((line, index) => (/^\s*\/\//.test(line) && line.length > limit ? [`${file}:${index + 1}`] : [])),
  );
  assert.deepEqual(long, []);
});
