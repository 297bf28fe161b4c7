// Kills the service under load, again and again, and checks that whatever it acknowledged is there exactly once.
//
//   npm run torture:service -- --kills 200 --database sqlite|postgres|disk|all --seed N [--release]

import { parseArgs } from "node:util";
import { buildConnector } from "./connector.mjs";
import { Advice, main, say } from "./setup.mjs";
import { loadTool, serviceBinary } from "./torture/programs.mjs";
import { onFullDisk, onPostgres, onSqlite } from "./torture/scenarios.mjs";

const SCENARIOS = { sqlite: onSqlite, postgres: onPostgres, disk: onFullDisk };

/** Broken promises of one kind that are shown. */
const MAX_SHOWN = 5;

/** Prints what a run has counted. Returns whether nothing was broken. */
function printOutcome(name, { happened, sent, counts, found, broken, disk, seed }) {
  const list = (counts) =>
    Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(", "); // prettier-ignore
  console.log(`\n${name}, seed ${seed}${disk ? `, the disk is ${disk}` : ""}`);
  console.log(`  accidents     ${list(happened)}`);
  console.log(`  sent          ${list(sent)}`);
  console.log(`  requests      ${list(counts)}`);
  console.log(`  acknowledged  ${found.once} found once, ${found.missing} missing, ${found.doubled} doubled`);
  for (const [problem, cases] of byProblem(broken)) {
    console.log(`  BROKEN: ${problem}: ${cases.length} times`);
    for (const { detail } of cases.slice(0, MAX_SHOWN)) console.log(`    ${JSON.stringify(detail)}`);
  }
  return broken.length === 0;
}

/** Returns the broken promises of each kind. */
function byProblem(broken) {
  const problems = new Map();
  for (const one of broken) problems.set(one.problem, [...(problems.get(one.problem) ?? []), one]);
  return problems;
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      kills: { type: "string", default: "200" },
      database: { type: "string", default: "all" },
      seed: { type: "string", default: String(Date.now() % 100_000) },
      release: { type: "boolean", default: false },
    },
  });
  const names = values.database === "all" ? Object.keys(SCENARIOS) : [values.database];
  const kills = Number(values.kills);
  const seed = Number(values.seed);
  if (!names.every((name) => name in SCENARIOS) || !Number.isInteger(kills) || !Number.isInteger(seed)) {
    throw new Advice("usage: npm run torture:service -- [--kills N] [--database sqlite|postgres|disk|all] [--seed N]");
  }
  say("building site-connector and the load generator");
  buildConnector(...(values.release ? ["--release"] : []));
  const programs = { binary: serviceBinary(values.release), tool: loadTool(values.release) };
  let ok = true;
  for (const name of names) {
    say(`${kills} accidents on ${name}`);
    const progress = ({ number }) => number % 10 === 0 && process.stderr.write(`\r${number} of ${kills} `);
    ok = printOutcome(name, await SCENARIOS[name]({ ...programs, kills, seed, progress })) && ok;
  }
  if (!ok) process.exitCode = 1;
});
