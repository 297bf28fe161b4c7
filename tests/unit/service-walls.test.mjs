// The walls inside crates/service: which module may use which others. ARCHITECTURE.md has the table.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { read } from "../docs-snippets.mjs";
import { circlesIn, importsOf, modulesOf } from "./rust-modules.mjs";

const SOURCES = fileURLToPath(new URL("../../crates/service/src/", import.meta.url));

/** The layer around all others, which the released program does not have. */
const TEST_MODE = "test_mode";

/** Each file's module with those that it imports. */
const modules = importsOf(modulesOf(`${SOURCES}lib.rs`));

/** Each top-level module with those that it uses; the running service, which the root defines, is the empty name. */
const imports = new Map();
for (const [module, found] of modules) {
  const top = module.split("::")[0];
  if (top === "" || top === TEST_MODE) continue;
  const used = imports.get(top) ?? new Set();
  for (const name of found) used.add(name.split("::")[0]);
  used.delete(top);
  imports.set(top, used);
}

const section = read("ARCHITECTURE.md").split("\n## The modules of the service\n")[1]?.split("\n## ")[0] ?? "";
/** The rows of the table, from the ground up. */
const rows = [...section.matchAll(/^\| (\w+) \| `(\w+)` \| .+ \| (.*?) ?\|$/gm)].map(([, floor, name, uses]) => ({
  floor,
  name,
  uses: [...uses.matchAll(/`(\w+)`/g)].map(([, used]) => used),
}));
const ground = rows.filter(({ floor }) => floor === "ground").map(({ name }) => name);

test("The table has each module of the service once", () => {
  assert.ok(ground.length > 10, `${ground}`);
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), [...imports.keys()].toSorted());
});

test("A module may use those of earlier rows only, so that there is no circle", () => {
  for (const [index, { name, uses }] of rows.entries()) {
    const earlier = rows.slice(0, index).map((row) => row.name);
    for (const used of uses) assert.ok(earlier.includes(used), `${name} may not use ${used}: it is not an earlier row`);
  }
});

test("Each module uses the modules of its row, and above the ground all of the ground", () => {
  for (const { floor, name, uses } of rows) {
    const used = [...imports.get(name)].filter(Boolean);
    const named = floor === "ground" ? used : used.filter((module) => !ground.includes(module));
    const row = (modules) => modules.map((module) => `\`${module}\``).join(", ");
    assert.equal(row(uses), row(named.toSorted()), `the modules that ${name} uses are not those of its row`);
  }
});

test("The ground knows nothing of the running service", () => {
  for (const name of ground) assert.ok(!imports.get(name).has(""), `${name} uses the root`);
});

test("No files inside a module are in a circle", () => {
  assert.ok(modules.size > 150, `${modules.size}`);
  assert.deepEqual(circlesIn(modules), []);
});

test("The files of routes and of unit tests have the name of their module", () => {
  const files = readdirSync(SOURCES, { recursive: true }).map((file) => basename(file));
  assert.deepEqual(
    files.filter((file) => ["routes.rs", "tests.rs"].includes(file)),
    [],
  );
});
