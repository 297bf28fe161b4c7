// The steps of `npm test`: each file of the project is an input of one, and none misses an input.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/setup.mjs";
import { STEPS } from "../../scripts/steps.mjs";
import { read } from "../docs-snippets.mjs";

const { scripts, wireit } = JSON.parse(read("package.json"));

/** The file that wireit adds to the inputs of each step. */
const LOCK = "package-lock.json";

/** Returns the patterns of a script's inputs, with those that it takes over from what it depends on. */
function inputs(script) {
  const { files = [], dependencies = [] } = wireit[script];
  return [LOCK, ...files, ...dependencies.filter((one) => typeof one === "string").flatMap(inputs)];
}

/** Returns whether a pattern matches a path. The patterns are paths, folders as `folder/**`, and `*.md` of the root. */
function matches(pattern, path) {
  if (pattern === "*.md") return /^[^/]+\.md$/.test(path);
  if (pattern.endsWith("/**")) return path.startsWith(pattern.slice(0, -2));
  assert.doesNotMatch(pattern, /[*?!{]/);
  return path === pattern;
}

/** Returns the folders of the workspace's crates that a crate depends on, including its own. */
function crates(folder) {
  const [, dependencies] = read(join(folder, "Cargo.toml")).match(/^\[dependencies\]\n([^]*?)(?:\n\[|$(?![^]))/m);
  const own = [...dependencies.matchAll(/^chat-(\w+)(?:\.workspace| = \{ (?:workspace|path))/gm)];
  return [folder, ...own.flatMap(([, name]) => crates(`crates/${name}`))];
}

test("Each file of the project is an input of a step", () => {
  const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  const patterns = Object.keys(wireit)
    .filter((script) => wireit[script].command)
    .flatMap(inputs);
  const missed = tracked.filter((path) => existsSync(join(root, path)) && !patterns.some((one) => matches(one, path)));
  assert.deepEqual(missed, []);
});

test("Each input exists", () => {
  const places = Object.values(wireit).flatMap(({ files = [] }) => files.map((file) => file.replace("/**", "")));
  const missing = places.filter((place) => !/^(?:target\/|\*)/.test(place) && !existsSync(join(root, place)));
  assert.deepEqual(missing, []);
});

for (const [script, folder] of Object.entries({
  "build:module": ".",
  "wasm-pack": ".",
  "native:widget": ".",
  "build:console": "crates/console",
  "native:console": "crates/console",
  "native:session": "crates/session",
  "native:service": "crates/service",
  "native:connector": "crates/connector",
  "native:fuzz": "fuzz",
})) {
  test(`The inputs of ${script} have each crate of the workspace that it compiles`, () => {
    const needed = crates(folder).filter((crate) => crate !== ".");
    const patterns = inputs(`step:${script}`);
    const missed = needed.filter((crate) => !patterns.some((one) => matches(one, `${crate}/src/lib.rs`)));
    assert.deepEqual(missed, []);
  });
}

test("Each step has inputs in package.json, and each script of wireit is a step or a group", () => {
  const commands = Object.entries(wireit).filter(([, { command }]) => command);
  for (const [script, { command }] of commands) assert.equal(`step:${command.split(" ").at(-1)}`, script);
  const named = Object.keys(STEPS).map((name) => `step:${name}`);
  assert.deepEqual(commands.map(([script]) => script).sort(), named.sort());
});

test("`npm run test:all` runs every step", () => {
  const reached = new Set();
  const follow = (script) => {
    reached.add(script);
    for (const one of wireit[script].dependencies ?? []) follow(one.script ?? one);
  };
  for (const group of scripts["test:all"].match(/(?<=mjs ).*/)[0].split(" ")) follow(`steps:${group}`);
  assert.deepEqual(
    Object.keys(STEPS).filter((step) => !reached.has(`step:${step}`)),
    [],
  );
});
