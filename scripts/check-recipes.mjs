// Runs the project's own proxy, and the recipes of docs/recipes/ in their real servers, before the sandbox, and lets
// `site-connector check` look at each. A server that cannot be had here is named, and is a failure when it was asked for.
//
//     cargo build -p chat-connector && node scripts/check-recipes.mjs [nginx Caddy …]

import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { chatConnector } from "../docs/recipes/connector.mjs";
import { snippet } from "../tests/docs-snippets.mjs";
import { answers, firstLine, folder, freePort, nginxRecipe, recipe, start, startNginx, stopAll } from "./servers.mjs";
import { Advice, debianTool, main, npmPackages, root } from "./setup.mjs";

const command = join(root, "target/debug/site-connector");
const token = `token-${crypto.randomUUID()}`;

/** The port of a server of Node's, which ends with the process. */
async function port(server) {
  await once(server, "listening");
  server.unref();
  return server.address().port;
}

/** A script in PHP's own server. */
async function php(script, env) {
  debianTool("php");
  const own = await freePort();
  await answers(`http://127.0.0.1:${own}/`, start("php", ["-S", `127.0.0.1:${own}`, script], env));
  return own;
}

/** Starts each server before the service at `origin`, and gives its port. */
const servers = {
  async "site-connector proxy"(origin) {
    const args = ["--log", "error", "proxy", "--origin", origin, "--listen", "127.0.0.1:0"];
    const told = await firstLine(start(command, args, { CONNECTOR_TOKEN: token }));
    return new URL(told.split(" ").at(-1)).port;
  },
  async "Node's http"(origin) {
    return port(createServer(chatConnector({ origin, token })).listen(0, "127.0.0.1"));
  },
  async Express(origin) {
    npmPackages();
    const { default: express } = await import("express");
    const app = express();
    app.use("/connector", chatConnector({ origin, token, prefix: "" }));
    return port(app.listen(0, "127.0.0.1"));
  },
  async nginx(origin) {
    debianTool("nginx");
    const own = await freePort();
    const { http, server } = nginxRecipe(new URL(origin).host, token);
    const nginx = startNginx("nginx", { http: `${http} server { listen 127.0.0.1:${own}; ${server} }` });
    await answers(`http://127.0.0.1:${own}/`, nginx);
    return own;
  },
  async Caddy(origin) {
    debianTool("caddy");
    const own = await freePort();
    const text = recipe("Caddyfile").replaceAll("https://service.example", origin)
      .replaceAll("service.example", new URL(origin).host).replace("shop.example", `http://127.0.0.1:${own}`);
    writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${text}`);
    const env = { CONNECTOR_TOKEN: token, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder };
    const caddy = start("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], env);
    await answers(`http://127.0.0.1:${own}/`, caddy);
    return own;
  },
  PHP: (origin) => php(join(root, "docs/recipes/connector.php"), { CONNECTOR_TOKEN: token, CONNECTOR_ORIGIN: origin }),
  /** The plugin of docs/wordpress.md, and of WordPress what it is called with. */
  async WordPress(origin) {
    const plugin = (name) => snippet("docs/wordpress.md", `WordPress, by hand: ${name}`);
    const settings = plugin("php 2").replace("https://service.example", origin).replace("the token of activation", token);
    const wordpress = "define('ABSPATH', '/'); function add_action() {} function add_filter() {}";
    writeFileSync(join(folder, "connector.php"), recipe("connector.php"));
    writeFileSync(join(folder, "chat-widget.php"), plugin("php"));
    writeFileSync(join(folder, "index.php"), `<?php ${wordpress}\n${settings}\nrequire 'chat-widget.php'; http_response_code(404);`);
    return php(join(folder, "index.php"));
  },
};

/** What `site-connector check` says of a server, and whether all is well. */
async function check(port) {
  const checking = promisify(execFile)(command, ["check", `http://127.0.0.1:${port}/connector`]);
  const { stdout, stderr, code } = await checking.catch((error) => error);
  const problems = stdout.split("\n").filter((line) => line.startsWith("FAILED"));
  const said = code ? stderr.trim() : stdout.trim().split("\n").at(-1);
  return { said: [said, ...problems].join("\n  "), ok: !code };
}

await main(async () => {
  const needed = process.argv.slice(2);
  const unknown = needed.filter((name) => !(name in servers));
  if (unknown.length > 0) throw new Advice(`${unknown.join(", ")}: none of ${Object.keys(servers).join(", ")}`);
  const demo = start(command, ["demo", "--sandbox-only", "--json", "--port", "0", "--sandbox-port", "0"], { CONNECTOR_TOKEN: token });
  const { sandbox } = JSON.parse(await firstLine(demo));
  const failed = [];
  let held = 0;
  for (const [name, run] of Object.entries(servers)) {
    let port;
    try {
      port = await run(sandbox);
    } catch (error) {
      if (!(error instanceof Advice)) throw error;
      console.log(`${name}: not checked. ${error.message}`);
      if (needed.includes(name)) failed.push(name);
      continue;
    }
    const { said, ok } = await check(port);
    console.log(`${name}: ${said}`);
    if (ok) held += 1;
    else failed.push(name);
  }
  await stopAll();
  console.log(`${held} of ${Object.keys(servers).length} servers checked and well`);
  if (failed.length > 0) throw new Advice(`not well: ${failed.join(", ")}`);
});
