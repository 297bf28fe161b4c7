// Copies the advisories on the crates of Cargo.lock from a checkout of rustsec/advisory-db, so that `npm run audit` needs
// no network: node scripts/advisories.mjs FOLDER

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { REDUCED, lockedCrates } from "./cargo-deny.mjs";
import { Advice, main, say } from "./setup.mjs";

/** The origin and the date of the files. */
const about = ({ commit, date }) => `# Advisories

Security advisories about the crates of Cargo.lock, in all their versions: a part of the RustSec advisory database, https://github.com/rustsec/advisory-db, at commit ${commit} of ${date}. Its authors have put it in the public domain ([CC0 1.0](https://creativecommons.org/publicdomain/zero/1.0/)); advisories taken over from GitHub's database are under [CC-BY 4.0](https://creativecommons.org/licenses/by/4.0/) and name it.

\`node scripts/advisories.mjs FOLDER\` writes this folder anew from a checkout of the database.
`;

/** Returns the newest commit of a checkout and its date. */
function version(folder) {
  const { status, stdout } = spawnSync("git", ["-C", folder, "log", "-1", "--format=%H %cs"], { encoding: "utf8" });
  if (status !== 0) throw new Advice(`invalid folder: expected a git checkout of rustsec/advisory-db, got ${folder}`);
  const [commit, date] = stdout.trim().split(" ");
  return { commit, date };
}

/** Copies the advisories on these crates from a checkout into a folder. Returns the number of crates with advisories. */
export function reduce(checkout, folder, crates = lockedCrates()) {
  const source = { ...version(checkout), crates };
  if (!existsSync(join(checkout, "crates")))
    throw new Advice(`invalid folder: expected a folder crates/ in ${checkout}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "crates"), { recursive: true });
  const concerned = crates.filter((name) => existsSync(join(checkout, "crates", name)));
  for (const name of concerned)
    cpSync(join(checkout, "crates", name), join(folder, "crates", name), { recursive: true });
  writeFileSync(join(folder, "source.json"), `${JSON.stringify(source, null, 2)}\n`);
  writeFileSync(join(folder, "README.md"), about(source));
  return concerned.length;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    const checkout = process.argv[2];
    if (!checkout) throw new Advice("Usage: node scripts/advisories.mjs FOLDER, a checkout of rustsec/advisory-db");
    const concerned = reduce(checkout, REDUCED);
    say(`${concerned} crates of Cargo.lock have advisories; they are in supply-chain/advisories/`);
  });
}
