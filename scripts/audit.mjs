// Checks the dependencies: known vulnerabilities, licences, duplicates and origins of the crates and the npm packages. A
// check whose source cannot be reached is reported as unchecked and does not fail.
//
// --advisories FOLDER uses a checkout of rustsec/advisory-db instead of supply-chain/advisories/.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { REDUCED, cargoDeny, findCargoDeny, lockedCrates, setupCargoDeny } from "./cargo-deny.mjs";
import { Advice, main, root, say } from "./setup.mjs";

const OK = "ok";
const FAILED = "FAILED";
const UNCHECKED = "not checked";
/** Maximum age of the advisory database. */
const MAX_AGE_DAYS = 180;

const held = ({ ok, output }) => ({ state: ok ? OK : FAILED, details: output });

/** Checks licences, duplicates and origins of the crates. */
function crates() {
  return held(cargoDeny(["licenses", "bans", "sources"]));
}

/** Returns the folder of the advisories and a note on their age; null without a database. */
function database(folder) {
  if (folder) {
    if (!existsSync(join(folder, "crates")))
      throw new Advice(`invalid --advisories: expected a checkout of rustsec/advisory-db, got ${folder}`);
    return { folder, note: "" };
  }
  if (!existsSync(join(REDUCED, "source.json"))) return null;
  const source = JSON.parse(readFileSync(join(REDUCED, "source.json"), "utf8"));
  const added = lockedCrates().filter((name) => !source.crates.includes(name));
  const days = Math.floor((Date.now() - Date.parse(source.date)) / 86_400_000);
  const notes = [`advisories of ${source.date}`];
  if (days > MAX_AGE_DAYS) notes.push(`${days} days old: refresh them with scripts/advisories.mjs`);
  if (added.length > 0) notes.push(`not covered, because they are newer in Cargo.lock: ${added.join(", ")}`);
  return { folder: REDUCED, note: notes.join("; ") };
}

/** Checks for vulnerable, unsound, unmaintained and yanked crates. */
function advisories(folder) {
  const found = database(folder);
  if (!found)
    return {
      state: UNCHECKED,
      details: "supply-chain/advisories/ is missing: clone rustsec/advisory-db and pass its folder as --advisories",
    };
  const outcome = held(cargoDeny(["advisories"], { database: found.folder }));
  return { ...outcome, details: [found.note, outcome.details].filter(Boolean).join("\n") };
}

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

/** Runs an npm command that queries the registry. The result is `UNCHECKED` if the registry cannot be reached. */
function npm(args) {
  const env = { ...process.env, npm_config_fetch_retries: "0", npm_config_update_notifier: "false" };
  const { status, stdout, stderr, error } = spawnSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    env,
    timeout: 120_000,
  });
  const lines = `${stdout}${stderr}`
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.includes("npm warn Unknown"));
  const refusals = lines.filter((line) =>
    /\b(?:ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network request|audit 40[345] |50\d )/.test(line),
  );
  if (error || (status !== 0 && refusals.length > 0))
    return { state: UNCHECKED, details: error?.message ?? refusals.at(-1) };
  return { state: status === 0 ? OK : FAILED, details: lines.slice(0, 40).join("\n") };
}

function report(name, { state, details }) {
  say(`${name}: ${state}`);
  if (details) console.log(details.replace(/^/gm, "    "));
  return state;
}

/** Runs the checks that need no network. Those of the crates need cargo-deny. */
export function auditLocally(folder) {
  const states = [report("origins of the npm packages", packages())];
  if (findCargoDeny()) {
    states.push(report("licences, duplicates and origins of the crates", crates()));
    states.push(report("advisories on the crates", advisories(folder)));
  } else {
    say("crates: not checked, because cargo-deny is missing; `npm run audit` installs it");
  }
  return !states.includes(FAILED);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    const { values } = parseArgs({ options: { advisories: { type: "string" } } });
    setupCargoDeny();
    const ok = auditLocally(values.advisories);
    const states = [
      report("signatures of the npm packages (npm audit signatures)", npm(["audit", "signatures"])),
      report("advisories on the npm packages (npm audit)", npm(["audit"])),
    ];
    if (!ok || states.includes(FAILED)) throw new Advice("the audit failed: see the findings above");
  });
}
