// Builds the command `site-connector`: the proxy, the demo and the job runner.

import { run } from "./setup.mjs";

/** Builds `target/debug/site-connector`, or the one of another profile by cargo's flag for it. */
export function buildConnector(...flags) {
  const packages = ["-p", "chat-connector", "--bin", "site-connector"];
  run("cargo", ["build", "--locked", "--quiet", "--target-dir", "target", ...packages, ...flags]);
}
