// A hostile client and hostile peers against the real program `site-connector serve`, which answers by itself.
//
//     node --test tests/hostile/serve.test.mjs              after the build of site-connector
//     ATTACKS="gzip" node --test tests/hostile/serve.…      the attacks with a text in their names
//     SUITE="sessions" node --test …                        one group of attacks
//     SITE_CONNECTOR=program node --test …                  another build

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { exchange } from "./client.mjs";
import { Report } from "./report.mjs";
import { contentOf } from "./serve/attacks/content.mjs";
import { headsOf } from "./serve/attacks/heads.mjs";
import { operationsPort } from "./serve/attacks/operations-port.mjs";
import { sessions } from "./serve/attacks/sessions.mjs";
import { SLOW_FLAGS, slow } from "./serve/attacks/slow.mjs";
import { sources } from "./serve/attacks/sources.mjs";
import { TARGETS, wire } from "./serve/attacks/wire.mjs";
import { MEMORY_LIMIT, judged } from "./serve/judge.mjs";
import { AI_FLAGS, aiAttacks } from "./serve/peers/ai.mjs";
import { database, startOnPostgres } from "./serve/peers/database.mjs";
import { mail } from "./serve/peers/mail.mjs";
import { privateAddresses, receivers } from "./serve/peers/receivers.mjs";
import { Program } from "./serve/program.mjs";

const chosen = (attack) => attack.name.includes(process.env.ATTACKS ?? "");
const report = new Report();

/** Carries out an attack on a program, and returns the problems. */
async function carryOut(program, attack) {
  if (attack.memory) program.forgetPeak();
  const before = attack.memory && program.memory();
  const problems = attack.run
    ? await attack.run(program)
    : judged(attack, await exchange(program.port, attack.bytes, attack), program.secrets);
  if (attack.memory && program.isRunning) {
    const grown = program.memory("VmHWM") - before;
    if (grown > MEMORY_LIMIT) problems.push(`memory grew by ${grown} bytes`);
  }
  return [...problems, ...(await program.alive())];
}

/** Carries out attacks one after another, and fails with the problems of all. */
async function carryOutAll(program, group, attacks) {
  const failed = [];
  for (const attack of attacks.filter(chosen)) {
    const problems = await carryOut(program, attack);
    report.note(group, attack.name, "serve", problems);
    if (problems.length > 0) failed.push(`${attack.name}: ${[...new Set(problems)].join("; ")}`);
  }
  if (failed.length > 0) assert.fail(`${group}\n${failed.join("\n")}`);
}

/** The groups of attacks, each on a program of its own. */
const SUITES = {
  "slow clients": { attacks: () => slow, args: SLOW_FLAGS },
  "the database": { start: startOnPostgres, attacks: () => [...contentOf(16), ...database] },
  "other websites": { attacks: () => sources },
  contents: { attacks: () => contentOf(2) },
  "receivers of webhooks": { attacks: () => receivers, args: AI_FLAGS },
  "the AI endpoint": { attacks: aiAttacks, args: AI_FLAGS },
  "mail servers": { attacks: () => mail },
  "private addresses": { attacks: () => privateAddresses },
  sessions: { attacks: () => sessions },
  "sessions behind HTTPS": { attacks: () => sessions, origin: "https://chat.example" },
  "the port of the metrics": { attacks: () => operationsPort },
  heads: { attacks: headsOf },
  ...Object.fromEntries(Object.keys(TARGETS).map((name) => [name, { attacks: (program) => wire(name, program) }])),
};
const wanted = ([name]) => name.includes(process.env.SUITE ?? "");

describe("A hostile client and hostile peers against the service", { concurrency: 4 }, () => {
  for (const [name, { attacks, start = Program.start, ...options }] of Object.entries(SUITES).filter(wanted)) {
    test(name, async () => {
      const program = await start(options);
      try {
        await carryOutAll(program, name, await attacks(program));
      } finally {
        await program.stop();
        program.remove?.();
      }
    });
  }
});

after(async () => {
  report.print(["serve"]);
  await stopAll();
});
