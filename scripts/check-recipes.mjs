// Runs the project's own proxy, and the recipes of docs/recipes/ in their real servers, before the sandbox, and lets
// `site-connector check` look at each. A server that is not installed is named, and is a failure when it was asked for.
// NGINX_BIN, CADDY_BIN and PHP_BIN say where one is. Express is taken from where EXPRESS points, such as a folder in which
// `npm install express` was run.
//
//     cargo build -p chat-connector && node scripts/check-recipes.mjs [nginx Caddy …]

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chatConnector } from "../docs/recipes/connector.mjs";
import { snippet } from "../tests/docs-snippets.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const command = join(root, "target/debug/site-connector");
const token = `token-${crypto.randomUUID()}`;
const folder = await mkdtemp(join(tmpdir(), "recipes-"));
const running = [];
const stopAll = () => Promise.all(running.splice(0).map((stop) => stop()));
process.once("exit", () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});

/** A port that was free a moment ago. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

function start(program, args, env = {}) {
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  child.on("error", () => {});
  const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  running.push(() => (child.kill(), ended));
  return { child, said: () => said };
}

/** Waits until somebody listens, or the program has ended. */
async function listening(port, { child, said }) {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended: ${said()}`);
    const socket = connect(port, "127.0.0.1");
    const [event] = await Promise.race([once(socket, "connect").then(() => ["up"]), once(socket, "error").then(() => ["down"])]).catch(() => ["down"]);
    socket.destroy();
    if (event === "up") return;
    await new Promise((soon) => setTimeout(soon, 20));
  }
}

const isThere = (program) => promisify(execFile)(program, ["-v"]).then(() => true, (error) => error.code !== "ENOENT");
const recipe = (name) => readFile(join(root, "docs/recipes", name), "utf8");

/** A script in PHP's own server. */
async function php(script, env) {
  const program = process.env.PHP_BIN ?? "php";
  if (!(await isThere(program))) return null;
  const port = await freePort();
  const options = (process.env.PHP_OPTIONS ?? "").split(" ").filter(Boolean);
  await listening(port, start(program, [...options, "-S", `127.0.0.1:${port}`, script], env));
  return port;
}

const servers = {
  async "site-connector proxy"() {
    const args = ["--log", "error", "proxy", "--origin", origin, "--listen", "127.0.0.1:0"];
    const proxy = start(command, args, { CONNECTOR_TOKEN: token });
    const [told] = await once(createInterface(proxy.child.stdout), "line");
    return new URL(told.split(" ").at(-1)).port;
  },
  async "Node's http"() {
    const server = createServer(chatConnector({ origin, token })).listen(0, "127.0.0.1");
    running.push(() => server.close());
    await once(server, "listening");
    return server.address().port;
  },
  async Express() {
    if (!process.env.EXPRESS) return null;
    const express = createRequire(join(process.env.EXPRESS, "x.js"))("express");
    const app = express();
    app.use("/connector", chatConnector({ origin, token, prefix: "" }));
    const server = app.listen(0, "127.0.0.1");
    running.push(() => server.close());
    await once(server, "listening");
    return server.address().port;
  },
  async nginx() {
    const program = process.env.NGINX_BIN ?? "nginx";
    if (!(await isThere(program))) return null;
    const port = await freePort();
    const [http, server] = (await recipe("nginx.conf")).split(/^# --- in server.*$/m);
    // The service of this check speaks no TLS.
    const plain = (text) => text
      .replaceAll("https://chat_service", "http://chat_service")
      .replaceAll("service.example:443", service).replaceAll("service.example", service)
      .replaceAll("/etc/nginx/chat-token.conf", join(folder, "token.conf"))
      .replace(/^ *proxy_ssl_.*$/gm, "");
    await writeFile(join(folder, "token.conf"), `proxy_set_header Authorization "Bearer ${token}";\n`);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
    await writeFile(join(folder, "nginx.conf"), `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
      http { access_log off; ${paths.join(" ")} ${plain(http)} server { listen 127.0.0.1:${port}; ${plain(server)} } }`);
    await listening(port, start(program, ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")]));
    return port;
  },
  async Caddy() {
    const program = process.env.CADDY_BIN ?? "caddy";
    if (!(await isThere(program))) return null;
    const port = await freePort();
    const text = (await recipe("Caddyfile")).replaceAll("https://service.example", origin)
      .replaceAll("service.example", service).replace("shop.example", `http://127.0.0.1:${port}`);
    await writeFile(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${text}`);
    const env = { CONNECTOR_TOKEN: token, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder };
    await listening(port, start(program, ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], env));
    return port;
  },
  PHP: () => php(join(root, "docs/recipes/connector.php"), { CONNECTOR_TOKEN: token, CONNECTOR_ORIGIN: origin }),
  /** The plugin of docs/wordpress.md, and of WordPress what it is called with. */
  async WordPress() {
    const plugin = (name) => snippet("docs/wordpress.md", `WordPress, by hand: ${name}`);
    const settings = plugin("php 2").replace("https://service.example", origin).replace("the token of activation", token);
    const wordpress = "define('ABSPATH', '/'); function add_action() {} function add_filter() {}";
    await writeFile(join(folder, "connector.php"), await recipe("connector.php"));
    await writeFile(join(folder, "chat-widget.php"), plugin("php"));
    await writeFile(join(folder, "index.php"), `<?php ${wordpress}\n${settings}\nrequire 'chat-widget.php'; http_response_code(404);`);
    return php(join(folder, "index.php"));
  },
};

const needed = process.argv.slice(2);
for (const name of needed) if (!(name in servers)) throw new Error(`${name} is none of: ${Object.keys(servers).join(", ")}`);

const demo = start(command, ["demo", "--sandbox-only", "--json", "--port", "0", "--sandbox-port", "0"], { CONNECTOR_TOKEN: token });
const [line] = await once(createInterface(demo.child.stdout), "line");
const origin = JSON.parse(line).sandbox;
const service = new URL(origin).host;

let failed = false;
for (const [name, run] of Object.entries(servers)) {
  const port = await run();
  if (port === null) {
    console.log(`${name}: not installed, not checked`);
    failed ||= needed.includes(name);
    continue;
  }
  const check = promisify(execFile)(command, ["check", `http://127.0.0.1:${port}/connector`]);
  const { stdout, stderr, code } = await check.catch((error) => error);
  const problems = stdout.split("\n").filter((text) => text.startsWith("FAILED"));
  console.log([`${name}: ${code ? stderr.trim() : stdout.trim().split("\n").at(-1)}`, ...problems].join("\n  "));
  failed ||= Boolean(code);
}
await stopAll();
process.exit(failed ? 1 : 0);
