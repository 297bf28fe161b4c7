// The files that the builds of `dist/` read. A build is current if none of them has changed since.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/** The inputs of both builds: crates, versions of the compiler and of packages, profiles of cargo, and the scripts. */
const SHARED = [
  "Cargo.lock",
  "Cargo.toml",
  "crates/no-streams",
  "crates/protocol/Cargo.toml",
  "crates/protocol/src",
  "package-lock.json",
  "rust-toolchain.toml",
  "scripts",
];

/** The inputs of the widget's build. The descriptions of the element contain the docs' list of parts. */
export const WIDGET = [
  ...SHARED,
  "build.rs",
  "crates/session/Cargo.toml",
  "crates/session/src",
  "docs/frontend.md",
  "package.json",
  "src",
  "styles",
  "themes",
  "tsconfig.json",
  "www",
];

/** The inputs of the console's build, which has the widget's Markdown parser. */
export const CONSOLE = [...SHARED, "crates/console", "src/text/markup", "src/text/markup.rs"];

/** Returns the time of the newest change of some files and folders, in milliseconds. */
export function newestChange(places) {
  // A folder changes when a file in it is added or removed.
  const paths = places.flatMap((place) => {
    const isFolder = statSync(join(root, place)).isDirectory();
    const entries = isFolder ? readdirSync(join(root, place), { recursive: true }) : [];
    return [place, ...entries.map((entry) => join(place, entry))];
  });
  return Math.max(...paths.map((path) => statSync(join(root, path)).mtimeMs));
}
