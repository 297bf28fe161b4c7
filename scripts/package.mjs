// Checks that the crates can be published: each package has exactly the files that it is built from, and the packages
// compile without this workspace and its patch of wasm-streams.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Advice, main, root, run, say, setupBuild } from "./setup.mjs";

const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
/** The crates to publish, each after its dependencies, with their folders and files. */
const CRATES = {
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

/**
 * Compiles the packages for the browser. Cargo's own verification caches interdependent crates in its registry, and would
 * use the cached sources after a change.
 */
function compile() {
  const pack = ["package", "--locked", "--allow-dirty", "--no-verify", ...named];
  // Offline if possible.
  if (!cargo(...pack, "--offline").ok) run("cargo", [...pack, "--quiet"]);
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  const folders = Object.keys(CRATES).map((name) => `${name}-${version()}`);
  // The current time instead of the constant one of packages: cargo recompiles files that are newer than its output.
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
