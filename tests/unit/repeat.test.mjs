// `npm test` repeats what failed once, and hides nothing that fails twice.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { failedTargets } from "../../scripts/repeat.mjs";

const MODULE = new URL("../../scripts/repeat.mjs", import.meta.url).href;
const IMPORTS = `import { existsSync, writeFileSync } from "node:fs"; import { test } from "node:test";`;
/** The body of a test that fails at the first attempt only. */
const once = (folder, failure, name = "mark") =>
  `const mark = ${JSON.stringify(join(folder, name))}; if (!existsSync(mark)) { writeFileSync(mark, ""); ${failure} }`;

/** Runs files with these sources. Returns what was printed, and the outcome. */
function outcomeOf(sources, folder = mkdtempSync(join(tmpdir(), "repeat-"))) {
  try {
    const files = sources.map((source, index) => {
      const file = join(folder, `${index}.test.mjs`);
      writeFileSync(file, `${IMPORTS}\n${typeof source === "function" ? source(folder) : source}`);
      return file;
    });
    const code = `import { flaky, runFiles } from ${JSON.stringify(MODULE)};
      const run = await runFiles(${JSON.stringify(files)});
      console.log("outcome " + JSON.stringify({ ...run, flaky: flaky.length }));`;
    // The runner of these tests must not take the output of the inner ones for its own.
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const { stdout } = spawnSync("node", ["--input-type=module", "-e", code], { encoding: "utf8", env });
    return { stdout, ...JSON.parse(/^outcome (.*)$/m.exec(stdout)[1]) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a test that fails at the first attempt only is named as flaky", () => {
  const { stdout, ok, counted, flaky } = outcomeOf([
    `test("fine", () => {});`,
    (folder) => `test("shaky", () => { ${once(folder, 'throw new Error("too slow");')} });`,
  ]);
  assert.deepEqual([ok, counted, flaky], [true, { passed: 2, failed: 0 }, 1]);
  assert.match(stdout, /^ {2}\| not ok 1 - shaky$/m, "the first attempt is quoted");
  assert.doesNotMatch(stdout, /^not ok/m);
});

test("a file that fails outside its tests is repeated as well", () => {
  const { ok, flaky } = outcomeOf([
    (folder) => `test("late", () => { ${once(folder, "setTimeout(() => Promise.reject(new Error('late')), 20);")} });`,
  ]);
  assert.deepEqual([ok, flaky], [true, 1]);
});

test("a test that fails twice has failed", () => {
  const { stdout, ok, counted, flaky } = outcomeOf([`test("broken", () => { throw new Error("no"); });`]);
  assert.deepEqual([ok, counted, flaky], [false, { passed: 0, failed: 1 }, 0]);
  assert.match(stdout, /^not ok 1 - broken$/m);
});

test("many failures are not repeated", () => {
  const sources = Array.from({ length: 6 }, (_, index) => (folder) => {
    return `test("x", () => { ${once(folder, "throw 1;", `mark${index}`)} });`;
  });
  const { ok, counted, flaky } = outcomeOf(sources);
  assert.deepEqual([ok, counted, flaky], [false, { passed: 0, failed: 6 }, 0]);
});

test("failed native tests are found by their target", () => {
  const output = `     Running unittests src/lib.rs (target/debug/deps/chat_service-1f)
test db::reads ... ok
test db::writes ... FAILED
     Running unittests src/bin/site-connector/main.rs (target/debug/deps/site_connector-2a)
test args::port - should panic ... FAILED
     Running tests/inbox/main.rs (target/debug/deps/inbox-3b)
test desk::race ... FAILED
test desk::labels ... FAILED
     Running tests/client.rs (target/debug/deps/client-4c)
test retries ... FAILED`;
  assert.deepEqual(Object.fromEntries(failedTargets(output)), {
    "--lib": ["db::writes"],
    "--bins": ["args::port"],
    "--test inbox": ["desk::race", "desk::labels"],
    "--test client": ["retries"],
  });
});
