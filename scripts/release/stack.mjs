// The service and the proxy of a release. The static program runs in a file system that contains nothing else: no shell, no
// library, no certificate and no list of users.

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answers, firstLine, freePort, start } from "../servers.mjs";
import { Advice } from "../setup.mjs";

/** A sentence of the site, which the assistant quotes. */
export const ANSWER = "Parcels arrive after three working days";
export const QUESTION = "When do parcels arrive?";
const PAGE = "https://shop.example";

/**
 * Returns a file system that contains a program, a folder for its data, and nothing else: `command` runs the program and
 * returns its output, `begin` starts it until this process ends, and `at` returns the path of a file as the program sees it.
 * A program that needs libraries runs beside such a folder instead, with `isBare: false`.
 */
function fileSystem(folder, { program, isBare }) {
  mkdirSync(join(folder, "data"), { recursive: true });
  const copy = join(folder, "site-connector");
  if (isBare) {
    copyFileSync(program, copy);
    chmodSync(copy, 0o755);
  }
  const bare = ["chroot", folder, "/site-connector"];
  // Only root may change the root without a namespace of its own.
  const contained = process.getuid() === 0 ? bare : ["unshare", "--map-root-user", ...bare];
  const [first, ...words] = isBare ? contained : [program];
  return {
    at: (path) => (isBare ? `/${path}` : join(folder, path)),
    command(args, env = {}) {
      const { error, status, stdout, stderr } = spawnSync(first, [...words, ...args], { encoding: "utf8", env });
      if (error) throw new Advice(`${first} is missing: a bare file system needs it`);
      if (status !== 0) throw new Error(`site-connector ${args.join(" ")} failed: ${stderr}`);
      return stdout;
    },
    begin: (args, env = {}) => start(first, [...words, ...args], env),
  };
}

/** Starts the proxy in front of a service. Returns its address and the process. */
async function startProxy({ begin }, origin, token) {
  const proxy = `http://127.0.0.1:${await freePort()}`;
  const flags = ["--listen", new URL(proxy).host, "--origin", origin];
  const server = begin(["proxy", ...flags], { CONNECTOR_TOKEN: token });
  await answers(`${proxy}/connector/chat/presence`, server);
  return { proxy, server };
}

/**
 * Starts the service and the proxy in front of it, with a site whose content answers `QUESTION`. Returns the address of the
 * proxy.
 */
export async function startStack(folder, how) {
  const service = fileSystem(join(folder, "service"), how);
  const data = ["--database", service.at("data/service.db")];
  const serve = service.begin(["serve", "--json", "--listen", "127.0.0.1:0", ...data]);
  const { address } = JSON.parse(await firstLine(serve));
  const admin = (...words) =>
    JSON.parse(service.command(["admin", "--json", ...data, "--public-origin", address, ...words]));
  const { site } = admin("site", "create", "--name", "Shop", "--origin", PAGE);
  const { token } = admin("token", "create", "--site", site.id);

  mkdirSync(join(folder, "service", "pages"));
  writeFileSync(
    join(folder, "service", "pages", "index.html"),
    `<!doctype html><html lang="en"><title>Delivery</title><main><h1>When parcels arrive</h1><p>${ANSWER}.</p></main></html>`,
  );
  const content = ["sync", service.at("pages"), "--site-origin", PAGE, "--state", service.at("data/sync")];
  service.command([...content, "--origin", address], { CONNECTOR_TOKEN: token });

  const { proxy } = await startProxy(fileSystem(join(folder, "proxy"), how), address, token);
  return { proxy };
}

/**
 * Runs the proxy without certificates of authorities, in front of a service with TLS. The visitor must get an error of the
 * contract, and the log must tell the reason.
 */
export async function answersOverTls(folder, program) {
  const { proxy, server } = await startProxy(
    fileSystem(folder, { program, isBare: true }),
    `https://localhost:${await freePort()}`,
    "token",
  );
  const sent = await fetch(`${proxy}/connector/chat/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: QUESTION }),
  });
  const { ok, error } = await sent.json();
  if (ok !== false || sent.status < 500 || !error?.code)
    throw new Error(`expected an error of the contract, got ${sent.status} ${JSON.stringify({ ok, error })}`);
  const [line] = server.stderr().trim().split("\n");
  if (!line) throw new Error("the log does not tell the reason");
  return `without certificates, a service with TLS is answered by ${sent.status} ${error.code}; the log: ${line}`;
}
