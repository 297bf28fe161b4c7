// Measures what one tenant feels of another one that uses the service as much as it can: latency and errors of a
// well-behaved tenant's visitors, alone and during each attack, on SQLite and on PostgreSQL.
//
//   npm run bench:fair -- [--attack addresses|events|readers|logins|pushes]… [--conversations N] [--debug]

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { operatorOf } from "../tests/e2e/service.mjs";
import { rank } from "./bench/team.mjs";
import { buildConnector } from "./connector.mjs";
import { Postgres } from "./postgres.mjs";
import { Advice, main, say } from "./setup.mjs";
import { createSite, ownerLink } from "./torture/admin.mjs";
import { createNodes } from "./torture/nodes.mjs";
import { loadTool, serviceBinary } from "./torture/programs.mjs";

const ATTACKS = ["addresses", "events", "readers", "logins", "pushes"];
/** Requests of the well-behaved tenant in each measurement, and the interval between two of them. */
const REQUESTS = 1000;
const INTERVAL_MS = 20;
/** Messages of each conversation of the other tenant. */
const MESSAGES = 2;
/** The 99th percentile may be three times that of an idle service, or this. */
const MAX_TIMES = 3;
const MAX_P99_MS = 50;
/** A virtual machine whose host gave more of its time to others measures the host. It is measured again, so many times. */
const MAX_STOLEN = 0.01;
const MAX_ATTEMPTS = 8;

const { values: options } = parseArgs({
  options: {
    attack: { type: "string", multiple: true, default: ATTACKS },
    conversations: { type: "string", default: "150000" },
    debug: { type: "boolean", default: false },
  },
});
/** The attacker has many addresses, and the push service of its phone is on this machine. */
const FLAGS = ["--trusted-hop", "127.0.0.1", "--allow-private-targets", "true"];
const folder = mkdtempSync(join(tmpdir(), "chat-widget-fair-"));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends requests of visitors at a fixed rate: a new conversation and a poll by turns. */
async function visit(node, { token }) {
  const times = [];
  const errors = {};
  const fail = (reason) => (errors[reason] = (errors[reason] ?? 0) + 1);
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  let conversation = "";
  const one = async (number) => {
    const isMessage = number % 2 === 0 || conversation === "";
    const query = isMessage ? "" : `?conversationId=${conversation}`;
    const body = isMessage ? JSON.stringify({ message: "Do you ship to Norway?" }) : undefined;
    const began = performance.now();
    try {
      const method = isMessage ? "POST" : "GET";
      const from = `100.64.${number >> 8}.${number & 255}`;
      const response = await fetch(`${node.url}/api/connector/v1/chat/messages${query}`, {
        method,
        body,
        headers: { ...headers, "X-Forwarded-For": from },
      });
      const answer = await response.json();
      if (response.ok) conversation = answer.data.conversationId ?? conversation;
      else fail(`${response.status} ${answer.error?.code}`);
    } catch (error) {
      fail(error.cause?.code ?? error.message);
    }
    times.push(performance.now() - began);
  };
  const sent = [];
  const began = performance.now();
  for (let number = 0; number < REQUESTS; number += 1) {
    await pause(Math.max(0, began + number * INTERVAL_MS - performance.now()));
    sent.push(one(number));
  }
  await Promise.all(sent);
  times.sort((first, second) => first - second);
  for (const [reason, count] of Object.entries(errors)) say(`  ${count} errors: ${reason}`);
  const count = Object.values(errors).reduce((sum, count) => sum + count, 0);
  return { p50: rank(times, 0.5), p99: rank(times, 0.99), errors: count };
}

/** Returns the time of all processors so far, and the part of it that the host of this virtual machine gave to others. */
function processorTime() {
  const [, ...times] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0].split(/\s+/);
  const [user, nice, system, idle, waiting, interrupts, softInterrupts, stolen] = times.map(Number);
  return { all: user + nice + system + idle + waiting + interrupts + softInterrupts + stolen, stolen };
}

/** Measures beside an attack. Returns the measure, and what the attacker got. */
async function besides(workerData, measureGood) {
  const worker = new Worker(new URL("./bench/rude.mjs", import.meta.url), { workerData });
  const failed = once(worker, "error").then(([error]) => Promise.reject(error));
  await Promise.race([once(worker, "message"), failed]);
  const measured = await Promise.race([measureGood(), failed]);
  worker.postMessage("stop");
  const [got] = await Promise.race([once(worker, "message"), failed]);
  return { ...measured, ...got };
}

/** Measures until the machine kept its processors meanwhile. Returns the measure, and the share that its host took. */
async function undisturbed(measureOnce) {
  for (let attempt = 1; ; attempt += 1) {
    const began = processorTime();
    const measured = await measureOnce();
    const ended = processorTime();
    const stolen = (ended.stolen - began.stolen) / (ended.all - began.all);
    if (stolen <= MAX_STOLEN || attempt === MAX_ATTEMPTS) return { ...measured, stolen };
    say(`  the host took ${(stolen * 100).toFixed(1)} % of the processors' time: measuring again`);
  }
}

/** Measures on a database. Returns a row for each attack. */
async function measure(kind, database) {
  const tool = loadTool(!options.debug);
  const binary = serviceBinary(!options.debug);
  const [node] = await createNodes({ binary, database, folder, args: FLAGS });
  await node.start();
  try {
    const [good, rude] = [createSite(node, { name: "Good" }), createSite(node, { name: "Rude" })];
    const size = ["--conversations", options.conversations, "--messages", MESSAGES, "--searchable", "yes"];
    const fill = ["fill", "--database", database, "--site", rude.siteId, ...size];
    execFileSync(tool, fill.map(String), { stdio: ["ignore", "ignore", "inherit"] });
    const person = { name: "Rita", email: "rita@rude.example", password: "seven green kettles" };
    const operator = await operatorOf({ address: node.url, ownerLink: ownerLink(node, rude.tenantId) }, person);
    const { name, value } = operator.cookie();
    await visit(node, good);
    const idle = await undisturbed(() => visit(node, good));
    const limit = Math.max(MAX_TIMES * idle.p99, MAX_P99_MS);
    const isMet = ({ errors, p99, stolen }) => errors === 0 && p99 <= limit && stolen <= MAX_STOLEN;
    const rows = [{ kind, attack: "none", ...idle, requests: 0, limit, met: isMet(idle) }];
    for (const attack of options.attack) {
      const workerData = {
        name: attack,
        url: node.url,
        token: rude.token,
        site: rude.siteId,
        cookie: `${name}=${value}`,
        email: person.email,
      };
      const measured = await undisturbed(() => besides(workerData, () => visit(node, good)));
      const { sent, statuses, pushes, events } = measured;
      // A flood that the service refuses as a whole, or that fits, measures nothing of its budgets.
      const isTried = !events || (events.accepted > 0 && events.refusedForBytes > 0);
      rows.push({ kind, attack, ...measured, requests: sent, limit, met: isMet(measured) && isTried });
      const responses = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
      const told = pushes === undefined ? "" : `, ${pushes} pushes`;
      say(`${kind}, ${attack}: p99 ${measured.p99.toFixed(1)} ms, ${measured.errors} errors`);
      say(`  the attacker got ${responses.join(", ")}${told}`);
      if (events) say(`  ${events.accepted} events stored, ${events.refusedForBytes} batches refused for their bytes`);
    }
    return rows;
  } finally {
    await node.stop();
  }
}

await main(async () => {
  const unknown = options.attack.find((name) => !ATTACKS.includes(name));
  if (unknown) throw new Advice(`invalid --attack: expected ${ATTACKS.join(", ")}, got ${unknown}`);
  const server = await Postgres.create();
  try {
    buildConnector(...(options.debug ? [] : ["--release"]));
    server.start({ max_connections: 100 });
    const rows = [
      ...(await measure("SQLite", join(folder, "fair.db"))),
      ...(await measure("PostgreSQL", server.url())),
    ];
    const ms = (time) => `${time.toFixed(1)} ms`;
    const shown = rows.map(({ kind, attack, p50, p99, errors, requests, limit, stolen, met }) => ({
      database: kind,
      "attack of another tenant": attack,
      "its requests": requests,
      p50: ms(p50),
      p99: ms(p99),
      "p99 allowed": ms(limit),
      errors,
      "taken by the host": `${(stolen * 100).toFixed(1)} %`,
      met: met ? "yes" : "NO",
    }));
    console.table(shown);
    if (rows.some(({ met }) => !met)) process.exitCode = 1;
  } finally {
    server.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
