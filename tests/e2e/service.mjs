// A service with an empty database, its commands, and pages of other origins that use it.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const COMMAND = process.env.SITE_CONNECTOR ?? join(root, "target/debug/site-connector");

/**
 * Starts a service on an empty database. Returns its `address`, the `ownerLink`, `pid()`, `admin(...arguments)`, which runs a
 * command and returns its result, `restart(signal, during)`, which ends it by a signal and starts it again on the same data and at the
 * same address, and `stop()`. `more` are more flags of `serve`.
 */
export async function startService({
  widget = process.env.WIDGET_DIR ?? join(root, "dist"),
  command = COMMAND,
  more = [],
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), "chat-service-"));
  const data = ["--database", join(folder, "service.db")];
  let service;
  process.once("exit", () => service?.kill());
  const start = async (listen) => {
    const flags = ["--log", "error", "serve", "--json", "--listen", listen, "--widget-dir", widget, ...data, ...more];
    service = spawn(command, flags, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    service.stderr.pipe(process.stderr);
    const line = await new Promise((resolve, reject) => {
      createInterface(service.stdout).once("line", resolve);
      service.once("error", reject).once("exit", (code) => reject(new Error(`the service did not start: ${code}`)));
    });
    return JSON.parse(line);
  };
  const end = async (signal) => {
    if (service.exitCode !== null || service.signalCode !== null) return;
    service.kill(signal);
    await once(service, "exit");
  };
  const { address, ownerLink } = await start("127.0.0.1:0");
  const admin = async (...words) => {
    const { stdout } = await promisify(execFile)(
      command,
      ["admin", "--json", ...data, "--public-origin", address, ...words],
      { cwd: folder },
    );
    return JSON.parse(stdout);
  };
  const restart = async (signal, during = async () => {}) => {
    await end(signal);
    await during();
    await start(new URL(address).host);
  };
  const stop = async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  };
  return { address, ownerLink, pid: () => service.pid, admin, restart, stop };
}

/** Serves one page at every path of an origin of its own, `http://localhost:PORT`. `content()` returns its HTML. */
export async function servePage(content) {
  const server = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(`<!doctype html><html lang="en"><title>A shop</title><h1>A shop</h1>${content()}</html>`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://localhost:${server.address().port}`,
    stop: () => new Promise((closed) => (server.close(closed), server.closeAllConnections())),
  };
}

/**
 * Uses a one-time link to create an operator. Returns a signed-in client of the admin API: `call(method, path, body, headers)`
 * returns the data of the response, and `cookie()` the `name` and `value` of the session's cookie.
 */
export async function operatorOf({ address, ownerLink }, { name, email, password }) {
  let cookie = "";
  const call = async (method, path, body, headers = {}) => {
    const response = await fetch(`${address}/api/admin/v1/${path}`, {
      method,
      headers: { "Content-Type": "application/json", Cookie: cookie, ...headers },
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
    });
    const [set] = response.headers.getSetCookie().filter((line) => line.includes("session"));
    if (set) cookie = set.split(";")[0];
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer.data;
  };
  const token = new URL(ownerLink, address).hash.replace("#setup=", "");
  await call("POST", "setup", { token, name, email, password });
  const [, key, value] = /^([^=]+)=(.*)$/.exec(cookie);
  return { call, cookie: () => ({ name: key, value }) };
}
