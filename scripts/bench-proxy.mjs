// Requests per second, the 99th percentile of their latency, and memory of the project's proxy and of nginx with the
// recipe of docs/recipes/nginx.conf, side by side: the same machine, the same load, the same service behind them.
//
// The service is an nginx that gives the same answer to everything, at once: the sandbox writes each request into its
// database, and would be what is measured.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Advice, main, root, run, say, setupProxyBench } from "./setup.mjs";

const CONNECTIONS = [10, 100, 1000];
/** Of so many runs, the median counts. The two proxies take turns, as a shared machine is busier at one time than at another. */
const RUNS = 3;
const SECONDS = 5;
const PATH = "/connector/chat/presence?conversationId=conv_1";
const TOKEN = "bench-token";
const ANSWER = JSON.stringify({ ok: true, data: { operatorOnline: true, shouldPollMessages: false }, requestId: "req_bench" });

const folder = mkdtempSync(join(tmpdir(), "bench-proxy-"));
const running = [];
const stopAll = () => Promise.all(running.splice(0).map(({ child, ended }) => (child.kill(), ended)));
process.once("exit", () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

function start(program, args, env = {}) {
  const child = spawn(program, args, { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  running.push({ child, ended });
  return child;
}

/** Waits until an address gives the answer of the service. */
async function answers(url, child) {
  for (;;) {
    if (child.exitCode !== null || child.pid === undefined) throw new Advice(`${child.spawnfile} did not start`);
    const answer = await fetch(url).then((response) => response.text()).catch(() => undefined);
    if (answer === ANSWER) return;
    if (answer !== undefined) throw new Advice(`${url} answered ${answer}`);
    await new Promise((soon) => setTimeout(soon, 20));
  }
}

/** An nginx with as many workers as there are processors, and room for the connections of both sides. */
async function nginx(name, http) {
  const own = join(folder, name);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${own}-${kind};`);
  writeFileSync(`${own}.conf`, `daemon off; pid ${own}.pid; error_log stderr crit; worker_processes auto;
    events { worker_connections 16384; }
    http { access_log off; keepalive_requests 1000000000; ${paths.join(" ")} ${http} }`);
  return start("nginx", ["-p", folder, "-e", "stderr", "-c", `${own}.conf`]);
}

async function service() {
  const port = await freePort();
  const child = await nginx("service", `server { listen 127.0.0.1:${port} backlog=4096; location / {
    default_type application/json; add_header X-Request-Id req_bench; return 200 '${ANSWER}'; } }`);
  await answers(`http://127.0.0.1:${port}/`, child);
  return `127.0.0.1:${port}`;
}

const proxies = {
  async "site-connector"(upstream) {
    const args = ["--origin", `http://${upstream}`, "--listen", "127.0.0.1:0", "--rate-per-minute", "0"];
    const child = start("target/release/site-connector", ["proxy", ...args], { CONNECTOR_TOKEN: TOKEN });
    const line = once(createInterface(child.stdout), "line");
    const [told] = await Promise.race([line, once(child, "exit").then(() => [])]);
    if (!told) throw new Advice("site-connector proxy did not start");
    return { child, address: told.split(" ").at(-1) };
  },
  async nginx(upstream) {
    const port = await freePort();
    const [http, server] = readFileSync(join(root, "docs/recipes/nginx.conf"), "utf8").split(/^# --- in server.*$/m);
    writeFileSync(join(folder, "token.conf"), `proxy_set_header Authorization "Bearer ${TOKEN}";\n`);
    // The service of this measurement speaks no TLS, and one client is all there is.
    const plain = (text) => text
      .replaceAll("https://chat_service", "http://chat_service")
      .replaceAll("service.example:443", upstream).replaceAll("service.example", upstream)
      .replaceAll("/etc/nginx/chat-token.conf", join(folder, "token.conf"))
      .replace(/^ *(proxy_ssl_|limit_req).*$/gm, "")
      // As many connections to the service are kept as the other proxy keeps, which has no bound.
      .replace("keepalive 16;", "keepalive 1024; keepalive_requests 1000000000;");
    const child = await nginx("proxy", `${plain(http)} server { listen 127.0.0.1:${port} backlog=4096; ${plain(server)} }`);
    return { child, address: `http://127.0.0.1:${port}` };
  },
};

/** The memory of a process and its children that is its own or its share of, in MiB. */
function memory(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const [, kib] = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+)/m);
  return children.reduce((sum, child) => sum + memory(child), Number(kib) / 1024);
}

const UNITS = { us: 0.001, ms: 1, s: 1000 };

/** Loads an address for a while. */
async function load(url, connections) {
  const child = start("wrk", ["--latency", "-t", "1", "-c", connections, "-d", SECONDS, "--timeout", "10", url]);
  let told = "";
  child.stdout.on("data", (text) => (told += text));
  const [code] = await once(child, "close");
  const rate = told.match(/^Requests\/sec:\s+([\d.]+)/m);
  const latency = told.match(/^\s+99%\s+([\d.]+)(us|ms|s)/m);
  if (code !== 0 || !rate || !latency) throw new Advice(`wrk failed:\n${told}`);
  const problem = told.match(/^\s+(Socket errors|Non-2xx).*$/m);
  if (problem) throw new Advice(`some requests went wrong: ${problem[0].trim()}`);
  return { rate: Number(rate[1]), p99: Number(latency[1]) * UNITS[latency[2]] };
}

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

await main(async () => {
  setupProxyBench();
  say("building site-connector");
  run("cargo", ["build", "--locked", "--release", "--quiet", "--target-dir", "target", "-p", "chat-connector", "--bin", "site-connector"]);
  const upstream = await service();
  const up = [];
  for (const [name, begin] of Object.entries(proxies)) {
    const proxy = await begin(upstream);
    await answers(proxy.address + PATH, proxy.child);
    up.push({ name, ...proxy });
  }
  say(`GET ${PATH}, ${RUNS} runs of ${SECONDS} s each, ${cpus().length} processors`);
  const show = (...cells) => console.log(`| ${cells.join(" | ")} |`);
  show("proxy", "connections", "requests/s", "p99, ms", "memory, MiB");
  show("---", "---:", "---:", "---:", "---:");
  for (const connections of CONNECTIONS) {
    const measured = new Map(up.map(({ name }) => [name, []]));
    for (let number = 0; number < RUNS; number += 1) {
      for (const { name, address, child } of up) {
        measured.get(name).push({ ...(await load(address + PATH, connections)), memory: memory(child.pid) });
      }
    }
    for (const [name, runs] of measured) {
      const of = (figure, digits) => median(runs.map((one) => one[figure])).toFixed(digits);
      show(name, connections, of("rate", 0), of("p99", 1), of("memory", 0));
    }
  }
});
// Also after a failure nothing is left running.
await stopAll();
