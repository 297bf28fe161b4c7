// The service and the proxy of a release. The static program runs in a file system that contains nothing else: no shell, no
// library, no certificate and no list of users.

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
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
      const { error, status, stdout, stderr } = spawnSync(first, [...words, ...args], {
        encoding: "utf8",
        env: { ...process.env, ...env },
      });
      if (error) throw new Advice(`${first} is missing: a bare file system needs it`);
      if (status !== 0) throw new Error(`site-connector ${args.join(" ")} failed: ${stderr}`);
      return stdout;
    },
    begin: (args, env = {}) => start(first, [...words, ...args], env),
  };
}

/** Starts the proxy in front of a service. Returns its address. */
async function startProxy({ begin }, origin, token, env = {}) {
  const proxy = `http://127.0.0.1:${await freePort()}`;
  const flags = ["--listen", new URL(proxy).host, "--origin", origin];
  const server = begin(["proxy", ...flags], { ...env, CONNECTOR_TOKEN: token });
  await answers(`${proxy}/connector/chat/presence`, server);
  return { proxy };
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

/** Certificates of public authorities, where Linux has them. */
const CERTIFICATES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Runs the proxy in front of a service with TLS that cannot be reached. Without certificates, the proxy must not start, and
 * must say where they come from. With a file of them and nothing else, a visitor gets an error of the contract.
 */
export async function answersOverTls(folder, program) {
  const files = fileSystem(folder, { program, isBare: true });
  const origin = `https://localhost:${await freePort()}`;
  const refused = await startProxy(files, origin, "token").then(
    () => null,
    (error) => error,
  );
  if (!/SSL_CERT_FILE/.test(refused?.message))
    throw new Error(`without certificates: ${refused ?? "the proxy started"}`);
  const certificates = CERTIFICATES.find((path) => existsSync(path));
  if (!certificates) throw new Advice("this machine has no certificates of public authorities");
  copyFileSync(certificates, join(folder, "data", "certificates.pem"));
  const { proxy } = await startProxy(files, origin, "token", { SSL_CERT_FILE: files.at("data/certificates.pem") });
  const sent = await fetch(`${proxy}/connector/chat/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message: QUESTION }),
  });
  const { ok, error } = await sent.json();
  if (ok !== false || sent.status < 500 || !error?.code)
    throw new Error(`expected an error of the contract, got ${sent.status} ${JSON.stringify({ ok, error })}`);
  return `without them, the proxy tells what to do; with them, a service out of reach is ${sent.status} ${error.code}`;
}
