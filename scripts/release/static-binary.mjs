// `site-connector` as a static binary for Linux. Zig compiles the C code of the dependencies, and Rust's own linker links
// Rust's own musl, so that the result does not depend on the compilers and libraries of the machine.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Advice, ensureTarget, firstLine, root, run, say, toolsHome, which } from "../setup.mjs";
import { remapped } from "../wasm.mjs";

/** The targets, by their names in the names of the files. `machine` is the number of the processor in an ELF file. */
export const TARGETS = {
  "x86_64-linux": { rust: "x86_64-unknown-linux-musl", zig: "x86_64-linux-musl", machine: 62 },
  "aarch64-linux": { rust: "aarch64-unknown-linux-musl", zig: "aarch64-linux-musl", machine: 183 },
};

const ZIG_VERSION = "0.17.1";
/** The hash of PyPI's package of Zig for x86-64 Linux. */
const ZIG_HASH = "sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54";

/** Returns the path of Zig. It is fetched from PyPI into the tools cache if it is missing. */
function zig() {
  const home = join(toolsHome, `zig-${ZIG_VERSION}`);
  const path = join(home, "ziglang", "zig");
  if (existsSync(path)) return path;
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Advice("the static binaries are built on x86-64 Linux: use such a machine, or --without-binaries");
  if (!which("python3")) throw new Advice("python3 with pip is missing: install it, or use --without-binaries");
  say(`fetching Zig ${ZIG_VERSION} from PyPI (100 MB)`);
  mkdirSync(home, { recursive: true });
  const list = join(home, "requirements.txt");
  writeFileSync(list, `ziglang==${ZIG_VERSION} --hash=${ZIG_HASH}\n`);
  // pip compares the hash before it unpacks.
  const quiet = ["--disable-pip-version-check", "--root-user-action", "ignore"];
  const flags = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--quiet"];
  try {
    run("python3", ["-m", "pip", "install", ...flags, ...quiet, "--target", home, "--requirement", list]);
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
  return path;
}

/** Writes a shell script into the folder of the wrappers, and returns its path. */
function script(name, lines) {
  const folder = join(root, "target", "zig");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${lines.join("\n")}\n`, { mode: 0o755 });
  return path;
}

/**
 * Returns the flag that names the sources of the standard library as Rust's own builds do. Where they are installed, the
 * compiler writes their path on this machine into the program.
 */
function remappedStd() {
  const about = execFileSync("rustc", ["--verbose", "--version"], { cwd: root, encoding: "utf8" });
  const [, commit] = about.match(/^commit-hash: ([0-9a-f]{40})$/m) ?? [];
  if (!commit) throw new Advice("this Rust does not name its commit: use a release from rustup");
  const sources = join(firstLine("rustc", ["--print", "sysroot"]), "lib", "rustlib", "src", "rust");
  return `--remap-path-prefix=${sources}=/rustc/${commit}`;
}

/** Returns the variables by which cargo and the build scripts of crates compile for a target. */
function environment({ rust, zig: target }, { time }) {
  const path = zig();
  const compiler = script(`${rust.split("-")[0]}-cc`, [
    // The build scripts name the target as Rust does, which Zig does not know.
    'for argument; do shift; case "$argument" in --target=*) ;; *) set -- "$@" "$argument" ;; esac; done',
    `exec "${path}" cc -target ${target} -fno-sanitize=all "$@"`,
  ]);
  const name = rust.replaceAll("-", "_");
  const cache = join(root, "target", "zig", "cache");
  return {
    [`CC_${name}`]: compiler,
    [`AR_${name}`]: script("ar", [`exec "${path}" ar "$@"`]),
    [`CARGO_TARGET_${name.toUpperCase()}_LINKER`]: "rust-lld",
    [`CARGO_TARGET_${name.toUpperCase()}_RUSTFLAGS`]: `${remapped()} ${remappedStd()}`,
    ZIG_GLOBAL_CACHE_DIR: cache,
    ZIG_LOCAL_CACHE_DIR: cache,
    SOURCE_DATE_EPOCH: String(time),
  };
}

/** Returns the reasons why a file is not a static program for a processor. Empty for such a program. */
export function staticProblems(bytes, machine) {
  if (bytes.length < 64 || bytes.toString("latin1", 0, 4) !== "\x7fELF" || bytes[4] !== 2)
    return ["it is not a 64-bit ELF file"];
  const problems = [];
  const found = bytes.readUInt16LE(18);
  if (found !== machine) problems.push(`it is for the machine ${found}: expected ${machine}`);
  const [start, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  const INTERPRETER = 3;
  const kinds = Array.from({ length: count }, (_, index) => bytes.readUInt32LE(start + index * size));
  if (kinds.includes(INTERPRETER)) problems.push("it needs a dynamic linker");
  return problems;
}

/** Returns the path of a target's binary. */
export const binaryPath = ({ rust }) => join(root, "target", rust, "release", "site-connector");

/** Builds the binary of a target. `time` is in seconds since 1970. Returns its bytes. */
export function buildBinary(name, time) {
  const target = TARGETS[name];
  ensureTarget(target.rust);
  say(`compiling site-connector for ${name}; this takes several minutes`);
  const what = ["-p", "chat-connector", "--bin", "site-connector"];
  const place = ["--target-dir", "target", "--target", target.rust, "--release"];
  run("cargo", ["build", "--locked", "--quiet", ...what, ...place], {
    env: { ...process.env, ...environment(target, { time }) },
  });
  const bytes = readFileSync(binaryPath(target));
  const problems = staticProblems(bytes, target.machine);
  if (bytes.includes("/sandbox/")) problems.push("it contains the test mode of the service");
  if (problems.length > 0) throw new Advice(`invalid binary ${binaryPath(target)}: ${problems.join("; ")}`);
  return bytes;
}
