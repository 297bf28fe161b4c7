// Compiles a crate to WebAssembly with the flags that make it small.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { root, run, say } from "./setup.mjs";

// Listed one by one: with all features, binaryen emits a module that browsers reject.
export const WASM_FEATURES = [
  "bulk-memory",
  "bulk-memory-opt",
  "nontrapping-float-to-int",
  "sign-ext",
  "mutable-globals",
  "reference-types",
  "multivalue",
];

/**
 * Compiles what `target` names with these features and flags of the compiler, for development or for release. Returns the
 * folder of the modules.
 */
export function compileWasm({ target, features, flags = [], dev }) {
  run("cargo", ["fetch", "--locked", "--quiet", "--target", "wasm32-unknown-unknown"]);
  const profile = dev ? "dev" : "release-wasm";
  const options = [...features];
  // Moves common ends of two branches behind them: 0.1 % smaller.
  const all = [remapped(), "-Cllvm-args=-enable-gvn-sink", ...flags];
  const env = { ...process.env };
  if (!dev && compilesStd()) {
    // The panic messages of the standard library are 5 % of the module: docs/decisions/0010.
    env.RUSTC_BOOTSTRAP = "1";
    options.push("-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size");
    all.push(...WITHOUT_PANIC_MESSAGES);
  }
  env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS = all.join(" ");
  const place = ["--target-dir", "target", "--target", "wasm32-unknown-unknown", "--profile", profile];
  run("cargo", ["build", "--locked", ...target, ...place, ...options, "--quiet"], { env });
  return join(root, "target", "wasm32-unknown-unknown", dev ? "debug" : profile);
}

/** The compiler options that leave out panic messages. */
const WITHOUT_PANIC_MESSAGES = ["-Zunstable-options", "-Cpanic=immediate-abort", "-Zlocation-detail=none"];

/** Returns whether this compiler can build the standard library with them. Without, the module works and is larger. */
function compilesStd() {
  const result = spawnSync("rustc", [...WITHOUT_PANIC_MESSAGES, "--print", "cfg"], {
    env: { ...process.env, RUSTC_BOOTSTRAP: "1" },
    stdio: "ignore",
  });
  if (result.status === 0) return true;
  say("this Rust cannot leave out panic messages: the module will be about 4 KB larger");
  return false;
}

/** Returns flags that keep the paths of this machine out of what is compiled. */
export function remapped() {
  const home = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const sources = join(home, "registry", "src");
  const registries = existsSync(sources) ? readdirSync(sources) : [];
  const folders = [...registries.map((registry) => join(sources, registry)), root.replace(/[/\\]$/, "")];
  return folders.map((folder) => `--remap-path-prefix=${folder}=.`).join(" ");
}
