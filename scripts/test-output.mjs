// Runs programs whose output is shown and kept, and counts the tests in it.

import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { root } from "./setup.mjs";

/** Runs a program in a folder and returns its output, and whether it succeeded. `print` gets each piece of output. */
export function tee(program, args, env = {}, print = (data, to) => to.write(data), cwd = root) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
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
  for (const [, bad] of plain.matchAll(/^(?:#|ℹ) (?:fail|cancelled) (\d+)$/gm)) failed += Number(bad);
  return { passed, failed };
}
