// The docs name the shortcuts, menus and fields of the console as the console does.

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

test("The pages for website builders and WordPress name the console's menus and fields", () => {
  const texts = ["shell", "settings"].flatMap((name) => {
    const file = JSON.parse(read(`crates/console/texts/en/${name}.json`));
    return Object.values(file).filter((text) => typeof text === "string");
  });
  const NAMES = [
    ...["Settings", "Sites", "Add a site", "General", "Allowed origins"],
    ...["Widget", "More options", "Connect to this service directly"],
  ];
  for (const [page, names] of [
    ["docs/website-builders.md", [...NAMES, "Check the connection"]],
    ["docs/wordpress.md", NAMES],
  ])
    for (const name of names) {
      assert.ok(read(page).includes(`**${name}**`), `${page}: ${name}`);
      assert.ok(texts.includes(name), `the console has no "${name}"`);
    }
});
