// A failed test fails the run at its first attempt, and every kind of failure counts.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { countTests } from "../../scripts/test-output.mjs";

const RUNNER = new URL("../../scripts/run-tests.mjs", import.meta.url).pathname;
const LIMIT = "{ timeout: 50 }";

/** Runs files with these sources. Returns the exit code, the last line, and the whole output. */
function outcomeOf(...sources) {
  const folder = mkdtempSync(join(tmpdir(), "run-tests-"));
  try {
    for (const [index, source] of sources.entries())
      writeFileSync(join(folder, `${index}.test.mjs`), `import { test } from "node:test";\n${source}`);
    // The runner of these tests must not take the output of the inner ones for its own.
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const { stdout, status } = spawnSync("node", [RUNNER, "--silence", "2", folder], { encoding: "utf8", env });
    return { stdout, status, last: stdout.trim().split("\n").at(-1) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("files that pass are one line each, and their tests are counted", () => {
  const { stdout, status, last } = outcomeOf(`test("a", () => {}); test("b", () => {});`, `test("c", () => {});`);
  assert.deepEqual([status, last], [0, "3 passed, 0 failed"]);
  assert.equal(stdout.trim().split("\n").length, 3);
  assert.match(stdout, /^ok .*0\.test\.mjs: 2 passed, \d/m);
});

test("a test that fails once fails the run, and its file is shown in full", () => {
  const { stdout, status, last } = outcomeOf(
    `let runs = 0; test("shaky", () => { if (runs++ === 0) throw new Error("too slow"); });`,
    `test("fine", () => {});`,
  );
  assert.deepEqual([status, last], [1, "1 passed, 1 failed"]);
  assert.match(stdout, /^not ok 1 - shaky$/m);
  assert.match(stdout, /^FAILED .*0\.test\.mjs: 0 passed, /m);
});

for (const [failure, source, passed] of [
  ["a rejection after the end of its tests", `test("a", () => { setTimeout(() => Promise.reject(1), 20); });`, 1],
  ["a test that takes too long", `test("a", ${LIMIT}, () => new Promise((resolve) => setTimeout(resolve, 500)));`, 0],
  ["an error at its start", `throw new Error("not now");`, 0],
  ["no test", "", 0],
])
  test(`a file fails by ${failure}`, () => {
    const { status, last } = outcomeOf(source);
    assert.deepEqual([status, last], [1, `${passed} passed, 1 failed`]);
  });

test("a file that hangs is ended with what it has started, and the output says why", () => {
  const { stdout, status, last } = outcomeOf(
    // The output is closed when the last process that inherited it has ended.
    `import { spawn } from "node:child_process"; import { createServer } from "node:net";
     test("forgets its server", () => {
       createServer().listen(0);
       spawn("sleep", ["1000"], { stdio: "inherit" });
       throw new Error("broken");
     });`,
    `test("fine", () => {});`,
  );
  assert.deepEqual([status, last], [1, "1 passed, 1 failed"]);
  assert.match(stdout, /^FAILED .*0\.test\.mjs: 0 passed, /m);
  assert.match(stdout, /^ended: no output for 2 s\. .*open server/m);
});

test("the counts of cargo and of Node are summed", () => {
  const output = "test result: ok. 3 passed; 0 failed; 1 ignored\ntest result: FAILED. 1 passed; 2 failed\n";
  assert.deepEqual(countTests(`${output}# pass 4\n# fail 1\n# cancelled 1\n`), { passed: 8, failed: 4 });
});
