// Builds what is not built, and runs the demo: the customer's site with its proxy, and the sandbox behind it.

import { spawn } from "node:child_process";
import { buildIfStale } from "./build.mjs";
import { main, root, run, say, setupBuild } from "./setup.mjs";

await main(async () => {
  setupBuild();
  await buildIfStale();
  say("compiling the site's server and the sandbox");
  run("cargo", [
    "build",
    "--locked",
    "--quiet",
    "--target-dir",
    "target",
    "-p",
    "chat-connector",
    "--bin",
    "site-connector",
  ]);
  const demo = spawn("target/debug/site-connector", ["demo", ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  // Ctrl-C reaches the demo by itself; a signal to this process alone is passed on.
  process.on("SIGTERM", () => demo.kill("SIGTERM"));
  process.on("SIGINT", () => {});
  await new Promise((resolve) => demo.on("exit", (code) => resolve((process.exitCode = code ?? 0))));
});
