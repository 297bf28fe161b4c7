// Compares the project's proxy with nginx, plain and with the recipe of docs/recipes/nginx.conf: requests per second, the
// 99th percentile of their latency, and memory, on the same machine with the same load and service.
//
// The service is an nginx with a constant response: the sandbox writes each request into its database, which would dominate
// the measurement.

import { copyFileSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { answers, firstLine, folder, freePort, nginxRecipe, start, startNginx, stopAll } from "./servers.mjs";
import { median } from "./bench/slow.mjs";
import { buildConnector } from "./connector.mjs";
import { Advice, main, root, say, setupProxyBench } from "./setup.mjs";

const CONNECTIONS = [10, 100, 1000];
/** The number of runs for the median. The proxies alternate, because the load of a shared machine varies. */
const RUNS = 3;
const SECONDS = 5;
const PATH = "/connector/chat/presence?conversationId=conv_1";
const TOKEN = "bench-token";
const ANSWER = JSON.stringify({
  ok: true,
  data: { operatorOnline: true, shouldPollMessages: false },
  requestId: "req_bench",
});

/** One worker per processor, and enough connections for both sides. */
const nginx = (name, http) =>
  startNginx(join(folder, name), {
    main: "worker_processes auto;",
    events: "worker_connections 16384;",
    http: `keepalive_requests 1000000000; ${http}`,
  });

/** Waits until an address returns the response of the service. */
async function passesOn(url, started) {
  const answer = await answers(url, started);
  if (answer !== ANSWER) throw new Advice(`${url} responded with ${answer}`);
}

async function service() {
  const port = await freePort();
  const started = nginx(
    "service",
    `server { listen 127.0.0.1:${port} backlog=4096; location / {
    default_type application/json; add_header X-Request-Id req_bench; return 200 '${ANSWER}'; } }`,
  );
  await passesOn(`http://127.0.0.1:${port}/`, started);
  return `127.0.0.1:${port}`;
}

const proxies = {
  async "site-connector"(upstream) {
    const limits = ["--rate-per-minute", "0", "--connections-per-address", "2000"];
    const args = ["proxy", "--origin", `http://${upstream}`, "--listen", "127.0.0.1:0", ...limits];
    const started = start(join(root, "target/release/site-connector"), args, { CONNECTOR_TOKEN: TOKEN });
    return { started, address: (await firstLine(started)).split(" ").at(-1) };
  },
  /** Forwards requests unchanged, as the baseline of a proxy. */
  nginx: (upstream) =>
    nginxProxy(
      "plain",
      `${UPSTREAM(upstream)}
      server { listen PORT backlog=4096; location = /connector/chat/presence {
        proxy_pass http://chat_service/api/connector/v1/chat/presence; proxy_http_version 1.1; proxy_set_header Connection "";
        proxy_set_header Authorization "Bearer ${TOKEN}"; } }`,
    ),
  async "nginx, with the recipe"(upstream) {
    copyFileSync(join(root, "docs/recipes/chat.js"), join(folder, "chat.js"));
    const source = readFileSync(join(root, "docs/recipes/nginx.conf"), "utf8");
    const { http, server } = nginxRecipe({ own: folder, source, service: upstream, token: TOKEN });
    // All requests come from one client.
    const unlimited = `${http} server { listen PORT backlog=4096; ${server} }`.replace(/^ *limit_req.*$/gm, "");
    return nginxProxy("recipe", unlimited.replace("keepalive 16;", KEEPALIVE));
  },
};

/** The keep-alive connections to the service, as many as the project's proxy uses. */
const KEEPALIVE = "keepalive 1024; keepalive_requests 1000000000;";
const UPSTREAM = (upstream) => `upstream chat_service { server ${upstream}; ${KEEPALIVE} }`;

async function nginxProxy(name, http) {
  const port = await freePort();
  return { started: nginx(name, http.replace("PORT", `127.0.0.1:${port}`)), address: `http://127.0.0.1:${port}` };
}

/** Returns the proportional set size of a process and its children, in MiB. */
function memory(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const [, kib] = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+)/m);
  return children.reduce((sum, child) => sum + memory(child), Number(kib) / 1024);
}

const UNITS = { us: 0.001, ms: 1, s: 1000 };

/** Loads a URL with wrk, and returns the measurements. */
async function load(url, connections) {
  const { child, ended, stderr } = start("wrk", [
    "--latency",
    "-t",
    "1",
    "-c",
    connections,
    "-d",
    SECONDS,
    "--timeout",
    "10",
    url,
  ]);
  let output = "";
  child.stdout.on("data", (text) => (output += text));
  const code = await ended;
  const rate = output.match(/^Requests\/sec:\s+([\d.]+)/m);
  const latency = output.match(/^\s+99%\s+([\d.]+)(us|ms|s)/m);
  if (code !== 0 || !rate || !latency) throw new Advice(`wrk failed:\n${output}${stderr()}`);
  const problem = output.match(/^\s+(Socket errors|Non-2xx).*$/m);
  if (problem) throw new Advice(`some requests failed: ${problem[0].trim()}`);
  return { rate: Number(rate[1]), p99: Number(latency[1]) * UNITS[latency[2]] };
}

await main(async () => {
  setupProxyBench();
  say("building site-connector");
  buildConnector("--release");
  const upstream = await service();
  const up = [];
  for (const [name, begin] of Object.entries(proxies)) {
    const proxy = await begin(upstream);
    await passesOn(proxy.address + PATH, proxy.started);
    up.push({ name, ...proxy });
  }
  say(`GET ${PATH}, ${RUNS} runs of ${SECONDS} s each, ${cpus().length} processors`);
  const show = (...cells) => console.log(`| ${cells.join(" | ")} |`);
  show("proxy", "connections", "requests/s", "p99, ms", "memory, MiB");
  show("---", "---:", "---:", "---:", "---:");
  for (const connections of CONNECTIONS) {
    const measured = new Map(up.map(({ name }) => [name, []]));
    for (let number = 0; number < RUNS; number += 1) {
      for (const { name, address, started } of up) {
        measured.get(name).push({ ...(await load(address + PATH, connections)), memory: memory(started.child.pid) });
      }
    }
    for (const [name, runs] of measured) {
      const of = (figure, digits) => median(runs.map((one) => one[figure])).toFixed(digits);
      show(name, connections, of("rate", 0), of("p99", 1), of("memory", 0));
    }
  }
});
// Stops all servers, also after a failure.
await stopAll();
