// The README of the npm package: it stands alone on npm's page, and its code is that of the docs, which tests run.

import assert from "node:assert/strict";
import { test } from "node:test";
import { read, snippets } from "../docs-snippets.mjs";

const PAGE = "www/npm/README.md";
const text = read(PAGE);

test("every snippet is one of docs/frameworks.md", () => {
  // The names of files there are for the test that writes them.
  const withoutFile = (code) => code.replace(/^\/\/ [\w.]+\.tsx?\n/, "");
  const tested = [...snippets("docs/frameworks.md").values()].map(withoutFile);
  const own = [...snippets(PAGE)];
  assert.ok(own.length > 5, `${own.length}`);
  for (const [name, code] of own) assert.ok(tested.includes(code), name);
});

test("every link is absolute, because the package has no other pages", () => {
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
  assert.ok(links.length > 2, `${links.length}`);
  for (const link of links) assert.match(link, /^https:\/\/[\w.-]+\//);
});

test("the table of imports has every export of package.json", () => {
  const { exports } = JSON.parse(read("package.json"));
  const rows = text.split("## What you can import\n")[1].matchAll(/`(?:@site-connector\/chat-widget|…)(\/[^`]+)?`/g);
  const listed = [...rows].map(([, path = ""]) => `.${path}`);
  assert.deepEqual(
    listed.sort(),
    Object.keys(exports)
      .filter((path) => path !== "./package.json")
      .sort(),
  );
});
