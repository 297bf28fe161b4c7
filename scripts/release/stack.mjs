// The service and the proxy of a release, each run in a file system that contains the program, its data and nothing else: no
// shell, no library, no certificate and no list of users.

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answers, firstLine, freePort, start } from "../servers.mjs";
import { Advice } from "../setup.mjs";

/** A sentence of the site, which the assistant quotes. */
export const ANSWER = "Parcels arrive after three working days";
export const QUESTION = "When do parcels arrive?";
const PAGE = "https://shop.example";

/** Creates a file system with a program at `/site-connector` and a folder for its data. */
function makeRoot(folder, program) {
  mkdirSync(join(folder, "data"), { recursive: true });
  copyFileSync(program, join(folder, "site-connector"));
  chmodSync(join(folder, "site-connector"), 0o755);
}

/** Returns the command line that runs the program in a file system. Only root may do so without a namespace of its own. */
function inside(folder, args) {
  const change = ["chroot", folder, "/site-connector", ...args];
  return process.getuid() === 0 ? change : ["unshare", "--map-root-user", ...change];
}

/** Runs a command of the program in a file system, and returns its output. */
function command(folder, args, env = {}) {
  const [first, ...rest] = inside(folder, args);
  const { error, status, stdout, stderr } = spawnSync(first, rest, { encoding: "utf8", env });
  if (error) throw new Advice(`${first} is missing: a bare file system needs it`);
  if (status !== 0) throw new Error(`site-connector ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

/** Starts the program in a file system. It ends with this process. */
function run(folder, args, env = {}) {
  const [first, ...rest] = inside(folder, args);
  return start(first, rest, env);
}

/** Starts the proxy in a file system in front of a service. Returns its address and the process. */
async function startProxy(folder, origin, token) {
  const proxy = `http://127.0.0.1:${await freePort()}`;
  const flags = ["--listen", new URL(proxy).host, "--origin", origin];
  const server = run(folder, ["proxy", ...flags], { CONNECTOR_TOKEN: token });
  await answers(`${proxy}/connector/chat/presence`, server);
  return { proxy, server };
}

/**
 * Starts the service and the proxy in front of it, with a site whose content answers `QUESTION`. Returns the address of the
 * proxy.
 */
export async function startStack(folder, program) {
  const home = join(folder, "service");
  makeRoot(home, program);
  const data = ["--database", "/data/service.db"];
  const service = run(home, ["serve", "--json", "--listen", "127.0.0.1:0", ...data]);
  const { address } = JSON.parse(await firstLine(service));
  const admin = (...words) =>
    JSON.parse(command(home, ["admin", "--json", ...data, "--public-origin", address, ...words]));
  const { site } = admin("site", "create", "--name", "Shop", "--origin", PAGE);
  const { token } = admin("token", "create", "--site", site.id);

  mkdirSync(join(home, "pages"));
  writeFileSync(
    join(home, "pages", "index.html"),
    `<!doctype html><html lang="en"><title>Delivery</title><main><h1>When parcels arrive</h1><p>${ANSWER}.</p></main></html>`,
  );
  const content = ["sync", "/pages", "--origin", address, "--site-origin", PAGE, "--state", "/data/sync"];
  command(home, content, { CONNECTOR_TOKEN: token });

  const front = join(folder, "proxy");
  makeRoot(front, program);
  const { proxy } = await startProxy(front, address, token);
  return { proxy };
}

/**
 * Runs the proxy without certificates of authorities, in front of a service with TLS. The visitor must get an error of the
 * contract, and the log must tell the reason.
 */
export async function answersOverTls(folder, program) {
  makeRoot(folder, program);
  const { proxy, server } = await startProxy(folder, "https://localhost:9", "token");
  const sent = await fetch(`${proxy}/connector/chat/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: QUESTION }),
  });
  const { ok, error } = await sent.json();
  if (ok !== false || sent.status < 500 || !error?.code)
    throw new Error(`expected an error of the contract, got ${sent.status} ${JSON.stringify({ ok, error })}`);
  return `without certificates, a service with TLS is answered by ${sent.status} ${error.code}; the log: ${server.stderr().trim().split("\n")[0]}`;
}
