// `npm test`: runs the steps of the first tier whose inputs changed since they passed, and prints a table of them.
// Arguments name other groups of steps: `first`, `ci`, `second`, and the parts of `first`: `static`, `native`, `browser`.
// With `--fresh`, every step runs.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stopTestServer } from "./postgres.mjs";
import { RECORDS, startSteps } from "./run-steps.mjs";
import { Advice, main, root, setupTest } from "./setup.mjs";

const { wireit } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Returns the names of the steps that a script of wireit consists of, in their order. */
function stepsOf(script, found = new Set()) {
  for (const dependency of wireit[script].dependencies ?? []) stepsOf(dependency.script ?? dependency, found);
  if (wireit[script].command) found.add(script.replace("step:", ""));
  return found;
}

/** Prints the table of the steps and the sum of their tests. Returns whether all passed. */
function summarise(groups, started) {
  const counts = { passed: 0, failed: 0 };
  const missing = [];
  const rows = [];
  for (const name of new Set(groups.flatMap((group) => [...stepsOf(group)]))) {
    const path = join(RECORDS, `${name}.json`);
    const record = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
    if (!record || (record.failed > 0 && record.ended < started)) {
      missing.push(name);
      continue;
    }
    const state = record.ended < started ? "unchanged" : `${record.seconds} s`;
    rows.push([name, state, record.passed, record.failed]);
    counts.passed += record.passed;
    counts.failed += record.failed;
  }
  console.log(`\n${"step".padEnd(20)}${"time".padStart(10)}${"passed".padStart(8)}${"failed".padStart(8)}`);
  for (const [name, state, passed, failed] of rows)
    console.log(`${name.padEnd(20)}${state.padStart(10)}${`${passed}`.padStart(8)}${`${failed}`.padStart(8)}`);
  if (missing.length > 0) console.log(`not run, because another step failed: ${missing.join(", ")}`);
  console.log(`\n${((Date.now() - started) / 60_000).toFixed(1)} minutes`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 && missing.length === 0;
}

await main(async () => {
  const started = Date.now();
  const options = { fresh: { type: "boolean", default: false } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const names = positionals.length > 0 ? positionals : ["first"];
  const groups = names.map((name) => `steps:${name}`);
  const unknown = names.filter((_, index) => !wireit[groups[index]]);
  if (unknown.length > 0) throw new Advice(`unknown group of steps: ${unknown.join(", ")}`);
  // What lets a later compilation skip code makes a first one half as long again.
  if (values.fresh || !existsSync(join(root, "target", "debug"))) process.env.CARGO_INCREMENTAL ??= "0";
  setupTest();
  if (values.fresh) rmSync(join(root, ".wireit"), { recursive: true, force: true });
  const passed = [];
  for (const group of groups) passed.push(await startSteps(group));
  stopTestServer();
  if (!summarise(groups, started) || passed.includes(false)) process.exitCode = 1;
});
