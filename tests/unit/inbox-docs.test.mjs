// The page for operators names exactly the shortcuts of the console.

import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "../docs-snippets.mjs";

test("docs/inbox.md lists every keyboard shortcut of the console, and no other", () => {
  const source = read("crates/console/src/keyboard.rs");
  const [, table] = /pub const SHORTCUTS[^=]*= \[(.*?)^\];/ms.exec(source);
  const keys = [...table.matchAll(/"([^"]+)"\)/g)].map(([, key]) => key);
  const [, section] = /## Use the keyboard\n(.*)/s.exec(read("docs/inbox.md"));
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((line) => [...line.split("|")[1].matchAll(/`([^`]+)`/g)].map(([, key]) => key));
  assert.ok(keys.length > 10);
  assert.deepEqual(named.sort(), keys.sort());
});
