// Git as a program, for one folder.

import { execFile } from "node:child_process";
import { printable } from "./connector-error.js";
import { JobFailure } from "./job-handler.js";

/** The global one: importing `node:process` would open the standard streams. */
declare const process: { env: Record<string, string | undefined> };

/** Maximum size of a file's text in bytes. */
const MAX_OUTPUT = 32 * 1024 * 1024;

/** Settings of each call: no hooks, no signature that needs a person, no question. */
const SETTINGS = ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.quotePath=false"];

/** Returns a function that runs Git in a folder, and returns its output. It rejects with Git's own words. */
export function gitIn(folder: string, author: { name: string; email: string }) {
  const identity = ["-c", `user.name=${author.name}`, "-c", `user.email=${author.email}`];
  const env = { ...process.env, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", GIT_LITERAL_PATHSPECS: "1" };
  return (args: string[], signal?: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { cwd: folder, env, maxBuffer: MAX_OUTPUT, ...(signal && { signal }) };
      execFile("git", [...SETTINGS, ...identity, ...args], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const reason = stderr.trim() || error.message;
        reject(new JobFailure(`Git refused: ${printable(reason)}`, { cause: error }));
      });
    });
}
