// Measures the service: latency with 10,000 visitors online, polls per second, cost of a poll as the database grows, memory,
// and two nodes on PostgreSQL against one. The load generator runs on the same machine.
//
//   npm run bench:service -- [--figure visitors|saturation|growth|idle|nodes|inbox|console]… [--visitors N] [--seconds N]

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { limitCpu } from "./bench/cpu-share.mjs";
import { measureConsole } from "./bench/console.mjs";
import { measureInbox } from "./bench/inbox.mjs";
import { rank } from "./bench/team.mjs";
import { buildConnector } from "./connector.mjs";
import { Postgres } from "./postgres.mjs";
import { Advice, main, say } from "./setup.mjs";
import { createSite } from "./torture/admin.mjs";
import { createNodes } from "./torture/nodes.mjs";
import { loadTool, serviceBinary } from "./torture/programs.mjs";

/** The size of a service that has grown. */
const MANY_CONVERSATIONS = 100_000;
const MESSAGES = 50;
/** The conversations of the visitors who are online, when it is small and when it has grown. */
const ONLINE = 10_000;
/** The share of a processor that each of two nodes gets, so that the generator and PostgreSQL have enough for both. */
const NODE_SHARE = 0.25;
/** Files that a process needs besides its connections to visitors. */
const OTHER_FILES = 200;
/** The time in which a service that has just started becomes idle. */
const IDLE_MS = 5000;

/** The generator is a proxy that names its visitors: it may have as many connections as it likes. */
const BEHIND_A_PROXY = ["--trusted-hop", "127.0.0.1"];

/** All of the load comes with one token, which is to be limited by the machine. */
const ONE_TOKEN = ["--token-rate-per-minute", "100000000"];

/** Runs a program with as many open files as the system allows this user. */
const MORE_FILES = ["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh"];

const maxFiles =
  Number(execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim()) || Number.POSITIVE_INFINITY;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const { values: options } = parseArgs({
  options: {
    figure: { type: "string", multiple: true },
    visitors: { type: "string", default: "10000" },
    seconds: { type: "string", default: "20" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "chat-widget-bench-"));
const rows = [];
let tool;

/** Adds a row to the table of figures. */
function figure(name, measured, aim, met) {
  rows.push([name, measured, aim, met === null ? "" : met ? "yes" : "NO"]);
  say(`${name}: ${measured}`);
}

/** Runs the load generator, and returns what it measured. */
async function load(...args) {
  const [program, ...rest] = [...MORE_FILES, tool, ...args.map(String)];
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (text) => (output += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Advice("the load generator failed");
  const measured = output ? JSON.parse(output) : null;
  const failed = measured && measured.errors + measured.refused;
  if (failed > 0) say(`WARNING: ${measured.errors} requests had no response, ${measured.refused} were refused`);
  return measured;
}

/** The options that name the nodes, and how long they are loaded. */
const towards = (service) => [
  ...service.nodes.flatMap(({ url, pid }) => ["--url", url, "--pid", pid]),
  ...["--token", service.site.token, "--seconds", options.seconds, "--json"],
];

/** Starts nodes on a fresh database, and creates a site. */
async function start(name, { database = join(folder, `${name}.db`), count = 1 } = {}) {
  const nodes = await createNodes({
    binary: serviceBinary(true),
    database,
    folder,
    count,
    args: [...BEHIND_A_PROXY, ...ONE_TOKEN],
    wrap: MORE_FILES,
  });
  for (const node of nodes) await node.start();
  return { nodes, database, site: createSite(nodes[0]) };
}

const stop = ({ nodes }) => Promise.all(nodes.map((node) => node.stop()));

const conversationList = join(folder, "conversations");

/** Writes conversations into a service's database, and the ids of some into a file. */
async function fill({ database, site }, conversations, messages, listed) {
  const size = ["--conversations", conversations, "--messages", messages, "--listed", listed];
  await load("fill", "--database", database, "--site", site.siteId, ...size, "--list", conversationList);
}

const memory = ([{ pid }]) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+)/m)[1]) / 1024;
const mib = (value) => `${value.toFixed(0)} MiB`;
const count = (number) => number.toLocaleString("en");

/** Runs `measure` on a service on SQLite, and on one on PostgreSQL. */
async function onBoth(name, measure) {
  const sqlite = await start(name);
  await measure(sqlite, "SQLite");
  await stop(sqlite);
  await onPostgres(async (database) => {
    const service = await start(name, { database });
    await measure(service, "PostgreSQL");
    await stop(service);
  });
}

/** Runs `measure` with a PostgreSQL server of its own, which writes to the disk as in production. */
async function onPostgres(measure) {
  const server = await Postgres.create();
  server.start({ max_connections: 100 });
  try {
    await measure(server.url());
  } finally {
    server.remove();
  }
}

const FIGURES = {
  /** Latency of polls with visitors online at the contract's pace, 1 % of them writing. */
  visitors: () =>
    onBoth("visitors", async (service, database) => {
      const visitors = Number(options.visitors);
      const connections = Math.min(visitors, maxFiles - OTHER_FILES);
      if (connections < visitors)
        say(`the limit of open files is ${maxFiles}, so visitors share ${connections} connections`);
      const size = ["--visitors", visitors, "--connections", connections];
      const { kinds, perSecond, generatorLagMs, serviceMemoryMiB } = await load(
        "visitors",
        ...towards(service),
        ...size,
      );
      const p99 = Math.max(kinds.messages.p99Ms, kinds.presence.p99Ms);
      const p999 = Math.max(kinds.messages.p999Ms, kinds.presence.p999Ms);
      const name = `${visitors} visitors online, ${database}`;
      figure(`${name}: p99 of polls`, `${p99.toFixed(1)} ms`, "< 50 ms", p99 < 50);
      figure(`${name}: p99.9 of polls`, `${p999.toFixed(1)} ms`, "", null);
      figure(`${name}: p99 of messages sent`, `${kinds.send.p99Ms.toFixed(1)} ms`, "", null);
      figure(`${name}: requests`, `${perSecond.toFixed(0)}/s`, "", null);
      figure(`${name}: p99 of the generator's own delay`, `${generatorLagMs.p99.toFixed(1)} ms`, "", null);
      figure(`${name}: memory`, mib(serviceMemoryMiB), "", null);
    }),

  /** Polls per second with as many as the service responds to. */
  saturation: () =>
    onBoth("saturation", async (service, database) => {
      const measured = await load("saturate", ...towards(service));
      const { perSecond, serviceCpuMicrosPerRequest, generatorCpuMicrosPerRequest } = measured;
      const isSqlite = database === "SQLite";
      const [aim, met] = isSqlite ? ["≥ 15000/s", perSecond >= 15_000] : ["", null];
      figure(`saturation, ${database}`, `${perSecond.toFixed(0)}/s`, aim, met);
      figure(`a poll at saturation, ${database}: the service`, `${serviceCpuMicrosPerRequest} µs`, "", null);
      figure(`a poll at saturation, ${database}: the generator`, `${generatorCpuMicrosPerRequest} µs`, "", null);
    }),

  /**
   * The service's processor time for a poll as the database grows, and its memory. The same number of visitors is online.
   * Polls of all conversations alike show what it costs when no cache holds them.
   */
  async growth() {
    const cost = async (conversations, messages) => {
      const service = await start(`growth-${conversations}`);
      const name = `${count(conversations)} conversations, ${count(conversations * messages)} messages`;
      const poll = async (who, listed) => {
        await fill(service, 0, 0, listed);
        const measured = await load("saturate", ...towards(service), "--conversations", conversationList);
        figure(`${name}: a poll, ${who}`, `${measured.serviceCpuMicrosPerRequest} µs`, "", null);
        figure(`${name}: polls, ${who}`, `${measured.perSecond.toFixed(0)}/s`, "", null);
        return measured.serviceCpuMicrosPerRequest;
      };
      await fill(service, conversations, messages, 0);
      const figures = [await poll(`${count(ONLINE)} online`, ONLINE)];
      if (conversations > ONLINE) figures.push(await poll("all online", conversations));
      const used = memory(service.nodes);
      const [aim, met] = conversations > ONLINE ? ["≤ 200 MiB", used <= 200] : ["", null];
      figure(`${name}: memory`, mib(used), aim, met);
      await stop(service);
      figure(`${name}: the file`, mib(statSync(service.database).size / 2 ** 20), "", null);
      return figures;
    };
    const [few] = await cost(ONLINE, 1);
    const [many, all] = await cost(MANY_CONVERSATIONS, MESSAGES);
    const times = many / few;
    figure("a poll with 5,000,000 messages against 10,000", `${times.toFixed(2)} times`, "≤ 1.5", times <= 1.5);
    figure("the same, all conversations online", `${(all / few).toFixed(2)} times`, "", null);
  },

  /** Resident memory of a service that does nothing. */
  async idle() {
    const service = await start("idle");
    await pause(IDLE_MS);
    const used = memory(service.nodes);
    figure("idle: memory", mib(used), "≤ 64 MiB", used <= 64);
    await stop(service);
  },

  /** Polls per second of one node and of two on PostgreSQL. */
  nodes: () =>
    onPostgres(async (database) => {
      const rate = async (count, share) => {
        const service = await start("nodes", { database, count });
        const ends = share ? service.nodes.map(({ pid }) => limitCpu(pid, share)) : [];
        if (ends.includes(null)) {
          await stop(service);
          return null;
        }
        const { perSecond } = await load("saturate", ...towards(service));
        await stop(service);
        for (const end of ends) end();
        return perSecond;
      };
      const compare = async (how, share) => {
        const one = await rate(1, share);
        const two = one === null ? null : await rate(2, share);
        if (two === null) return figure(`two nodes against one, ${how}`, "not measured: no control groups", "", null);
        figure(`one node, ${how}`, `${one.toFixed(0)}/s`, "", null);
        figure(`two nodes, ${how}`, `${two.toFixed(0)}/s`, "", null);
        const times = two / one;
        const [aim, met] = share ? ["≥ 1.6", times >= 1.6] : ["", null];
        figure(`two nodes against one, ${how}`, `${times.toFixed(2)} times`, aim, met);
      };
      await compare(`each with ${NODE_SHARE * 100} % of a processor`, NODE_SHARE);
      await compare("all on the same processors", null);
    }),

  /** How fast a visitor's message reaches the operators, and the memory of 500 open consoles. */
  async inbox() {
    const { consoles, messages, onStreams, onScreen, memory } = await measureInbox(serviceBinary(true));
    const ms = (value) => `${value.toFixed(0)} ms`;
    const name = `1,000 open conversations, ${consoles} consoles`;
    figure(`${name}: p95 until a message is on the streams`, ms(onStreams.p95), "≤ 300 ms", onStreams.p95 <= 300);
    figure(`${name}: p99 until a message is on the streams`, ms(onStreams.p99), "", null);
    const missing = messages * consoles - onStreams.count;
    figure(`${name}: events that did not arrive`, count(missing), "0", missing === 0);
    figure(`${name}: p95 until a message is on the screen`, ms(onScreen.p95), "≤ 300 ms", onScreen.p95 <= 300);
    figure(`${name}: messages seen on the screen`, `${onScreen.count} of ${messages}`, "", null);
    figure("1,000 conversations: memory", mib(memory.before), "", null);
    figure(`${name}: memory`, mib(memory.consoles), "≤ 200 MiB", memory.consoles <= 200);
  },

  /** How soon the inbox is usable on a slow line and a slow processor, and how smoothly a long list scrolls. */
  async console() {
    const { conversations, shown, opened, bytes, scrolled } = await measureConsole(serviceBinary(true));
    const slow = `${count(conversations)} open conversations, Slow 4G, processor 4 times slower`;
    const ms = (value) => `${value.toFixed(0)} ms`;
    const range = shown.all.map((time) => time.toFixed(0)).join(", ");
    figure(`${slow}: rows in view`, `${ms(shown.median)} (${range})`, "≤ 3,000 ms", shown.median <= 3000);
    figure(`${slow}: from a click to the conversation`, ms(opened), "", null);
    figure(`${slow}: transferred`, `${(bytes / 1000).toFixed(1)} KB`, "", null);
    const frames = [...scrolled.frames].sort((one, other) => one - other);
    const name = `${count(scrolled.known)} rows, scrolled`;
    figure(
      `${name}: p95 and longest interval between frames`,
      `${ms(rank(frames, 0.95))}, ${ms(frames.at(-1))}`,
      "",
      null,
    );
    figure(`${name}: most rows that are elements`, `${scrolled.mostRows}`, "", null);
    figure(`${name}: JavaScript heap`, mib(scrolled.heap / 1024 / 1024), "", null);
  },
};

await main(async () => {
  const names = options.figure ?? Object.keys(FIGURES);
  const unknown = names.find((name) => !(name in FIGURES));
  if (unknown) throw new Advice(`invalid --figure: expected ${Object.keys(FIGURES).join(", ")}, got ${unknown}`);
  say("building site-connector and the load generator");
  buildConnector("--release");
  tool = loadTool(true);
  say(`${availableParallelism()} processors, shared with the load generator; ${maxFiles} open files for each process`);
  try {
    for (const name of names) await FIGURES[name]();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column].length), 8));
  for (const row of [["figure", "measured", "aim", "met"], ...rows]) {
    console.log(`| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`);
  }
});
