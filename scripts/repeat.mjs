// Runs tests, and those that failed once more, alone: on a busy machine, a browser or a database can take longer than a test
// waits. Tests that pass then are named as flaky, and what they printed the first time is quoted.

import { spawn } from "node:child_process";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root, say } from "./setup.mjs";

/** Maximum files or native tests that are repeated: more failures are not due to a busy machine. */
const MAX_REPEATED = 5;

/** The tests that passed at the second attempt only. */
export const flaky = [];

/** Runs a program and returns its output, and whether it succeeded. `print` gets each piece of output. */
export function tee(program, args, env = {}, print = (data, to) => to.write(data)) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from.on("data", (data) => {
        output += data;
        print(data, to);
      });
    }
    child.on("error", (error) => resolve({ output: error.message, ok: false }));
    child.on("close", (code) => resolve({ output, ok: code === 0 }));
  });
}

/** Returns the sum of the counts that the test runners print. */
export function countTests(output) {
  let passed = 0;
  let failed = 0;
  const plain = stripVTControlCharacters(output);
  for (const [, ok, bad] of plain.matchAll(/^test result: \S+ (\d+) passed; (\d+) failed/gm)) {
    passed += Number(ok);
    failed += Number(bad);
  }
  for (const [, ok] of plain.matchAll(/^(?:#|ℹ) pass (\d+)$/gm)) passed += Number(ok);
  for (const [, bad] of plain.matchAll(/^(?:#|ℹ) fail (\d+)$/gm)) failed += Number(bad);
  return { passed, failed };
}

/** Runs one file of tests. Its output is printed when it has ended, so that files at the same time do not mix theirs. */
const runFile = (file, env) =>
  tee("node", ["--test", "--test-reporter=tap", file], env, () => {}).then((run) => ({
    ...run,
    file,
    counted: countTests(run.output),
  }));

/** Prints the output of a failed attempt, quoted: the second attempt decides. */
function quote({ output }) {
  console.log(stripVTControlCharacters(output).replace(/^/gm, "  | "));
}

const sum = (runs, name) => runs.reduce((total, { counted }) => total + counted[name], 0);

/** Runs files of tests, `concurrency` at a time. A file that failed is repeated once, when all others have ended. */
export async function runFiles(files, { env = {}, concurrency = 2 } = {}) {
  const waiting = [...files];
  const passed = [];
  const failed = [];
  const worker = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const run = await runFile(file, env);
      if (run.ok) console.log(run.output);
      else say(`${relative(root, file)} failed`);
      (run.ok ? passed : failed).push(run);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const isRepeated = failed.length <= MAX_REPEATED;
  for (const first of failed) {
    if (!isRepeated) {
      console.log(first.output);
      passed.push(first);
      continue;
    }
    quote(first);
    say(`again, alone: ${relative(root, first.file)}`);
    const second = await runFile(first.file, env);
    console.log(second.output);
    if (second.ok) flaky.push(relative(root, first.file));
    passed.push(second);
  }
  return {
    ok: passed.every(({ ok }) => ok),
    output: "",
    counted: { passed: sum(passed, "passed"), failed: sum(passed, "failed") },
  };
}

/** The native tests that failed, by the target that has them, as cargo names it. */
export function failedTargets(output) {
  const targets = new Map();
  let target;
  for (const line of stripVTControlCharacters(output).split("\n")) {
    const [, unit, path] = /^ +Running (unittests )?(\S+)/.exec(line) ?? [];
    if (path) target = targetOf(unit, path);
    const [, name] = /^test (.+?)(?: - should panic)? \.\.\. FAILED$/.exec(line) ?? [];
    if (name && target) targets.set(target, [...(targets.get(target) ?? []), name]);
  }
  return targets;
}

/** Returns cargo's option for a target by the path of its first file. */
function targetOf(isUnit, path) {
  if (path.endsWith("src/lib.rs")) return "--lib";
  if (isUnit) return "--bins";
  return `--test ${path.replace(/^tests\//, "").replace(/(\/main)?\.rs$/, "")}`;
}

/** Runs the native tests of the workspace. Those that failed are repeated once. */
export async function runNative() {
  const all = ["test", "--locked", "--workspace"];
  const first = await tee("cargo", [...all, "--no-fail-fast"]);
  const { passed, failed } = countTests(first.output);
  const targets = failedTargets(first.output);
  const names = [...targets.values()].flat();
  if (first.ok || names.length !== failed || failed > MAX_REPEATED) return first;
  for (const [target, tests] of targets) {
    say(`again, alone: ${tests.join(", ")}`);
    const second = await tee("cargo", [...all, ...target.split(" "), "--", "--exact", ...tests]);
    if (!second.ok || countTests(second.output).passed < tests.length) return first;
  }
  flaky.push(...names);
  return { ok: true, output: "", counted: { passed: passed + failed, failed: 0 } };
}
