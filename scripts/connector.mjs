// Builds the command `site-connector` for development: the proxy, the service, the job runner, and the demo.

import { NATIVE } from "./native.mjs";
import { run } from "./setup.mjs";

/**
 * Builds `target/debug/site-connector` and the load generator, or those of another profile by cargo's flag for it. Because of
 * the example, cargo chooses the features of the test programs, and compiles each crate once for both.
 */
export function buildConnector(...flags) {
  const programs = ["--bin", "site-connector", "--example", "load"];
  run("cargo", ["build", ...NATIVE, "--quiet", "--target-dir", "target", ...programs, ...flags]);
}
