// Runs all checks of a commit; with `--all` in Firefox and WebKit as well as in Chromium. A failed step does not stop the
// others; the last lines are a summary.

import { join } from "node:path";
import { startScreen } from "../tests/browsers/screen.mjs";
import { auditLocally } from "./audit.mjs";
import { build } from "./build.mjs";
import { buildConsole } from "./console.mjs";
import { buildDevPage } from "./dev-page.mjs";
import { buildDocs } from "./docs.mjs";
import { buildExamples } from "./example.mjs";
import { checkPackages } from "./package.mjs";
import { runFiles, testsIn } from "./run-tests.mjs";
import { Advice, main, root, say, setupTest, setupTestAll } from "./setup.mjs";
import { stopTestServer } from "./postgres.mjs";
import { size } from "./size.mjs";
import { countTests, tee } from "./test-output.mjs";

const counts = { passed: 0, failed: 0 };
const failures = [];
/** Runs a step. A check counts as one test, a test run as its tests. */
async function step(name, work, { tests = false } = {}) {
  say(`── ${name}`);
  const started = Date.now();
  let outcome;
  try {
    outcome = (await work()) ?? { output: "", ok: true };
  } catch (error) {
    console.error(error instanceof Advice ? error.message : error);
    outcome = { output: "", ok: false };
  }
  const { passed, failed } =
    outcome.counted ?? (tests ? countTests(outcome.output) : { passed: outcome.ok ? 1 : 0, failed: 0 });
  counts.passed += passed;
  // A runner that crashed before it could count, or that ran nothing, has failed as well.
  const broke = (!outcome.ok && failed === 0) || (tests && passed + failed === 0);
  counts.failed += failed + (broke ? 1 : 0);
  if (failed > 0 || broke) failures.push(name);
  say(`── ${name}: ${failed > 0 || broke ? "FAILED" : "ok"}, ${((Date.now() - started) / 1000).toFixed(0)} s`);
}

// A browser starts slowly on a busy machine.
const timeouts = { WASM_BINDGEN_TEST_DRIVER_TIMEOUT: "60", WASM_BINDGEN_TEST_TIMEOUT: "120" };

/** Runs the wasm-pack tests in the browser that the flags name. */
const wasmPack = (flags, env = {}) =>
  tee("wasm-pack", ["test", "--headless", "--mode", "no-install", ...flags], { ...timeouts, ...env });

/**
 * Runs the wasm-pack tests in Firefox and WebKit, the operators' day in Firefox, and the tests of tests/browsers/ in all three
 * browsers.
 */
async function otherBrowsers({ chromium, firefox, webkit }) {
  await step("tests in the browser, Firefox", () => wasmPack(["--firefox", "--geckodriver", firefox.driver]), {
    tests: true,
  });
  await step(
    "tests in the browser, WebKit",
    async () => {
      const screen = await startScreen();
      const flags = ["--safari", "--safaridriver", webkit.driver];
      return wasmPack(flags, screen.env).finally(screen.stop);
    },
    { tests: true },
  );
  const paths = {
    CHROMIUM: chromium.browser,
    CHROMEDRIVER: chromium.driver,
    FIREFOX: firefox.browser,
    GECKODRIVER: firefox.driver,
  };
  await step(
    "operators' day, Firefox",
    () => runFiles([join(root, "tests/e2e/operators-day.test.mjs")], { env: { ...paths, BROWSER: "firefox" } }),
    { tests: true },
  );
  for (const [name, title] of Object.entries({ chromium: "Chromium", firefox: "Firefox", webkit: "WebKit" })) {
    await step(
      `end-to-end tests of all browsers, ${title}`,
      () => runFiles(testsIn("tests/browsers"), { env: { ...paths, BROWSER: name } }),
      { tests: true },
    );
  }
}

await main(async () => {
  const all = process.argv.includes("--all") && setupTestAll();
  const { browser, driver } = all ? all.chromium : setupTest();
  const wasm = ["-p", "chat-widget", "--target", "wasm32-unknown-unknown"];
  const denied = ["--", "-D", "warnings"];

  await step("format", () => tee("cargo", ["fmt", "--all", "--check"]));
  await step("format and lint of TypeScript, JavaScript and CSS", () => tee("biome", ["check", "--error-on-warnings"]));
  await step("contrast of the themes", () => tee("node", ["--test", "tests/contrast.test.mjs"]), { tests: true });
  await step("clippy", () => tee("cargo", ["clippy", "--locked", "--workspace", "--all-targets", ...denied]));
  await step("clippy for the browser", () => tee("cargo", ["clippy", "--locked", ...wasm, "--all-targets", ...denied]));
  await step("clippy for the browser, without the JavaScript API", () =>
    tee("cargo", ["clippy", "--locked", ...wasm, "-p", "leptos-shop", "--no-default-features", ...denied]),
  );
  await step("clippy for the server that renders", () =>
    tee("cargo", ["clippy", "--locked", "-p", "leptos-ssr-shop", "--features", "ssr", "--all-targets", ...denied]),
  );
  await step("supply chain", () => ({ output: "", ok: auditLocally() }));
  // They leave the command `site-connector` in target/debug, which the steps below run.
  await step("native tests", () => tee("cargo", ["test", "--locked", "--workspace", "--no-fail-fast"]), {
    tests: true,
  });
  await step("tests of the sources", () => tee("node", ["--test", ...testsIn("tests/unit")]), { tests: true });
  await step("documentation of the crates", () =>
    tee("cargo", ["doc", "--locked", "--workspace", "--no-deps"], { RUSTDOCFLAGS: "-D warnings" }),
  );
  await step("packages of the crates", () => checkPackages());
  await step("tests in the browser", () => wasmPack(["--chrome", "--chromedriver", driver]), { tests: true });
  await step("build of the Leptos applications", () => void buildExamples());
  await step("build and types of the development page", () => buildDevPage());
  await step("build of dist/", () => build());
  await step("build of the console", () => buildConsole());
  await step("size", () => {
    const exceeded = size();
    return { output: "", ok: exceeded.length === 0 };
  });
  // It contains the documentation of the crates and the widget, which the steps above have built.
  await step("build of the documentation site", () => buildDocs({ rustdoc: true }));
  await step("documentation site", () => runFiles(testsIn("tests/docs-site"), { env: { CHROMIUM: browser } }), {
    tests: true,
  });
  await step("types", () => tee("tsc", ["-p", "tests/types"]));
  await step("the proxy, and its recipes in their servers", () =>
    tee("node", ["scripts/check-recipes.mjs", "Express 4", "Express 5", "nginx", "Caddy", "PHP", "WordPress"]),
  );
  await step("the service behind the web servers of its recipes", () => tee("node", ["scripts/check-self-host.mjs"]));
  await step("the proxy and its recipes under attack", () => runFiles(testsIn("tests/hostile")), { tests: true });
  await step("the server library", () => runFiles(testsIn("tests/server")), { tests: true });
  await step("the service, killed and restarted", () => runFiles(testsIn("tests/torture")), { tests: true });
  await step("end-to-end tests", () => runFiles(testsIn("tests/e2e"), { env: { CHROMIUM: browser }, browser: true }), {
    tests: true,
  });
  await step(
    "film: what visitors see, at two sizes",
    () => runFiles(testsIn("tests/film"), { env: { CHROMIUM: browser } }),
    { tests: true },
  );
  // It packs dist/, and runs the command of the native tests.
  await step("files of a release", () => runFiles(testsIn("tests/release"), { env: { CHROMIUM: browser } }), {
    tests: true,
  });
  await step("npm package", () => runFiles(testsIn("tests/npm"), { env: { CHROMIUM: browser } }), { tests: true });
  if (all) await otherBrowsers(all);

  stopTestServer();
  if (failures.length > 0) console.log(`\nfailed: ${failures.join(", ")}`);
  console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
  if (counts.failed > 0) process.exitCode = 1;
});
