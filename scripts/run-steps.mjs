// Runs steps of the section `wireit` in package.json; scripts/steps.mjs says what each does.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Advice, firstLine, root, which } from "./setup.mjs";

/** The folder of what steps leave to each other and to the summary. */
export const RECORDS = join(root, "target", "steps");

/**
 * Runs a script of the section `wireit` in package.json, with all that it depends on. What is unchanged since it passed is
 * skipped. Resolves to whether all passed.
 */
export function startSteps(script) {
  // The versions of tools are files, so that they are inputs like any other.
  const browser = process.env.CHROMIUM ?? which("chromium") ?? which("google-chrome") ?? "none";
  mkdirSync(RECORDS, { recursive: true });
  writeFileSync(join(RECORDS, "rustc.txt"), `${firstLine("rustc", ["--version"])}\n`);
  writeFileSync(join(RECORDS, "chromium.txt"), `${firstLine(browser, ["--version"])}\n`);
  const env = {
    ...process.env,
    // Outputs are checked, but not copied. Two steps at a time would be two compilations at a time.
    WIREIT_CACHE: "none",
    WIREIT_PARALLEL: "1",
    WIREIT_FAILURES: "continue",
    WIREIT_LOGGER: "simple",
  };
  return new Promise((resolve) => {
    const child = spawn("npm", ["run", "--silent", script], { cwd: root, env, stdio: "inherit" });
    child.on("error", () => resolve(false)).on("close", (code) => resolve(code === 0));
  });
}

/** Runs steps whose inputs changed since they passed. Fails if one fails. */
export async function requireSteps(...names) {
  for (const name of names) if (!(await startSteps(`step:${name}`))) throw new Advice(`the step ${name} failed`);
}
