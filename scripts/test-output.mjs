// Runs programs whose output is shown and kept, and counts the tests in it.

import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { root } from "./setup.mjs";
import { endWhenSilent } from "./silence.mjs";

/**
 * Runs a program in a folder and returns its output, and whether it succeeded. `print` gets each piece of output.
 * `maxSilenceMs(output)` is the time without output after which the program is ended, with all that it has started.
 */
export function tee(program, args, env = {}, print = (data, to) => to.write(data), { cwd = root, maxSilenceMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: maxSilenceMs !== undefined,
    });
    let output = "";
    const silence = maxSilenceMs && endWhenSilent(child, () => maxSilenceMs(output));
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from.on("data", (data) => {
        output += data;
        silence?.heard();
        print(data, to);
      });
    }
    child.on("error", (error) => resolve({ output: error.message, ok: false }));
    child.on("close", (code) => {
      const ended = silence?.stop() ?? "";
      resolve({ output: output + ended, ok: code === 0 && ended === "" });
    });
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
