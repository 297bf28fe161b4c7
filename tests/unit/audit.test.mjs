// The rules for the dependencies: those of cargo-deny for the crates, and the origins of the npm packages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { wrongOrigins } from "../../scripts/audit.mjs";
import { read } from "../docs-snippets.mjs";

test("deny.toml refuses vulnerable crates, other licences and other origins, and a workflow checks it", () => {
  const rules = read("deny.toml");
  for (const line of [
    'unmaintained = "all"',
    'unsound = "all"',
    'yanked = "deny"',
    'unknown-registry = "deny"',
    'unknown-git = "deny"',
    'allow-registry = ["https://github.com/rust-lang/crates.io-index"]',
    "allow-git = []",
  ])
    assert.ok(rules.split("\n").includes(line), line);
  const [, allowed] = rules.match(/^allow = \[(.*)\]$/m);
  assert.doesNotMatch(allowed, /GPL|SSPL|BUSL/);
  assert.match(read(".github/workflows/ci.yml"), /uses: EmbarkStudios\/cargo-deny-action@v\d/);
});

test("An npm package from another registry, or without a hash, is reported", () => {
  const good = { resolved: "https://registry.example/@a/b/-/b-1.0.0.tgz", integrity: "sha512-AAAA" };
  const packages = {
    "": {},
    "node_modules/a": good,
    "node_modules/b": { ...good, resolved: "git+ssh://git.example/b" },
    "node_modules/c": { ...good, integrity: "sha1-AAAA" },
  };
  assert.deepEqual(wrongOrigins({ packages }), [
    "node_modules/b comes from git+ssh://git.example/b",
    "node_modules/c has no SHA-512",
  ]);
});
