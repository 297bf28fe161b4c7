// Runs the recipes of docs/recipes/service/ in their real servers in front of `site-connector serve`: an owner signs in, a
// visitor writes, the console hears of it at once, and no log has a query. Also checks the units of systemd, if it is there.
//
//     cargo build -p chat-connector && node scripts/check-self-host.mjs

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { firstLine, folder, freePort, start, startNginx, stopAll } from "./servers.mjs";
import { Advice, debianTool, main, root } from "./setup.mjs";

const command = join(root, "target/debug/site-connector");
const recipe = (name) => readFileSync(join(root, "docs/recipes/service", name), "utf8");
const HOST = "chat.example";
const PAGE = "https://shop.example";
/** A word that is in queries only. */
const QUERY = "word-of-a-query";

/** Each starts a web server on a port, in front of the service at `address`, and returns it and what it has logged. */
const servers = {
  async nginx(port, address) {
    debianTool("nginx");
    const own = mkdtempSync(join(folder, "nginx-"));
    const plain = await freePort();
    const log = join(own, "access.log");
    const http = recipe("nginx.conf")
      .replaceAll("127.0.0.1:8090", address)
      .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
      .replace("listen 80", `listen 127.0.0.1:${plain}`)
      .replace(/\/etc\/letsencrypt\S+fullchain.pem/, join(root, "crates/connector/tests/tls/one.crt"))
      .replace(/\/etc\/letsencrypt\S+privkey.pem/, join(root, "crates/connector/tests/tls/one.key"))
      .replace("/var/log/nginx/chat.log", log);
    const server = startNginx(join(own, "nginx"), { http });
    return { server, log: () => readFileSync(log, "utf8") };
  },
  async Caddy(port, address) {
    debianTool("caddy");
    const own = mkdtempSync(join(folder, "caddy-"));
    const plain = await freePort();
    const site = recipe("Caddyfile")
      .replaceAll("127.0.0.1:8090", address)
      .replace(`${HOST} {`, `https://${HOST}:${port} {\n\tbind 127.0.0.1\n\ttls internal`);
    const global = `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\thttp_port ${plain}\n}\n`;
    writeFileSync(join(own, "Caddyfile"), global + site);
    const env = { XDG_DATA_HOME: own, XDG_CONFIG_HOME: own, HOME: own };
    const server = start("caddy", ["run", "--config", join(own, "Caddyfile"), "--adapter", "caddyfile"], env);
    return { server, log: server.stderr };
  },
};

/** Sends a request through a web server. Resolves with the response at its head. */
const send = (port, path, { method = "GET", headers = {}, body } = {}) =>
  new Promise((resolve, reject) => {
    const host = { host: "127.0.0.1", port, servername: HOST, rejectUnauthorized: false, agent: false };
    const all = { host: `${HOST}:${port}`, ...(body ? { "content-type": "application/json" } : {}), ...headers };
    request({ ...host, method, path, headers: all }, resolve)
      .once("error", reject)
      .end(body && JSON.stringify(body));
  });

async function text(response) {
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Returns the response to a request that may fail while the web server starts. */
async function ready(port, { child, stderr }) {
  for (;;) {
    if (child.exitCode !== null) throw new Advice(`${child.spawnfile} did not start: ${stderr()}`);
    const response = await send(port, "/readyz").catch(() => undefined);
    if (response) return text(response);
    await new Promise((soon) => setTimeout(soon, 20));
  }
}

function expect(what, found, expected) {
  if (found !== expected) throw new Error(`${what}: expected ${expected}, got ${found}`);
}

async function check(run) {
  const own = mkdtempSync(join(folder, "service-"));
  const port = await freePort();
  const origin = `https://${HOST}:${port}`;
  const data = ["--database", join(own, "service.db"), "--public-origin", origin];
  const flags = ["--listen", "127.0.0.1:0", "--trusted-hop", "127.0.0.1", "--log", "info"];
  const service = start(command, ["serve", "--json", ...data, ...flags]);
  const { address, ownerLink } = JSON.parse(await firstLine(service));
  const { server, log } = await run(port, new URL(address).host);
  expect("/readyz", await ready(port, server), "ok\n");

  const account = { name: "Ada", email: "ada@shop.example", password: "a long and secret phrase" };
  const body = { ...account, token: ownerLink.split("#setup=")[1] };
  const setup = await send(port, "/api/admin/v1/setup", { method: "POST", headers: { origin }, body });
  expect("signing in", setup.statusCode, 200);
  expect("Strict-Transport-Security", setup.headers["strict-transport-security"], "max-age=31536000");
  const cookies = setup.headers["set-cookie"].map((cookie) => cookie.split(";")[0]);
  const cookie = cookies.find((pair) => pair.startsWith("__Host-session="));

  const events = await send(port, "/api/admin/v1/stream", { headers: { cookie, "sec-fetch-site": "same-origin" } });
  expect("the stream", events.statusCode, 200);
  const create = ["admin", "site", "create", "--json", "--name", "Shop", "--origin", PAGE];
  const { site } = JSON.parse(execFileSync(command, [...create, ...data]));
  const proxy = `/connector/${site.id}/chat`;
  const page = { origin: PAGE, "x-forwarded-for": "203.0.113.9" };
  const message = { method: "POST", headers: page, body: { message: "Is anybody there?" } };
  const sent = await send(port, `${proxy}/messages?q=${QUERY}`, message);
  expect("a message", sent.statusCode, 200);
  expect("its page", sent.headers["access-control-allow-origin"], PAGE);
  const { conversationId } = JSON.parse(await text(sent)).data;
  // A web server that holds responses back does not show the event before the stream ends.
  for await (const chunk of events) if (`${chunk}`.includes(conversationId)) break;
  const asked = await send(port, `${proxy}/messages?conversationId=${conversationId}`, { headers: page });
  expect("the conversation", JSON.parse(await text(asked)).data.messages[0].content, "Is anybody there?");
  const logged = log();
  if (!logged.includes(proxy)) throw new Error("the web server logs no requests");
  for (const secret of [QUERY, conversationId, cookie])
    if (logged.includes(secret)) throw new Error(`the log of the web server has ${secret}: ${logged}`);
}

/** Verifies the units, with a program that is there. */
function units() {
  if (spawnSync("systemd-analyze", ["--version"]).error) return "not checked: there is no systemd";
  const names = ["site-connector.service", "site-connector-backup.service", "site-connector-backup.timer"];
  const own = mkdtempSync(join(folder, "units-"));
  for (const name of names)
    writeFileSync(join(own, name), recipe(name).replaceAll("/usr/local/bin/site-connector", command));
  const { stderr, status } = spawnSync("systemd-analyze", ["verify", ...names.map((name) => join(own, name))]);
  const about = `${stderr}`.split("\n").filter((line) => names.some((name) => line.includes(name)));
  if (status !== 0 || about.length > 0) throw new Error(`systemd refuses the units: ${stderr}`);
  return "valid";
}

await main(async () => {
  for (const [name, run] of Object.entries(servers)) {
    await check(run).finally(stopAll);
    console.log(`${name}: signed in, wrote, heard of it, and logged no query`);
  }
  console.log(`systemd: ${units()}`);
});
