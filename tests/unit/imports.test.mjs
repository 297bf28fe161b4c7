// The modules of `www/` import each other without cycles, and none is longer than 400 lines.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { read } from "../docs-snippets.mjs";

const WWW = fileURLToPath(new URL("../../www", import.meta.url));
const FILES = readdirSync(WWW, { recursive: true }).filter((path) => /(?<!\.d)\.ts$/.test(path));

/** Returns the modules of `www/` that a file imports, including types. */
function importsOf(file) {
  const specifiers = [...read(`www/${file}`).matchAll(/\bfrom "(\.[^"]+)\.js"|\bimport\("(\.[^"]+)\.js"\)/g)];
  return specifiers
    .map(([, from, called]) => normalize(join(dirname(file), `${from ?? called}.ts`)))
    .filter((path) => FILES.includes(path));
}

/** Returns the first import cycle; `undefined` if there is none. */
function cycleIn(graph) {
  const done = new Set();
  const visit = (file, path) => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

test("no module of www/ imports itself by way of others", () => {
  assert.ok(FILES.length > 30, `${FILES.length} files`);
  assert.equal(cycleIn(new Map(FILES.map((file) => [file, importsOf(file)])))?.join(" → "), undefined);
});

test("an import cycle is found", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b"]],
  ]);
  assert.deepEqual(cycleIn(graph), ["b", "c", "b"]);
});

test("no module of www/ is longer than 400 lines", () => {
  const long = FILES.filter((file) => read(`www/${file}`).split("\n").length > 400);
  assert.deepEqual(long, []);
});

test("nothing that a page loads imports the server library, which needs no part of the page", () => {
  const isServer = (file) => file.startsWith("server/");
  for (const file of FILES) {
    for (const imported of importsOf(file)) {
      if (!isServer(file)) assert.ok(!isServer(imported), `${file} imports ${imported}`);
      else
        assert.ok(
          isServer(imported) || /^(client-types|visitor-profile)\.ts$/.test(imported),
          `${file} imports ${imported}`,
        );
    }
  }
});
