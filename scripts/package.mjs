// Whether the crates can be published: each package has the files that it is built from and no others, and what is in
// the packages compiles by itself, without this workspace and its patch of wasm-streams.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Advice, main, root, run, say, setupBuild } from "./setup.mjs";

const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
/** The crates to publish, each after those that it depends on: where they are, and what they are made of. */
const CRATES = {
  "chat-protocol": { folder: "crates/protocol", parts: ["src", "README.md", ...LICENCES] },
  "chat-session": { folder: "crates/session", parts: ["src", "README.md", ...LICENCES] },
  "chat-widget": {
    folder: ".",
    parts: ["src", "styles", "themes", "build.rs", "docs/rust.md", "README.md", "CHANGELOG.md", ...LICENCES],
  },
};
/** The files that cargo adds, the first of them only in a git repository. */
const BY_CARGO = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"];

const named = Object.keys(CRATES).flatMap((name) => ["-p", name]);
/** Where cargo puts the packages, and where they are unpacked. */
const packed = join(root, "target", "package");
const unpacked = join(root, "target", "unpacked");

/** The version that all crates of the workspace share. */
const version = () => readFileSync(join(root, "Cargo.toml"), "utf8").match(/^version = "([^"]+)"/m)[1];

/** Runs cargo for what it prints; quietly, as it says again that there is no repository to name. */
function cargo(...args) {
  const { status, stdout, stderr } = spawnSync("cargo", args, { cwd: root, encoding: "utf8" });
  return { ok: status === 0, stdout, stderr };
}

/** The files that a crate's parts are, by their paths in its folder. */
function filesOf({ folder, parts }) {
  const from = join(root, folder);
  return parts.flatMap((part) => {
    if (statSync(join(from, part)).isFile()) return part;
    const entries = readdirSync(join(from, part), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map((entry) =>
      join(entry.parentPath ?? entry.path, entry.name)
        .slice(from.length)
        .replace(/^[/\\]/, ""),
    );
  });
}

/** Returns a line for each missing or superfluous file of the packages. */
function misplaced() {
  return Object.entries(CRATES).flatMap(([name, crate]) => {
    const { ok, stdout, stderr } = cargo("package", "--locked", "--allow-dirty", "--list", "-p", name);
    if (!ok) throw new Advice(stderr);
    const there = new Set(stdout.trim().split("\n"));
    const wanted = filesOf(crate);
    const allowed = new Set([...wanted, ...BY_CARGO]);
    return [
      ...wanted.filter((file) => !there.has(file)).map((file) => `${name} lacks ${file}`),
      ...[...there]
        .filter((file) => !allowed.has(file))
        .map((file) => `${name} has ${file}, which is not to be published`),
    ];
  });
}

/**
 * Compiles what is in the packages, for the browser. Not by cargo's own verification: that unpacks crates which depend on
 * each other into its registry, and takes what is there the next time although the sources have changed.
 */
function compile() {
  const pack = ["package", "--locked", "--allow-dirty", "--no-verify", ...named];
  // The registry is asked only where it has to be.
  if (!cargo(...pack, "--offline").ok) run("cargo", [...pack, "--quiet"]);
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const folders = Object.keys(CRATES).map((name) => `${name}-${version()}`);
  // As of now, not of the same time in all packages: cargo compiles again what is newer than what it has.
  for (const folder of folders) run("tar", ["-xzmf", join(packed, `${folder}.crate`), "-C", unpacked]);
  const patches = Object.keys(CRATES).map((name, index) => `${name} = { path = "${folders[index]}" }`);
  const manifest = [
    "[workspace]",
    'resolver = "3"',
    `members = ${JSON.stringify(folders)}`,
    "[patch.crates-io]",
    ...patches,
  ];
  writeFileSync(join(unpacked, "Cargo.toml"), `${manifest.join("\n")}\n`);
  copyFileSync(join(unpacked, folders.at(-1), "Cargo.lock"), join(unpacked, "Cargo.lock"));
  const target = ["--target-dir", join(root, "target"), "--target", "wasm32-unknown-unknown"];
  run("cargo", ["check", "--quiet", "--manifest-path", join(unpacked, "Cargo.toml"), ...named, ...target]);
}

export function checkPackages() {
  const wrong = misplaced();
  if (wrong.length > 0) throw new Advice(wrong.join("\n"));
  compile();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    setupBuild();
    checkPackages();
    say("the crates can be published");
  });
}
