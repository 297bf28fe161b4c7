// docs/self-host.md: its settings start the service, and its commands lead to an answered message, a backup and a restore.
// docs/server.md: its commands create a token that the service accepts.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { firstLine, folder as shared, freePort, start, stopAll } from "../../scripts/servers.mjs";
import { snippet } from "../docs-snippets.mjs";

const root = new URL("../..", import.meta.url).pathname;
const programs = join(root, "target", "debug");
const certificates = join(root, "crates", "connector", "tests", "tls");
const folder = mkdtempSync(join(shared, "self-host-"));

after(stopAll);

/** Runs one line of a snippet in the folder of the service, as an administrator would. */
const run = (line, env = {}) =>
  promisify(execFile)("bash", ["-euc", line], { cwd: folder, env: { ...process.env, ...environment, ...env } });

const environment = { PATH: `${programs}:${process.env.PATH}` };

/** Starts the service in the background, and returns what it announces. */
async function serve(args, env) {
  const service = start(join(programs, "site-connector"), ["serve", "--json", ...args], env, folder);
  return { service, ...JSON.parse(await firstLine(service)) };
}

const stop = ({ child, ended }) => (child.kill(), ended);

/** Returns the commands of a snippet that are about the program itself. */
const commands = (text) =>
  text
    .split("\n")
    .map((line) => line.replace(/ +#.*$/, "").replace(/^sudo /, ""))
    .filter((line) => line.startsWith("site-connector") && !line.endsWith("&"));

test("the first commands lead to an answered message, a backup and a restore", async () => {
  const port = await freePort();
  const env = { SERVICE_LISTEN: `127.0.0.1:${port}`, SERVICE_WIDGET_DIR: "widget" };
  cpSync(join(root, "dist"), join(folder, "widget"), { recursive: true });
  const { service, address, ownerLink } = await serve([], env);
  assert.match(ownerLink, /\/console\/#setup=/);

  const [create, doctor] = commands(snippet("docs/self-host.md", "From an empty machine to an answered message: sh"));
  const { stdout } = await run(create, env);
  const [, script, proxy] = stdout.match(/<script async src="([^"]+)" data-proxy="([^"]+)"><\/script>/);
  const loader = await fetch(script.replace(/^https?:\/\/[^/]+/, address));
  assert.equal(loader.status, 200, "the widget's files are there");
  const sent = await fetch(`${proxy.replace(/^https?:\/\/[^/]+/, address)}/chat/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: "https://shop.example" },
    body: JSON.stringify({ message: "Hello" }),
  });
  const { ok, data } = await sent.json();
  assert.ok(ok && data.message.content.length > 0, "the visitor has an answer");
  const report = await run(`${doctor} || true`, env);
  assert.match(report.stdout, /ok +schema/);

  const [sites, token, status] = commands(snippet("docs/server.md", "Get the site token: sh"));
  const [site] = (await run(sites, env)).stdout.match(/^site_\w+/);
  await run(token.replace("site_4f2a", site), env);
  const known = await run(status.replace("https://service.example", address), env);
  assert.match(known.stdout, /status +active/);

  const elsewhere = (line) => line.replaceAll(/\S*\/?chat-2026-11-22\.db/g, "copy.db");
  const [backup, restore] = commands(snippet("docs/self-host.md", "Back up and restore: sh")).map(elsewhere);
  await run(backup, env);
  await assert.rejects(run(`${restore} --replace`, env), "not while the service runs");
  await stop(service);
  await run(`${restore} --replace`, env);
  const again = await serve([], env);
  const history = await fetch(
    `${proxy.replace(/^https?:\/\/[^/]+/, again.address)}/chat/messages?conversationId=${data.conversationId}`,
    { headers: { origin: "https://shop.example" } },
  );
  assert.equal((await history.json()).data.messages.length, 2);
  await run(commands(snippet("docs/self-host.md", "Upgrade: sh"))[0], env);
  const [list] = commands(snippet("docs/self-host.md", "Run it under systemd: sh"));
  const { stdout: tenants } = await run(list.replace(/--config \S+ /, ""), env);
  assert.ok(tenants.trim().length > 0);
  await stop(again.service);
});

const settings = {
  proxy: snippet("docs/self-host.md", "Put it behind a reverse proxy: toml"),
  tls: snippet("docs/self-host.md", "Serve TLS without a reverse proxy: toml"),
};

for (const [name, text] of Object.entries(settings)) {
  test(`the settings start the service: ${name}`, async () => {
    const file = join(folder, `${name}.toml`);
    const own = text
      .replace(/^listen = .*$/m, `listen = "127.0.0.1:${await freePort()}"`)
      .replace(/^tls_certificate = .*$/m, `tls_certificate = "${join(certificates, "one.crt")}"`)
      .replace(/^tls_key = .*$/m, `tls_key = "${join(certificates, "one.key")}"`);
    writeFileSync(file, own);
    const { service, console: address } = await serve(["--config", file, "--database", `${name}.db`]);
    assert.equal(address, "https://chat.example/console/");
    await stop(service);
  });
}

test("the address of a PostgreSQL database is the argument that the page shows", async () => {
  const [command] = commands(snippet("docs/self-host.md", "Move to PostgreSQL, and to two nodes: sh"));
  const nobody = command.replace("db.internal", `127.0.0.1:${await freePort()}`);
  const env = { SERVICE_KEY_FILE: "postgres.key", SERVICE_LISTEN: `127.0.0.1:${await freePort()}` };
  await assert.rejects(run(nobody, env), (error) => /database/.test(error.stderr));
});
