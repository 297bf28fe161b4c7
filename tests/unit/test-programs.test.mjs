// The programs that `cargo test --workspace` links. Each contains its whole crate, and the larger ones take seconds.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** Maximum programs of tests. A new test goes into a module of an existing program. */
const MAX_PROGRAMS = 16;

const { stdout } = spawnSync("cargo", ["metadata", "--no-deps", "--format-version", "1", "--offline"], {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  encoding: "utf8",
  maxBuffer: 1 << 28,
});
const targets = JSON.parse(stdout).packages.flatMap(({ name, targets }) =>
  targets.map((target) => ({ package: name, ...target })),
);

test(`The workspace has at most ${MAX_PROGRAMS} programs of tests`, () => {
  const programs = targets.filter((target) => target.test).map((target) => `${target.package}: ${target.name}`);
  assert.ok(programs.length > 8 && programs.length <= MAX_PROGRAMS, `${programs.length}: ${programs.join(", ")}`);
});

test("A library whose documentation is not tested has no examples in it", () => {
  const untested = targets.filter(({ kind, doctest }) => kind.includes("lib") && !doctest);
  assert.ok(untested.length > 2);
  for (const { src_path: root } of untested) {
    for (const file of readdirSync(dirname(root), { recursive: true }).filter((file) => file.endsWith(".rs"))) {
      assert.doesNotMatch(readFileSync(join(dirname(root), file), "utf8"), /^\s*\/\/[/!] ?```/m, file);
    }
  }
});
