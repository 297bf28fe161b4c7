// Builds outdated files, and runs the demo: a customer's site with its proxy, and the sandbox behind it.

import { spawn } from "node:child_process";
import { buildConnector } from "./connector.mjs";
import { buildDocsIfStale } from "./docs.mjs";
import { main, requireSteps, root, say, setupBuild } from "./setup.mjs";

await main(async () => {
  setupBuild();
  requireSteps("build:dist", "build:console");
  say("compiling the site's server and the sandbox");
  buildConnector();
  const demo = spawn("target/debug/site-connector", ["demo", ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  // In the background, because the demo does not need it. A broken link must not stop the demo.
  if (!process.argv.includes("--sandbox-only"))
    void buildDocsIfStale().catch((error) => say(`no documentation at /docs/: ${error.message}`));
  // The terminal sends Ctrl-C to the demo as well; a signal to this process alone is forwarded.
  process.on("SIGTERM", () => demo.kill("SIGTERM"));
  process.on("SIGINT", () => {});
  await new Promise((resolve) => demo.on("exit", (code) => resolve((process.exitCode = code ?? 0))));
});
