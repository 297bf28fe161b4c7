// Runs test files, several at a time: `node scripts/run-tests.mjs [--browser] [--workers N] [--silence SECONDS]
// FILE_OR_FOLDER…`. Each file is a process of its own, which is ended when it prints nothing for `--silence`. With
// `--browser`, each worker starts a browser and a demo once, which its files use in turn.

import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Advice, main, root } from "./setup.mjs";
import { countTests, tee } from "./test-output.mjs";

/** Files at the same time: a test mostly waits. */
const WORKERS = 3;
/** Maximum time between two results of a file. The longest tests take half of it. */
const MAX_SILENCE_S = 360;
/** The same once a test has failed: the file often hangs then, as the test has not closed what it opened. */
const MAX_SILENCE_AFTER_FAILURE_S = 120;
/** The seconds that each file took in the last run on this machine. */
const SECONDS = join(root, "target/test-seconds.json");

function readSeconds() {
  try {
    return JSON.parse(readFileSync(SECONDS, "utf8"));
  } catch {
    return {};
  }
}

/** Returns the files, the longest first, so that no worker begins a long file when the others have ended. */
function longestFirst(files, seconds) {
  const weight = (file) => seconds[relative(root, file)] ?? statSync(file).size / 1000;
  return [...files].sort((one, other) => weight(other) - weight(one));
}

/** Starts what the files of a worker share. Returns the variables by which `tests/e2e/demo.mjs` finds it, and `stop()`. */
async function startShared(env) {
  // Not before the packages are installed.
  const { launchServer, startDemo } = await import("../tests/e2e/demo.mjs");
  const [browser, demo] = await Promise.all([launchServer(env.CHROMIUM), startDemo()]);
  const { stop, ...addresses } = demo;
  return {
    env: { BROWSER_WS: browser.wsEndpoint(), DEMO: JSON.stringify(addresses) },
    stop: () => Promise.all([browser.close(), stop()]),
  };
}

/** Runs one file, and prints its result in one line, after its whole output if it failed. */
async function runFile(file, env, silence) {
  const started = performance.now();
  const maxSilenceMs = (output) =>
    1000 * (/^not ok/m.test(output) ? Math.min(silence, MAX_SILENCE_AFTER_FAILURE_S) : silence);
  const { output, ok } = await tee("node", ["--test-reporter=tap", file], env, () => {}, { maxSilenceMs });
  const counted = countTests(output);
  // A file that ended before it could count has failed as well.
  if (!ok || counted.passed === 0) counted.failed ||= 1;
  const seconds = Number(((performance.now() - started) / 1000).toFixed(1));
  const name = relative(root, file);
  if (counted.failed > 0) console.log(output);
  console.log(`${counted.failed > 0 ? "FAILED" : "ok"} ${name}: ${counted.passed} passed, ${seconds} s`);
  return { name, seconds, ...counted };
}

/**
 * Runs test files, `concurrency` at a time. `env` are variables for all; with `browser`, the files of a worker share a browser
 * and a demo. `silence` are the seconds without output after which a file is ended. Returns whether all passed, and how many
 * tests passed and failed.
 */
export async function runFiles(files, options = {}) {
  const { env = {}, concurrency = WORKERS, browser = false, silence = MAX_SILENCE_S } = options;
  const seconds = readSeconds();
  const waiting = longestFirst(files, seconds);
  const counted = { passed: 0, failed: 0 };
  const work = async () => {
    const shared = browser ? await startShared(env) : { env: {}, stop: async () => {} };
    try {
      for (let file = waiting.shift(); file; file = waiting.shift()) {
        const run = await runFile(file, { ...env, ...shared.env }, silence);
        counted.passed += run.passed;
        counted.failed += run.failed;
        seconds[run.name] = run.seconds;
      }
    } finally {
      await shared.stop();
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, files.length) }, work));
  mkdirSync(dirname(SECONDS), { recursive: true });
  writeFileSync(SECONDS, JSON.stringify(seconds));
  return { ok: counted.failed === 0, output: "", counted };
}

/** Returns the test files in a folder, or the file itself. */
export function testsIn(path) {
  const found = resolve(root, path);
  if (!statSync(found).isDirectory()) return [found];
  const files = readdirSync(found).filter((file) => file.endsWith(".test.mjs"));
  return files.map((file) => join(found, file));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { values, positionals } = parseArgs({
      options: { browser: { type: "boolean" }, workers: { type: "string" }, silence: { type: "string" } },
      allowPositionals: true,
    });
    if (positionals.length === 0) throw new Advice("name test files, or folders that have some");
    const concurrency = values.workers ? Number(values.workers) : WORKERS;
    const silence = values.silence ? Number(values.silence) : MAX_SILENCE_S;
    const { counted } = await runFiles(positionals.flatMap(testsIn), {
      concurrency,
      silence,
      browser: values.browser,
    });
    console.log(`${counted.passed} passed, ${counted.failed} failed`);
    if (counted.failed > 0) process.exitCode = 1;
  });
}
