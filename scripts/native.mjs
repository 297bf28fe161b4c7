// The native tests: one compilation for the whole workspace, whose programs run crate by crate.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { RECORDS } from "./run-steps.mjs";
import { Advice, root, say } from "./setup.mjs";
import { countTests, tee } from "./test-output.mjs";

/** The packages and features of every native build of a test run, so that each crate is compiled once. */
export const NATIVE = ["--locked", "--workspace"];
/** The list of the programs that the last build made. */
const PROGRAMS = join(RECORDS, "programs.json");

/** Compiles all test programs, the command and the load generator, and lists the programs. */
export function buildPrograms() {
  const args = ["test", ...NATIVE, "--no-run", "--message-format=json-render-diagnostics"];
  const options = { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "inherit"] };
  const { status, stdout } = spawnSync("cargo", args, options);
  if (status !== 0) throw new Advice("the native tests do not compile");
  const programs = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter(({ reason, profile, executable }) => reason === "compiler-artifact" && profile.test && executable)
    .map(({ manifest_path, target, executable }) => ({ folder: dirname(manifest_path), name: target.name, executable }))
    .sort((one, other) => one.executable.localeCompare(other.executable));
  mkdirSync(RECORDS, { recursive: true });
  writeFileSync(PROGRAMS, JSON.stringify(programs, null, 1));
  say(`${programs.length} test programs`);
}

/** Returns the path of a test program of a crate that the last build made. */
export function programOf(folder, name) {
  if (!existsSync(PROGRAMS))
    throw new Advice("the test programs are missing: run `node scripts/steps.mjs native:build`");
  const found = JSON.parse(readFileSync(PROGRAMS, "utf8")).find(
    (one) => join(one.folder) === join(root, folder) && one.name === name,
  );
  return found.executable;
}

/** Tests of a program at the same time. With one per core, the cores wait for databases and timers. */
const TEST_THREADS = String(2 * availableParallelism());

/** Runs the test programs of the crates in some folders, as `cargo test` does. Returns their counts, and whether all passed. */
export async function runPrograms(folders) {
  const all = JSON.parse(readFileSync(PROGRAMS, "utf8"));
  const chosen = all.filter(({ folder }) => folders.some((one) => join(root, one) === join(folder)));
  if (chosen.length === 0) throw new Advice(`no test program is in ${folders.join(", ")}`);
  const runs = [];
  for (const { folder, name, executable } of chosen) {
    say(`running ${name}`);
    runs.push(
      await tee(executable, [], { CARGO_MANIFEST_DIR: folder, RUST_TEST_THREADS: TEST_THREADS }, undefined, {
        cwd: folder,
      }),
    );
  }
  return { ok: runs.every(({ ok }) => ok), counted: countTests(runs.map(({ output }) => output).join("\n")) };
}
