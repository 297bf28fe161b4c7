// Measures `site-connector proxy` under attack: how long until it rejects, how much memory it takes at most, how many
// files it has open. Each attack gets a new proxy; client and service are part of this script.
//
// --only TEXT      runs the attacks whose name contains this text
// --program PATH   the command; by default target/release/site-connector, or else the one in target/debug

import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createGzip } from "node:zlib";
import { firstLine, start, stopAll } from "./servers.mjs";
import { Advice, main, root, run, say } from "./setup.mjs";

const TOKEN = "bench-token";
const [MB, GB] = [1e6, 1e9];
const ENVELOPE = JSON.stringify({ ok: true, data: {}, requestId: "req_bench" });
/** The usual soft and hard limits of open files for a service. */
const OPEN_FILES = { soft: 1024, hard: 20_000 };

/** Starts a service that responds by `answer(request, response)`. */
async function service(answer = (_, response) => response.setHeader("Content-Type", "application/json").end(ENVELOPE)) {
  const server = createServer((request, response) => {
    request.resume();
    response.on("error", () => {});
    answer(request, response);
  }).listen(0, "127.0.0.1");
  server.keepAliveTimeout = 60_000;
  await once(server, "listening");
  return server;
}

/** A proxy in front of a service, with the measurements of its process. */
async function proxy(program, upstream, flags = []) {
  const args = [
    "proxy",
    "--origin",
    `http://127.0.0.1:${upstream.address().port}`,
    "--listen",
    "127.0.0.1:0",
    ...flags,
  ];
  // `exec` replaces the shell by the proxy.
  const shell = `ulimit -Hn ${OPEN_FILES.hard}; ulimit -Sn ${OPEN_FILES.soft}; exec "$0" "$@"`;
  const started = start("sh", ["-c", shell, program, ...args], { CONNECTOR_TOKEN: TOKEN });
  const port = Number((await firstLine(started)).split(":").at(-1));
  const { pid } = started.child;
  const status = (key) =>
    Number(readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`^${key}:\\s+(\\d+)`, "m"))[1]) * 1024;
  return { port, peak: () => status("VmHWM"), files: () => readdirSync(`/proc/${pid}/fd`).length };
}

/** Requests a path. Returns the status, or an error's code, and the length of the response. */
function ask(port, path, { agent, from = "127.0.0.1", headers = {}, timeout = 10_000 } = {}) {
  return new Promise((resolve) => {
    const request = get(
      { host: "127.0.0.1", port, path, agent: agent ?? false, localAddress: from, headers, timeout },
      (response) => {
        let bytes = 0;
        response.on("data", (data) => (bytes += data.length));
        response.on("close", () => resolve({ status: response.statusCode, bytes }));
      },
    );
    request.on("timeout", () => request.destroy(Object.assign(new Error("no response"), { code: "no response" })));
    request.on("error", (error) => resolve({ status: error.code, bytes: 0 }));
  });
}

/** Sends a body of this number of bytes in chunks until the proxy stops reading. Returns the status of the response. */
function sendBody(port, bytes, chunked) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const length = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`;
    socket.write(
      `POST /connector/chat/messages HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nIdempotency-Key: bench-1\r\n${length}\r\n\r\n`,
    );
    const piece = Buffer.alloc(64 * 1024, " ");
    const framed = chunked
      ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
      : piece;
    let [sent, answer, open] = [0, "", true];
    socket.on("data", (data) => (answer += data.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => {
      open = false;
      resolve({ status: answer.split(" ")[1] ?? "closed", sent });
    });
    const more = () => {
      while (open && answer === "" && sent < bytes) {
        sent += piece.length;
        if (!socket.write(framed)) return socket.once("drain", more);
      }
      socket.end();
    };
    socket.once("connect", more);
  });
}

/** Calls `work(number)` this number of times with limited concurrency, and counts the outcomes. */
async function many(count, atOnce, work) {
  const outcomes = new Map();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const { status } = await work(next++);
      outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return [...outcomes].map(([status, times]) => `${times} × ${status}`).join(", ");
}

const agent = () => new Agent({ keepAlive: true, maxSockets: 64 });
const size = (bytes) =>
  bytes >= GB
    ? `${(bytes / GB).toFixed(1)} GB`
    : bytes >= MB
      ? `${(bytes / MB).toFixed(1)} MB`
      : `${Math.round(bytes / 1000)} KB`;

/** Writes repeatedly until the other end stops reading. */
function endless(response, piece) {
  const more = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", more);
  more();
}

/** Returns a small gzip stream that expands to this number of zeros. */
async function bomb(bytes) {
  const [gzip, parts] = [createGzip({ level: 9 }), []];
  gzip.on("data", (data) => parts.push(data));
  const piece = Buffer.alloc(MB);
  for (let written = 0; written < bytes; written += piece.length) if (!gzip.write(piece)) await once(gzip, "drain");
  gzip.end();
  await once(gzip, "end");
  return Buffer.concat(parts);
}

/** The attacks, each with the maximum growth of the proxy's memory in bytes. */
const ATTACKS = [
  {
    name: "a body of 10 GB, declared",
    maxGrowth: 16 * MB,
    async run({ port }) {
      const { status, sent } = await sendBody(port, 10 * GB, false);
      return `${status} after ${size(sent)}`;
    },
  },
  {
    name: "a body of 10 GB, in chunks",
    maxGrowth: 16 * MB,
    async run({ port }) {
      const { status, sent } = await sendBody(port, 10 * GB, true);
      return `${status} after ${size(sent)}`;
    },
  },
  {
    name: "an endless answer",
    maxGrowth: 32 * MB,
    answer: (_, response) =>
      endless(response.setHeader("Content-Type", "application/json"), Buffer.alloc(64 * 1024, " ")),
    run: async ({ port }) => `${(await ask(port, "/connector/chat/presence")).status}`,
  },
  {
    name: "an endless answer, a byte at a time (--timeout 2)",
    maxGrowth: 16 * MB,
    flags: ["--timeout", "2"],
    answer(_, response) {
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    },
    run: async ({ port }) => `${(await ask(port, "/connector/chat/presence")).status}`,
  },
  {
    name: "1 GB in a gzip of 1 MB",
    maxGrowth: 16 * MB,
    async answer(_, response) {
      response
        .setHeader("Content-Type", "application/json")
        .setHeader("Content-Encoding", "gzip")
        .end(await gzipped);
    },
    async run({ port }) {
      await gzipped;
      const started = Date.now();
      const { status, bytes } = await ask(port, "/connector/chat/presence");
      return { summary: `${status} with ${size(bytes)}`, started };
    },
  },
  {
    name: "10,000 idle connections of one client",
    maxGrowth: 256 * MB,
    async run({ port, files }) {
      const sockets = [];
      let [opened, closed] = [0, 0];
      for (let number = 0; number < 10_000; number += 1) {
        const socket = connect(port, "127.0.0.1");
        socket
          .on("connect", () => (opened += 1))
          .on("close", () => (closed += 1))
          .on("error", () => {});
        sockets.push(socket);
        // The queue of unaccepted connections is short.
        if (number % 100 === 99) await new Promise((soon) => setTimeout(soon, 20));
      }
      const other = await ask(port, "/connector/chat/presence", { from: "127.0.0.2" });
      const health = await ask(port, "/healthz", { from: "127.0.0.2" });
      const open = files();
      for (const socket of sockets) socket.destroy();
      const served = other.status === 200 && health.status === 200;
      const summary = `${opened} opened, ${closed} closed by the proxy; to another client: presence ${other.status}, health ${health.status}`;
      return { summary, open, broken: served ? null : "another client is not served" };
    },
  },
  {
    name: "100,000 locales of the config",
    maxGrowth: 48 * MB,
    flags: ["--rate-per-minute", "0"],
    async run({ port }) {
      const kept = agent();
      const summary = await many(100_000, 64, (number) =>
        ask(port, `/connector/chat/config?locale=x${number}`, { agent: kept }),
      );
      kept.destroy();
      return summary;
    },
  },
  {
    name: "30,000 addresses of clients",
    maxGrowth: 48 * MB,
    flags: ["--trusted-hop", "127.0.0.1"],
    async run({ port }) {
      const kept = agent();
      const from = (number) => ({ "X-Forwarded-For": `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}` });
      const summary = await many(30_000, 64, (number) =>
        ask(port, "/connector/chat/presence", { agent: kept, headers: from(number) }),
      );
      kept.destroy();
      return summary;
    },
  },
];

let gzipped;

function row(name, outcome, ms, peak, files) {
  console.log(`${name.padEnd(50)} ${ms.padStart(8)} ${peak.padStart(18)} ${files.padStart(6)}  ${outcome}`);
}

await main(async () => {
  const { values } = parseArgs({ options: { only: { type: "string", default: "" }, program: { type: "string" } } });
  const built = ["release", "debug"].map((kind) => join(root, "target", kind, "site-connector"));
  let program = values.program ?? built.find((path) => existsSync(path));
  if (!program) {
    run("cargo", ["build", "--locked", "-p", "chat-connector", "--bin", "site-connector"]);
    program = built[1];
  }
  if (process.platform !== "linux")
    throw new Advice("this benchmark reads memory and open files from /proc: run it on Linux");
  say(`${program}, with ${OPEN_FILES.soft} open files as the soft limit and ${OPEN_FILES.hard} as the hard one`);
  row("attack", "what came of it", "ms", "peak memory, MB", "files");
  const chosen = ATTACKS.filter(({ name }) => name.includes(values.only));
  if (chosen.some(({ name }) => name.includes("gzip"))) gzipped = bomb(GB);
  const exceeded = [];
  for (const { name, maxGrowth, flags, answer, run: attack } of chosen) {
    const upstream = await service(answer);
    const target = await proxy(program, upstream, flags);
    // The first response allocates memory that is not due to the attack.
    await ask(target.port, "/healthz");
    const [before, started] = [target.peak(), Date.now()];
    const outcome = await attack(target);
    const {
      summary,
      open = target.files(),
      broken = null,
      started: begun = started,
    } = typeof outcome === "string" ? { summary: outcome } : outcome;
    const [ms, after] = [Date.now() - begun, target.peak()];
    row(name, summary, String(ms), `${(before / MB).toFixed(0)} to ${(after / MB).toFixed(0)}`, String(open));
    if (after - before > maxGrowth)
      exceeded.push(`${name}: memory grew by ${size(after - before)}, expected at most ${size(maxGrowth)}`);
    if (broken) exceeded.push(`${name}: ${broken}`);
    await stopAll();
    upstream.closeAllConnections();
    upstream.close();
  }
  if (exceeded.length > 0) throw new Advice(exceeded.join("\n"));
});
