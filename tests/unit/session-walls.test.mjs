// The walls inside crates/session: who may see whose state, and in which direction modules import.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { circlesIn, importsOf, modulesOf } from "./rust-modules.mjs";

const src = fileURLToPath(new URL("../../crates/session/src", import.meta.url));

/** The sources by their paths, without comments and unit tests. */
const sources = new Map(
  (function list(folder) {
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? list(path) : [path];
    });
  })(src)
    .map((path) => relative(src, path))
    .filter((path) => path.endsWith(".rs") && !/(^|[/_])tests(\.rs|\/)/.test(path))
    .map((path) => {
      const text = readFileSync(join(src, path), "utf8").replace(/^\s*\/\/.*$/gm, "");
      return [path, text.replace(/#\[cfg\(test\)\]\nmod tests \{[^]*$/, "")];
    }),
);

/** The owners of state, each with its module. */
const OWNERS = {
  Outbox: "outbox",
  PendingMessage: "outbox",
  Timeline: "timeline",
  Election: "election",
  TabSync: "tab_sync",
  Poller: "poller",
  Tracking: "tracking",
  ConfigLoader: "config_loader",
  Identity: "identity",
  InFlightRequests: "in_flight",
  Waiting: "wait",
};

/** The fields of a struct, as `[visibility, name]`. */
function fieldsOf(name) {
  for (const text of sources.values()) {
    const body = text.match(new RegExp(`struct ${name} \\{\\n([^]*?)\\n\\}`))?.[1];
    if (body) return [...body.matchAll(/^ {4}(pub(?:\([^)]*\))?)? ?(\w+): /gm)].map(([, seen, field]) => [seen, field]);
  }
  assert.fail(`struct ${name} is missing`);
}

/** The top-level module of a file. */
const moduleOf = (path) => path.replace(/\.rs$/, "").split("/")[0];

const imports = importsOf(modulesOf(join(src, "lib.rs")));

test("No field of the session is visible outside its module", () => {
  const fields = fieldsOf("Session");
  assert.ok(fields.length > 10, `${fields}`);
  assert.deepEqual(
    fields.filter(([visibility]) => visibility),
    [],
  );
});

test("No field of an owner is visible outside its module", () => {
  for (const [owner, module] of Object.entries(OWNERS)) {
    for (const [visibility, field] of fieldsOf(owner))
      assert.ok(
        !visibility || (visibility === "pub(super)" && module === "outbox"),
        `${owner}.${field}: ${visibility}`,
      );
  }
});

test("Only the module of an owner has methods of it", () => {
  for (const [owner, module] of Object.entries({ Session: "session", ...OWNERS })) {
    const where = [...sources].filter(([, text]) => new RegExp(`^impl(<[^>]*>)? ${owner}\\b`, "m").test(text));
    assert.ok(where.length > 0, owner);
    for (const [path] of where) assert.equal(moduleOf(path), module, `impl ${owner} in ${path}`);
  }
});

test("Only the codec knows the names of messages between tabs", () => {
  const codec = sources.get("tab_sync/message.rs");
  const names = [...codec.matchAll(/Self::\w+(?: \{[^}]*\})? => (?:\{\s*)?\("(\w+)", /g)].map(([, name]) => name);
  assert.ok(names.length >= 9, `${names}`);
  for (const [path, text] of sources) {
    if (path === "tab_sync/message.rs") continue;
    assert.doesNotMatch(text, /"does"/, path);
    for (const name of names.filter((name) => !["lead", "reset"].includes(name)))
      assert.ok(!text.includes(`"${name}"`), `${path} matches "${name}"`);
  }
});

test("No part imports the session, and no module is in a cycle", () => {
  assert.ok(imports.size > 30, `${[...imports.keys()]}`);
  const isSession = (module) => module.split("::")[0] === "session";
  for (const [module, found] of imports)
    if (module && !isSession(module)) assert.ok(![...found].some(isSession), `${module} imports session`);
  assert.deepEqual(circlesIn(imports), []);
});
