// Servers that stop with the script that starts them.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Advice, nginxModule } from "./setup.mjs";

/** Creates a folder for the files of the servers. */
export const folder = mkdtempSync(join(tmpdir(), "chat-widget-servers-"));
// Servers that are started by root read it as another user.
chmodSync(folder, 0o755);

const running = [];
export const stopAll = () => Promise.all(running.splice(0).map(({ child, ended }) => (child.kill(), ended)));
process.once("exit", () => {
  stopAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/** Returns a free port. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Starts a program, in a folder of its own or in `cwd`. If it exits early, the error contains its standard error. */
export function start(program, args, env = {}, cwd = folder) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const ended = new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  running.push({ child, ended });
  return { child, ended, stderr: () => errors };
}

/** Returns the first line that a program prints. */
export async function firstLine({ child, ended, stderr }) {
  const line = await Promise.race([once(createInterface(child.stdout), "line"), ended.then(() => null)]);
  if (line === null) throw new Advice(`${child.spawnfile} did not start: ${stderr()}`);
  return line[0];
}

/** Waits until a URL responds, or the program has ended. */
export async function answers(url, { child, stderr }) {
  for (;;) {
    if (child.exitCode !== null || child.pid === undefined)
      throw new Advice(`${child.spawnfile} did not start: ${stderr()}`);
    const answer = await fetch(url)
      .then((response) => response.text())
      .catch(() => undefined);
    if (answer !== undefined) return answer;
    await new Promise((soon) => setTimeout(soon, 20));
  }
}

/** Starts an nginx with the module njs and the given directives inside `http` and beside it. Its files begin with a path. */
export function startNginx(own, { main = "", events = "", http }) {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${own}-${kind};`);
  writeFileSync(
    `${own}.conf`,
    `daemon off; pid ${own}.pid; error_log stderr crit; load_module ${nginxModule()}; ${main}
    events { ${events} } http { access_log off; ${paths.join(" ")} ${http} }`,
  );
  return start("nginx", ["-p", folder, "-e", "stderr", "-c", `${own}.conf`]);
}

/** Returns the two parts of the recipe for nginx, with a service at this URL without TLS. `own` is a folder for its files. */
export function nginxRecipe({ own, source, service, token }) {
  writeFileSync(join(own, "chat-token.conf"), `proxy_set_header Authorization "Bearer ${token}";\n`);
  const plain = source
    .replaceAll("https://chat_service", "http://chat_service")
    .replaceAll("service.example:443", service)
    .replaceAll("service.example", service)
    .replaceAll("/etc/nginx/chat", join(own, "chat"))
    .replace(/^ *proxy_ssl_.*$/gm, "");
  const [http, server] = plain.split(/^# --- in server.*$/m);
  return { http, server };
}
