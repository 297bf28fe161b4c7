// Builds outdated files, and runs the demo: a customer's site with its proxy, and the sandbox behind it.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildConnector } from "./connector.mjs";
import { buildDocsIfStale } from "./docs.mjs";
import { requireSteps } from "./run-steps.mjs";
import { main, root, say, setupBuild } from "./setup.mjs";

await main(async () => {
  setupBuild();
  await requireSteps("build:dist");
  say("compiling the site's server and the sandbox");
  buildConnector();
  const demo = spawn("target/debug/site-connector", ["demo", ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  // In the background, because visitors chat without them. A broken link must not stop the demo.
  void (async () => {
    if (!existsSync(join(root, "dist/console/index.html")))
      say("compiling the operators' console, which takes some minutes the first time: visitors can chat meanwhile");
    await requireSteps("build:console");
    say("the operators' console is ready");
    if (!process.argv.includes("--sandbox-only")) await buildDocsIfStale();
  })().catch((error) => say(`the console or /docs/ is missing or outdated: ${error.message}`));
  // The terminal sends Ctrl-C to the demo as well; a signal to this process alone is forwarded.
  process.on("SIGTERM", () => demo.kill("SIGTERM"));
  process.on("SIGINT", () => {});
  await new Promise((resolve) => demo.on("exit", (code) => resolve((process.exitCode = code ?? 0))));
  // Otherwise Node.js would wait for the build in the background.
  process.exit();
});
