// The programs of a torture run and of a measurement.

import { join } from "node:path";
import { root, run } from "../setup.mjs";

const profile = (release) => (release ? "release" : "debug");

/** Returns the path of `site-connector`, which must be built. */
export const serviceBinary = (release) => join(root, "target", profile(release), "site-connector");

/** Builds the load generator, and returns its path. */
export function loadTool(release) {
  const flags = release ? ["--release"] : [];
  run("cargo", [
    "build",
    "--locked",
    "--quiet",
    "--target-dir",
    "target",
    "-p",
    "chat-service",
    "--example",
    "load",
    ...flags,
  ]);
  return join(root, "target", profile(release), "examples", "load");
}
