// Checks that the crates can be published: each package has exactly the files that it is built from, and the packages
// compile without this workspace and its patch of wasm-streams.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Advice, main, root, run, say, setupBuild } from "./setup.mjs";

const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
/** The crates to publish, each after its dependencies, with their folders and files. */
const CRATES = {
  "chat-markup": { folder: "crates/markup", parts: ["src", "README.md", ...LICENCES] },
  "chat-protocol": { folder: "crates/protocol", parts: ["src", "README.md", ...LICENCES] },
  "chat-session": { folder: "crates/session", parts: ["src", "README.md", ...LICENCES] },
  "chat-widget": {
    folder: ".",
    parts: ["src", "styles", "themes", "build.rs", "docs/rust.md", "README.md", "CHANGELOG.md", ...LICENCES],
  },
};
/** The files that cargo adds; the first one only in a git repository. */
const BY_CARGO = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"];

const named = Object.keys(CRATES).flatMap((name) => ["-p", name]);
/** The folders of the packages and of their unpacked files. */
const packed = join(root, "target", "package");
const unpacked = join(root, "target", "unpacked");

/** The shared version of all crates of the workspace. */
const version = () => readFileSync(join(root, "Cargo.toml"), "utf8").match(/^version = "([^"]+)"/m)[1];

/** Runs cargo and returns its output. Quiet, because it warns about a missing repository each time. */
function cargo(...args) {
  const { status, stdout, stderr } = spawnSync("cargo", args, { cwd: root, encoding: "utf8" });
  return { ok: status === 0, stdout, stderr };
}

/** Returns the files of a crate's parts, by their paths in its folder. */
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

/** Writes the packages without compiling them. Returns their paths. */
export function packCrates() {
  const pack = ["package", "--locked", "--allow-dirty", "--no-verify", ...named];
  // Offline if possible.
  if (!cargo(...pack, "--offline").ok) run("cargo", [...pack, "--quiet"]);
  return Object.keys(CRATES).map((name) => join(packed, `${name}-${version()}.crate`));
}

/**
 * Unpacks packages into a new folder, as a workspace that uses them in place of published ones. `members` are more packages
 * in the folder. Returns the names of the crates.
 */
export function unpackCrates(paths, folder, members = []) {
  mkdirSync(folder, { recursive: true });
  // The current time instead of the constant one of packages: cargo recompiles files that are newer than its output.
  for (const path of paths) run("tar", ["-xzmf", path, "-C", folder]);
  const folders = paths.map((path) => basename(path, ".crate"));
  const names = folders.map((name) => name.replace(/-\d+\.\d+\.\d+.*$/, ""));
  const patches = names.map((name, index) => `${name} = { path = "${folders[index]}" }`);
  const manifest = [
    "[workspace]",
    'resolver = "3"',
    `members = ${JSON.stringify([...folders, ...members])}`,
    "[patch.crates-io]",
    ...patches,
  ];
  writeFileSync(join(folder, "Cargo.toml"), `${manifest.join("\n")}\n`);
  copyFileSync(join(folder, folders[names.indexOf("chat-widget")], "Cargo.lock"), join(folder, "Cargo.lock"));
  return names;
}

/**
 * Compiles the packages for the browser. Cargo's own verification caches interdependent crates in its registry, and would
 * use the cached sources after a change.
 */
function compile() {
  const paths = packCrates();
  rmSync(unpacked, { recursive: true, force: true });
  unpackCrates(paths, unpacked);
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
