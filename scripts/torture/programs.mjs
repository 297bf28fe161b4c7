// The programs of a torture run and of a measurement.

import { join } from "node:path";
import { root } from "../setup.mjs";

const profile = (release) => (release ? "release" : "debug");

/** Returns the path of `site-connector`, which must be built. */
export const serviceBinary = (release) => join(root, "target", profile(release), "site-connector");

/** Returns the path of the load generator, which is built with the command. */
export const loadTool = (release) => join(root, "target", profile(release), "examples", "load");
