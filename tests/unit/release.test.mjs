// The parts of a release: its version, its notes, its archives, its list of components, and the workflows that make it.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { addressFields } from "../../scripts/npm-package.mjs";
import { tarGz } from "../../scripts/release/archive.mjs";
import { checksums, programArchive } from "../../scripts/release/files.mjs";
import { sbom } from "../../scripts/release/sbom.mjs";
import { changesOf, releaseNotes, sharedVersion, statedVersions } from "../../scripts/release/source.mjs";
import { staticProblems } from "../../scripts/release/static-binary.mjs";
import { root } from "../../scripts/setup.mjs";
import { read } from "../docs-snippets.mjs";

const folder = mkdtempSync(join(tmpdir(), "release-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const SOURCE = { hash: "0123456789abcdef0123456789abcdef01234567", time: 1_790_000_000 };
const X86_64 = 62;

test("Cargo.toml, package.json, the lock file and the plugin for WordPress state one version", () => {
  const stated = statedVersions();
  assert.ok(stated.length >= 8, `${stated.length} places`);
  assert.match(sharedVersion(stated), /^\d+\.\d+\.\d+$/);
});

test("A place with another version is named, with both versions", () => {
  const stated = [
    ["Cargo.toml", "1.2.0"],
    ["package.json", "1.2.0"],
    ["readme.txt", "1.1.0"],
    ["other.txt", undefined],
  ];
  assert.throws(
    () => sharedVersion(stated),
    /expected 1\.2\.0 as in Cargo\.toml, got\n {2}readme\.txt: 1\.1\.0\n {2}other\.txt: no version$/,
  );
});

test("The npm package names the given repository, and refuses a malformed address", () => {
  assert.deepEqual(addressFields("https://git.example/shop/chat"), {
    homepage: "https://git.example/shop/chat#readme",
    repository: { type: "git", url: "git+https://git.example/shop/chat.git" },
    bugs: "https://git.example/shop/chat/issues",
  });
  for (const wrong of [
    "git.example/chat",
    "http://git.example/chat",
    "https://git.example/chat.git",
    "https://git.example/chat/",
  ])
    assert.throws(() => addressFields(wrong), /expected the address of the repository/, wrong);
});

const CHANGELOG = `# Changelog

All changes.

## Unreleased

- Not yet.

## 1.2.0 - 2026-11-24

### Added

- A page: [docs/a.md](docs/a.md#b), and [elsewhere](https://site.example).

## 1.1.0

- Older.
`;

test("The release notes are the section of the version, without links to files of the repository", () => {
  assert.equal(
    releaseNotes(CHANGELOG, "1.2.0"),
    "# Chat widget 1.2.0\n\n### Added\n\n- A page: docs/a.md, and [elsewhere](https://site.example).\n",
  );
  assert.equal(changesOf(CHANGELOG, "1.1.0"), "- Older.");
});

test('A version without a section is an error, except for a dry run, which takes the section "Unreleased"', () => {
  assert.throws(() => changesOf(CHANGELOG, "1.3.0"), /CHANGELOG\.md has no section of version 1\.3\.0: rename/);
  assert.equal(changesOf(CHANGELOG, "1.3.0", { dryRun: true }), "- Not yet.");
  // The version is no pattern.
  assert.throws(() => changesOf("## 1x2x0\n\n- Other.\n", "1.2.0"), /no section/);
  assert.throws(
    () => changesOf("## 1.2.0\n\n## 1.1.0\n\n- Older.\n", "1.2.0"),
    /the section of version 1\.2\.0 is empty/,
  );
});

test("A tar archive has its files in order, with their modes, one time, and root as the owner", () => {
  const files = {
    "b/program": { bytes: Buffer.alloc(1025, "x"), mode: 0o755 },
    "a.txt": { bytes: Buffer.from("text\n"), mode: 0o644 },
    "b/empty": { bytes: Buffer.alloc(0), mode: 0o644 },
  };
  const archive = tarGz(files, SOURCE.time);
  const reversed = Object.fromEntries(Object.entries(files).reverse());
  assert.ok(archive.equals(tarGz(reversed, SOURCE.time)), "the order of the files does not matter");
  const path = join(folder, "archive.tar.gz");
  writeFileSync(path, archive);
  const listed = execFileSync("tar", ["--list", "--verbose", "--utc", "--full-time", "-zf", path], {
    encoding: "utf8",
  });
  assert.deepEqual(
    listed
      .trim()
      .split("\n")
      .map((line) => line.split(/ +/).join(" ")),
    [
      "-rw-r--r-- root/root 5 2026-09-21 14:13:20 a.txt",
      "-rw-r--r-- root/root 0 2026-09-21 14:13:20 b/empty",
      "-rwxr-xr-x root/root 1025 2026-09-21 14:13:20 b/program",
    ],
  );
  execFileSync("tar", ["-xzf", path, "-C", folder]);
  assert.equal(readFileSync(join(folder, "b/program"), "utf8"), "x".repeat(1025));
  assert.throws(() => tarGz({ ["n".repeat(101)]: files["a.txt"] }, 0), /expected at most 100 bytes/);
});

test("The archive of a program contains the program and both licences in a folder", () => {
  const path = join(folder, "program.tar.gz");
  writeFileSync(path, programArchive("site-connector-1.2.0-x86_64-linux", Buffer.from("program"), SOURCE.time));
  assert.deepEqual(execFileSync("tar", ["-tzf", path], { encoding: "utf8" }).trim().split("\n"), [
    "site-connector-1.2.0-x86_64-linux/LICENSE-APACHE",
    "site-connector-1.2.0-x86_64-linux/LICENSE-MIT",
    "site-connector-1.2.0-x86_64-linux/site-connector",
  ]);
});

test("The checksums are those that sha256sum expects, and leave out their own file", () => {
  const own = mkdtempSync(join(folder, "sums-"));
  writeFileSync(join(own, "b"), "b");
  writeFileSync(join(own, "a"), "a");
  writeFileSync(join(own, "SHA256SUMS"), checksums(own));
  const checked = execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: own, encoding: "utf8" });
  assert.equal(checked, "a: OK\nb: OK\n");
});

/** Returns an ELF file with program headers of these kinds. */
function elf({ machine = X86_64, kinds = [1, 2] } = {}) {
  const bytes = Buffer.alloc(64 + kinds.length * 56);
  bytes.write("\x7fELF\x02", 0, "latin1");
  bytes.writeUInt16LE(machine, 18);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(kinds.length, 56);
  kinds.forEach((kind, index) => bytes.writeUInt32LE(kind, 64 + index * 56));
  return bytes;
}

test("A program that needs a dynamic linker or another processor is refused", () => {
  assert.deepEqual(staticProblems(elf(), X86_64), []);
  assert.deepEqual(staticProblems(elf({ kinds: [1, 3, 2] }), X86_64), ["it needs a dynamic linker"]);
  assert.deepEqual(staticProblems(elf({ machine: 183 }), X86_64), ["it is for the machine 183: expected 62"]);
  assert.deepEqual(staticProblems(Buffer.from("#!/bin/sh\n"), X86_64), ["it is not a 64-bit ELF file"]);
});

const parts = sbom("1.2.0", SOURCE);

test("The list of parts has what CycloneDX 1.6 requires", () => {
  const { bomFormat, specVersion, serialNumber, version, metadata, components, dependencies } = parts;
  assert.deepEqual([bomFormat, specVersion, version], ["CycloneDX", "1.6", 1]);
  assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  assert.equal(metadata.timestamp, "2026-09-21T14:13:20.000Z");
  assert.deepEqual([metadata.component.type, metadata.component.name], ["application", "chat-widget"]);
  assert.ok(components.length > 500, `${components.length} components`);
  const lengths = { "SHA-256": 64, "SHA-512": 128 };
  for (const one of components) {
    assert.equal(one.type, "library");
    assert.ok(one.name && one.version, JSON.stringify(one));
    assert.ok(["required", "excluded"].includes(one.scope), one.purl);
    assert.match(one.purl, /^pkg:(?:cargo|npm)\/(?:%40[\w.-]+\/)?[\w.-]+@\d[\w.+-]*$/);
    assert.match(
      one.licenses[0].expression,
      /^\(?[A-Z0-9][\w.+-]*(?:(?: (?:OR|AND|WITH) )\(?[\w.+-]+\)?)*\)?$/,
      one.purl,
    );
    for (const { alg, content } of one.hashes ?? [])
      assert.match(content, new RegExp(`^[0-9a-f]{${lengths[alg]}}$`), one.purl);
  }
  const refs = components.map((one) => one["bom-ref"]);
  assert.equal(new Set(refs).size, refs.length, "each reference is used once");
  const known = new Set([...refs, metadata.component["bom-ref"]]);
  assert.deepEqual(new Set(dependencies.map(({ ref }) => ref)), known);
  for (const { ref, dependsOn } of dependencies)
    for (const other of dependsOn) assert.ok(known.has(other), `${ref} depends on ${other}`);
});

test("The list of parts has every npm package, and every crate that is released, with the registry's hash", () => {
  const listed = new Map(parts.components.map((one) => [one.purl, one]));
  const { packages } = JSON.parse(read("package-lock.json"));
  for (const [path, { name = path.split("node_modules/").at(-1), version }] of Object.entries(packages))
    assert.ok(listed.has(`pkg:npm/${name.replace("@", "%40")}@${version}`), path);
  const withoutHash = parts.components.filter((one) => !one.hashes).map((one) => one.purl.replace(/@[^@]*$/, ""));
  const own = "audit connector console markup page protocol service session widget"
    .split(" ")
    .map((name) => `pkg:cargo/chat-${name}`);
  assert.deepEqual(withoutHash, [...own, "pkg:cargo/wasm-streams", "pkg:npm/%40site-connector/chat-widget"]);
  const scopes = (name) => parts.components.filter((one) => one.name === name).map(({ scope }) => scope);
  assert.deepEqual(
    ["tokio", "libsqlite3-sys", "leptos", "serde_derive", "cc", "esbuild"].map((name) => scopes(name)[0]),
    ["required", "required", "required", "excluded", "excluded", "excluded"],
  );
  assert.deepEqual(scopes("proptest"), [], "a dependency of tests is not part of a release");
});

test("The list of parts depends on the sources and the commit alone", () => {
  const text = JSON.stringify(parts);
  assert.equal(JSON.stringify(sbom("1.2.0", SOURCE)), text);
  assert.ok(!text.includes(root), "it names no folder of this machine");
  const other = sbom("1.2.0", { ...SOURCE, hash: SOURCE.hash.replace("0", "f") });
  assert.notEqual(other.serialNumber, parts.serialNumber);
});

const WORKFLOWS = ".github/workflows";

for (const name of readdirSync(join(root, WORKFLOWS))) {
  const text = read(`${WORKFLOWS}/${name}`);

  test(`${name} runs scripts of the project, with actions of one major version and few permissions`, () => {
    const { scripts } = JSON.parse(read("package.json"));
    const called = [...text.matchAll(/\bnpm (?:run )?([\w:-]+)/g)].map(([, script]) => script);
    assert.ok(called.length > 0, "it runs a script");
    for (const script of called) assert.ok(script in scripts, `package.json has no script ${script}`);
    const used = [...text.matchAll(/^\s*- uses: (\S+)$/gm)].map(([, action]) => action);
    assert.ok(used.length > 0, "it uses an action");
    for (const action of used) assert.match(action, /^(?:actions\/[\w-]+|EmbarkStudios\/cargo-deny-action)@v\d+$/);
    assert.match(text, /^permissions:\n {2}contents: read$/m);
    assert.doesNotMatch(text, /\t/);
  });

  test(`${name} has the versions of Node and Rust that the project asks for`, () => {
    const [, node] = text.match(/node-version: "(\d+)"/);
    const { engines } = JSON.parse(read("package.json"));
    assert.ok(Number(node) >= Number(engines.node.match(/\d+/)[0]), node);
    assert.ok(statSync(join(root, "rust-toolchain.toml")).isFile(), "rustup installs the toolchain of this file");
  });
}

test("The workflow of a release names every check, so that one that cannot run fails", () => {
  const refused = spawnSync("node", ["scripts/check-release.mjs", "unknown"], { cwd: root, encoding: "utf8" });
  const [, names] = refused.stderr.match(/expected some of (.+), got unknown/);
  const [, named] = read(`${WORKFLOWS}/release.yml`).match(/npm run check:release -- (.+)$/m);
  assert.deepEqual(named.split(" ").sort(), names.split(", ").sort());
});
