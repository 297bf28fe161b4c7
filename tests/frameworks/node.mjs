// The version of Node that the frameworks need, which is newer than the one that the project needs.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run, say, toolsHome } from "../../scripts/setup.mjs";

/** The oldest version that all frameworks accept. */
const MIN = [24, 15];
/** The version that is installed where Node is older. */
const VERSION = "24.21.0";

/** Returns the folder of the program `node`: the one that runs this file, or one from npm in the tools cache. */
export function nodeFolder() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > MIN[0] || (major === MIN[0] && minor >= MIN[1])) return dirname(process.execPath);
  const name = `node-${process.platform}-${process.arch}`;
  const home = join(toolsHome, `${name}-${VERSION}`);
  const bin = join(home, "node_modules", name, "bin");
  if (existsSync(bin)) return bin;
  say(`unpacking Node ${VERSION} for the frameworks into the tools cache`);
  // Renamed once it is complete.
  const fresh = `${home}-${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    writeFileSync(join(fresh, "package.json"), "{}");
    run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${VERSION}`], { cwd: fresh });
    renameSync(fresh, home);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return bin;
}
