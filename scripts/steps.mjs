// The steps of `npm test` and `npm run test:all`. `node scripts/steps.mjs NAME` runs one step. The section `wireit` of
// package.json names the inputs of each; `npm test` runs the steps whose inputs changed.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPrograms, NATIVE, runPrograms } from "./native.mjs";
import { runFiles, testsIn } from "./run-tests.mjs";
import { RECORDS } from "./run-steps.mjs";
import { phpOfVersion } from "./php.mjs";
import { Advice, debianTool, firefox, main, recipePrograms, root, say, setupTest, trunk, webkit } from "./setup.mjs";
import { countTests, tee } from "./test-output.mjs";

const DENIED = ["--", "-D", "warnings"];
const WASM = ["--target", "wasm32-unknown-unknown"];
/** The proxies of this project among those that tests/hostile attacks. */
const OWN_PROXIES = ["site-connector proxy", "connectorProxy in Node's http", "connectorProxy in Express"];
/** End-to-end tests of the second tier: they need further builds or programs, or play a whole day. */
const SECOND_TIER = ["dev-page", "leptos", "leptos-ssr", "operators-day", "self-host", "wordpress"];
/** End-to-end tests by the step that runs them; `widget` has all others. `hostile` and `sweeps`, of the second tier, are long. */
const PARTS = {
  // Each text of the corpora.
  hostile: /^(?:hostile-data|hostile-messages|console-hostile)$/,
  // Each state and each language.
  sweeps: /^(?:console-languages|gallery)$/,
  console: /^(?:console|inbox)/,
  // They paste snippets of the documentation.
  docs: /^(?:docs|guest|swaps|website-builders)/,
};

/** A test that kills a runner of jobs between any two of its steps, with each kind of journal. */
const SERVER_JOBS = "/jobs.test.mjs";
/** The tests of the PHP library. */
const PHP_TESTS = "connectors/php/tests/run.php";
const PLUGIN_LOADS = "tests/connectors/load-plugin.php";

const cargo = (...args) => tee("cargo", args);
const node = (...args) => tee("node", args);
const tests = (path) => runFiles(testsIn(path));
const named = (folder, names) => names.map((name) => join(root, folder, `${name}.test.mjs`));
/** Returns the outcome of a program that runs tests. */
const counting = async (running) => {
  const run = await running;
  return { ...run, counted: countTests(run.output) };
};
const nodeTests = (path) => counting(node("--test", ...testsIn(path)));

/** Runs the end-to-end tests of a step. */
function endToEnd(part) {
  const partOf = (name) => Object.keys(PARTS).find((one) => PARTS[one].test(name)) ?? "widget";
  const files = testsIn("tests/e2e").filter((file) => {
    const name = file.match(/([\w-]+)\.test\.mjs$/)[1];
    return !SECOND_TIER.includes(name) && partOf(name) === part;
  });
  return runFiles(files, { browser: true });
}

/** Runs a script's exported function. It is imported late, since it may need packages or a build. */
const script = async (name, work) => void (await work(await import(`./${name}.mjs`)));

/** Runs the wasm-pack tests in the browser that the flags name. A browser starts slowly on a busy machine. */
const wasmPack = (flags, env = {}) => {
  const timeouts = { WASM_BINDGEN_TEST_DRIVER_TIMEOUT: "60", WASM_BINDGEN_TEST_TIMEOUT: "120" };
  return counting(tee("wasm-pack", ["test", "--headless", "--mode", "no-install", ...flags], { ...timeouts, ...env }));
};

/** Runs the tests of all browsers in one of them. */
const inBrowser = (env) => runFiles(testsIn("tests/browsers"), { env, concurrency: 2 });

/** Each step: a check, which counts as one test, or a run of tests. */
export const STEPS = {
  format: () => cargo("fmt", "--all", "--check"),
  lint: () => tee("biome", ["check", "--error-on-warnings"]),
  contrast: () => nodeTests("tests/contrast.test.mjs"),
  sources: () => nodeTests("tests/unit"),
  clippy: () => cargo("clippy", ...NATIVE, "--all-targets", ...DENIED),
  "clippy:wasm": () =>
    cargo("clippy", "--locked", "-p", "chat-widget", "-p", "chat-console", ...WASM, "--all-targets", ...DENIED),
  "native:build": () => void buildPrograms(),
  "native:docs": () => counting(cargo("test", ...NATIVE, "--doc")),
  "native:protocol": () => runPrograms(["crates/protocol", "crates/markup"]),
  "native:session": () => runPrograms(["crates/session"]),
  "native:widget": () => runPrograms(["."]),
  "native:console": () => runPrograms(["crates/console"]),
  "native:service": () => runPrograms(["crates/page", "crates/service"]),
  "native:connector": () => runPrograms(["crates/audit", "crates/connector"]),
  "native:fuzz": () => runPrograms(["fuzz"]),
  "wasm-pack": () => wasmPack(["--chrome", "--chromedriver", process.env.CHROMEDRIVER]),
  "build:module": () => script("build", ({ buildModule }) => buildModule()),
  "build:dist": () => script("build", ({ buildDist }) => buildDist()),
  "build:console": () => script("console", ({ buildConsole }) => buildConsole()),
  size: () =>
    script("size", ({ size }) => {
      const exceeded = size();
      if (exceeded.length > 0) throw new Advice(`over budget: ${exceeded.join(", ")}`);
    }),
  types: async () => {
    const runs = [await tee("tsc", ["-p", "tests/types"]), await tee("tsc", ["-p", "www/dev"])];
    return { ok: runs.every(({ ok }) => ok) };
  },
  attacks: () => runFiles(testsIn("tests/hostile"), { env: { PROXIES: OWN_PROXIES.join() }, concurrency: 2 }),
  "server-library": () => {
    debianTool("sqlite3");
    return runFiles(testsIn("tests/server").filter((file) => !file.endsWith(SERVER_JOBS)));
  },
  "e2e:widget": () => endToEnd("widget"),
  "e2e:console": () => endToEnd("console"),
  "e2e:docs": () => endToEnd("docs"),
  "e2e:hostile": () => endToEnd("hostile"),
  "e2e:sweeps": () => endToEnd("sweeps"),

  torture: () => tests("tests/torture"),
  "server-jobs": () => {
    for (const tool of ["sqlite3", "psql"]) debianTool(tool);
    return runFiles(testsIn("tests/server").filter((file) => file.endsWith(SERVER_JOBS)));
  },
  "npm-package": () => tests("tests/npm"),
  recipes: () => {
    recipePrograms();
    return node("scripts/check-recipes.mjs", "Express 4", "Express 5", "nginx", "Caddy", "PHP", "WordPress");
  },
  "php-library": () => {
    debianTool("wordpress-php");
    return counting(tee("wordpress-php", [PHP_TESTS]));
  },
  film: () => tests("tests/film"),

  "clippy:variants": async () => {
    const wasm = ["-p", "chat-widget", "-p", "leptos-shop", ...WASM, "--no-default-features"];
    const runs = [
      await cargo("clippy", "--locked", ...wasm, ...DENIED),
      await cargo("clippy", "--locked", "-p", "leptos-ssr-shop", "--features", "ssr", "--all-targets", ...DENIED),
    ];
    return { ok: runs.every(({ ok }) => ok) };
  },
  packages: () => script("package", ({ checkPackages }) => checkPackages()),
  docs: async () => {
    const flags = ["doc", "--locked", "--workspace", "--no-deps"];
    const { ok } = await tee("cargo", flags, { RUSTDOCFLAGS: "-D warnings" });
    if (!ok) return { ok };
    await script("docs", ({ buildDocs }) => buildDocs({ rustdoc: true }));
    return tests("tests/docs-site");
  },
  leptos: async () => {
    await script("example", ({ buildExamples }) => buildExamples());
    return runFiles(named("tests/e2e", ["leptos", "leptos-ssr"]));
  },
  trunk: () => {
    trunk();
    return runFiles(named("tests/e2e", ["dev-page"]));
  },
  "self-host": async () => {
    recipePrograms();
    const checked = await node("scripts/check-self-host.mjs");
    return checked.ok ? runFiles(named("tests/e2e", ["self-host", "wordpress"])) : checked;
  },
  connectors: async () => {
    const runs = [];
    for (const version of ["7.4", "8.0", "8.1", "8.3", "8.4"])
      for (const program of [PHP_TESTS, PLUGIN_LOADS])
        runs.push(await counting(tee("node", [phpOfVersion(), program], { PHP: version })));
    return together([...runs, await runFiles(testsIn("tests/connectors"), { concurrency: 1 })]);
  },
  "attacks:recipes": () => {
    recipePrograms();
    return tests("tests/hostile");
  },
  releases: () => tests("tests/release"),
  frameworks: () => tests("tests/frameworks"),
  day: () => runFiles(named("tests/e2e", ["operators-day"])),
  "film:all": () => node("scripts/film.mjs", "--no-pictures"),
  audit: () => node("scripts/audit.mjs"),
  "fuzz:long": () => tee("node", ["scripts/fuzz.mjs", "--minutes", "15"]),
  firefox: async () => {
    const { browser, driver } = firefox();
    const env = { FIREFOX: browser, GECKODRIVER: driver, BROWSER: "firefox" };
    const runs = [
      await wasmPack(["--firefox", "--geckodriver", driver]),
      await inBrowser(env),
      await runFiles(named("tests/e2e", ["operators-day"]), { env }),
    ];
    return together(runs);
  },
  webkit: async () => {
    const { startScreen } = await import("../tests/browsers/screen.mjs");
    const { driver } = webkit();
    const screen = await startScreen();
    const first = await wasmPack(["--safari", "--safaridriver", driver], screen.env).finally(screen.stop);
    return together([first, await inBrowser({ BROWSER: "webkit" })]);
  },
  "all-browsers": () => inBrowser({ BROWSER: "chromium" }),
};

/** Returns the outcome of several runs of tests. */
function together(runs) {
  const sum = (name) => runs.reduce((total, { counted }) => total + counted[name], 0);
  return { ok: runs.every(({ ok }) => ok), counted: { passed: sum("passed"), failed: sum("failed") } };
}

/** Runs a step, and records its seconds and counts. Returns whether it passed. */
async function step(name) {
  say(`── ${name}`);
  const started = Date.now();
  let outcome;
  try {
    outcome = (await STEPS[name]()) ?? { ok: true };
  } catch (error) {
    console.error(error instanceof Advice ? error.message : error);
    outcome = { ok: false };
  }
  // A check counts as one test.
  const counted = outcome.counted ?? { passed: outcome.ok ? 1 : 0, failed: 0 };
  // A runner that crashed before it could count, or that ran nothing, has failed as well.
  const ok = outcome.ok && counted.failed === 0 && counted.passed > 0;
  if (!ok && counted.failed === 0) counted.failed = 1;
  const seconds = Math.round((Date.now() - started) / 1000);
  mkdirSync(RECORDS, { recursive: true });
  writeFileSync(join(RECORDS, `${name}.json`), JSON.stringify({ ...counted, seconds, ended: Date.now() }));
  say(`── ${name}: ${ok ? "ok" : "FAILED"}, ${seconds} s`);
  return ok;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const name = process.argv[2];
    if (!Object.hasOwn(STEPS, name)) throw new Advice(`unknown step: expected ${Object.keys(STEPS).join(", ")}`);
    const { browser, driver } = setupTest();
    Object.assign(process.env, { CHROMIUM: browser, CHROMEDRIVER: driver });
    if (!(await step(name))) process.exitCode = 1;
  });
}
