// Modules beside each other do not import each other in a circle.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { circlesIn, importsOf, modulesOf } from "./rust-modules.mjs";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

for (const [root, atLeast] of Object.entries({
  "crates/console/src/lib.rs": 180,
  "crates/connector/src/lib.rs": 50,
  "crates/connector/src/bin/site-connector/main.rs": 25,
  "src/lib.rs": 60,
})) {
  test(`No modules of ${root} are in a circle`, () => {
    const modules = modulesOf(at(root));
    assert.ok(modules.size > atLeast, `${modules.size}`);
    assert.deepEqual(circlesIn(importsOf(modules)), []);
  });
}

test("No module of the command imports its root", () => {
  const imports = importsOf(modulesOf(at("crates/connector/src/bin/site-connector/main.rs")));
  assert.deepEqual(
    [...imports].filter(([, found]) => found.has("")).map(([name]) => name),
    [],
  );
});

/** Returns the circles of a crate with these files. */
function circlesOf(files) {
  const folder = mkdtempSync(join(tmpdir(), "circles-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return circlesIn(importsOf(modulesOf(join(folder, "lib.rs"))));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("Circles are found through groups, re-exports, paths in code and modules below", () => {
  const root = { "lib.rs": "mod a;\npub(crate) mod b;\n" };
  assert.deepEqual(
    circlesOf({ ...root, "a.rs": "use crate::b::{self, c as d};", "b.rs": "fn f() { crate::a::g() }" }),
    [["a → b", "b → a"]],
  );
  const below = { "b.rs": "mod low;\npub use low::f;", "b/low.rs": "use super::super::a::{\n    x,\n    y::{z},\n};" };
  assert.deepEqual(circlesOf({ ...root, "a.rs": "use crate::b::f;", ...below }), [["a → b::low", "b::low → a"]]);
});

test("Comments, texts, unit tests and a module's own parts are in no circle", () => {
  const files = {
    "lib.rs": "mod a;\nmod b;\n",
    "a.rs": "mod part;\nuse crate::b;\nuse part::P;",
    "a/part.rs": "use super::Q;",
    "b.rs": '// use crate::a;\nconst A: &str = "\nuse crate::a;\n";\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n',
  };
  assert.deepEqual(circlesOf(files), []);
});
