// Checks the dependencies: known vulnerabilities, licences, duplicates and origins of the crates and the npm packages. A
// check whose tool is missing, or whose source cannot be reached, is reported as unchecked and does not fail.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Advice, firstLine, main, root, say } from "./setup.mjs";

const OK = "ok";
const FAILED = "FAILED";
const UNCHECKED = "not checked";

/** Matches the URL of a package in a registry. */
const TARBALL = /^https:\/\/[^/]+\/(?:@[^/]+\/)?[^/]+\/-\/[^/]+\.tgz$/;

/**
 * Returns the packages of a package-lock.json without a hash or from another place than a registry. An entry without a URL
 * comes from the configured registry.
 */
export function wrongOrigins(lock) {
  const wrong = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === "" || entry.link) continue;
    if (entry.resolved && !TARBALL.test(entry.resolved)) wrong.push(`${path} comes from ${entry.resolved}`);
    if (!entry.integrity?.startsWith("sha512-")) wrong.push(`${path} has no SHA-512`);
  }
  return wrong;
}

/** Checks the origins of the npm packages. */
function packages() {
  const wrong = wrongOrigins(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
  return { state: wrong.length === 0 ? OK : FAILED, details: wrong.slice(0, 20).join("\n") };
}

/** The messages of tools that could not reach a registry or the advisory database. */
const UNREACHED =
  /\b(?:ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|npm error network|audit 40[345] |50\d )|audit endpoint returned an error|failed to fetch advisory database/;

/** Runs a tool. The result is `UNCHECKED` if it cannot reach its source. */
function check(program, args) {
  const env = { ...process.env, npm_config_fetch_retries: "0", npm_config_update_notifier: "false" };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: "utf8",
    env,
    timeout: 120_000,
  });
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "");
  const refusal = lines.find((line) => UNREACHED.test(line));
  if (error || (status !== 0 && refusal)) return { state: UNCHECKED, details: error?.message ?? refusal };
  return { state: status === 0 ? OK : FAILED, details: lines.slice(0, 40).join("\n") };
}

/** Runs checks of cargo-deny, which fetches its own database of advisories. */
function cargoDeny(...checks) {
  if (!firstLine("cargo-deny", ["--version"]))
    return { state: UNCHECKED, details: "cargo-deny is not installed (cargo install --locked cargo-deny)" };
  return check("cargo", ["deny", "--locked", "--workspace", "check", "--hide-inclusion-graph", ...checks]);
}

function report(name, { state, details }) {
  if (state === UNCHECKED) say(`${name}: ${state}: ${details}`);
  else say(`${name}: ${state}`);
  if (state === FAILED) console.log(details.replace(/^/gm, "    "));
  return state;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    const states = [
      report("origins of the npm packages", packages()),
      report("signatures of the npm packages (npm audit signatures)", check("npm", ["audit", "signatures"])),
      report("advisories on the npm packages (npm audit)", check("npm", ["audit"])),
      report("licences, duplicates and origins of the crates", cargoDeny("licenses", "bans", "sources")),
      report("advisories on the crates", cargoDeny("advisories")),
    ];
    if (states.includes(FAILED)) throw new Advice("the audit failed: see the findings above");
  });
}
