// The inputs of the builds, which decide whether a build is current.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CONSOLE, WIDGET } from "../../scripts/inputs.mjs";
import { root } from "../../scripts/setup.mjs";
import { read } from "../docs-snippets.mjs";

/** Returns the paths that are neither in a list of inputs nor below one of its folders. */
const missing = (paths, inputs) =>
  paths.filter((path) => !inputs.some((input) => path === input || path.startsWith(`${input}/`)));

/** Returns the folders of the workspace's crates that a crate depends on, including its own. */
function crates(folder) {
  const [, dependencies] = read(join(folder, "Cargo.toml")).match(/^\[dependencies\]\n([^]*?)\n\[/m);
  const own = [...dependencies.matchAll(/^chat-(\w+)(?:\.workspace| = \{ workspace)/gm)];
  return [folder, ...own.flatMap(([, name]) => crates(`crates/${name}`))];
}

/** Returns the paths in a script's string literals that exist in the project. */
const literals = (script) =>
  [...read(`scripts/${script}.mjs`).matchAll(/"([\w.-]+(?:\/[\w.-]+)*)"/g)]
    .map(([, path]) => path)
    .filter((path) => !/^(?:dist|target|tests)(?:\/|$)|^\./.test(path) && existsSync(join(root, path)));

for (const [name, inputs, folder] of [
  ["widget", WIDGET, "."],
  ["console", CONSOLE, "crates/console"],
]) {
  test(`The inputs of the ${name} exist`, () => {
    assert.deepEqual(
      inputs.filter((path) => !existsSync(join(root, path))),
      [],
    );
  });

  test(`The inputs of the ${name} have the sources and the manifest of each crate in it`, () => {
    const [, patched] = read("Cargo.toml").match(/^\[patch\.crates-io\]\n.*path = "(.+)"/m);
    const found = [...crates(folder), patched];
    assert.ok(found.includes("crates/protocol"), found.join());
    const files = found.flatMap((crate) => [join(crate, "Cargo.toml"), join(crate, "src")]);
    assert.deepEqual(missing(files, inputs), []);
  });
}

test("The inputs of the widget have every file that its scripts name, and the settings of their tools", () => {
  const named = ["build", "styles", "manifests", "options", "split", "glue", "wasm"].flatMap(literals);
  assert.ok(named.includes("docs/frontend.md") && named.includes("www/module.ts"), named.join());
  const settings = ["Cargo.lock", "package-lock.json", "rust-toolchain.toml", "tsconfig.json"];
  assert.deepEqual(missing([...named, ...settings], WIDGET), []);
});
