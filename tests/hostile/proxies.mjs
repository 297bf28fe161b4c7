// Every proxy in its real server: the project's own, and the recipes of docs/recipes/.

import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { answers, firstLine, folder, freePort, nginxRecipe, start, startNginx } from "../../scripts/servers.mjs";
import { Advice, debianTool, npmPackages, root } from "../../scripts/setup.mjs";
import { snippet, snippetOf } from "../docs-snippets.mjs";

export const token = `site-token-${crypto.randomUUID()}`;
const command = process.env.SITE_CONNECTOR ?? join(root, "target/debug/site-connector");

/** The folder whose docs/ has the recipes; that of another version to test its recipes. */
const home = resolve(process.env.RECIPES ?? root);
const text = (path) => readFileSync(join(home, "docs", path), "utf8");

/** The package's server library. */
const SERVER_MODULE = join(root, "dist/server/index.mjs");

/** The rate limit per minute of tests without one, because all attacks come from one address. */
const ANY_RATE = 1_000_000_000;

let count = 0;
function ownFolder() {
  count += 1;
  const own = join(folder, `proxy-${count}`);
  mkdirSync(own);
  return own;
}

/** Starts a proxy in Node: the recipe, or the package's if `file` names it. */
async function node(kind, { origin, timeout, rated }, file = join(home, "docs/recipes/connector.mjs")) {
  npmPackages();
  const env = {
    CONNECTOR_ORIGIN: origin,
    CONNECTOR_TOKEN: token,
    TIMEOUT_MS: timeout ? timeout * 1000 : "",
    PER_MINUTE: rated ? "" : ANY_RATE,
  };
  const server = start(process.execPath, [join(root, "tests/hostile/node-server.mjs"), kind, file], env);
  return { port: Number(await firstLine(server)), servers: [server] };
}

/** The parameters of nginx's `fastcgi_params` that our scripts read. */
const FASTCGI_PARAMS = [
  "QUERY_STRING $query_string",
  "REQUEST_METHOD $request_method",
  "CONTENT_TYPE $content_type",
  "CONTENT_LENGTH $content_length",
  "REQUEST_URI $request_uri",
  "SERVER_PROTOCOL $server_protocol",
  "REMOTE_ADDR $remote_addr",
  "GATEWAY_INTERFACE CGI/1.1",
]
  .map((param) => `fastcgi_param ${param};\n`)
  .join("");

/** Starts a PHP script in PHP-FPM behind nginx, for every path below /connector. */
async function php(own, script, { origin }) {
  debianTool("nginx");
  debianTool("php-fpm");
  const env = { CONNECTOR_ORIGIN: origin, CONNECTOR_TOKEN: token };
  const given = Object.entries(env)
    .map(([name, value]) => `env[${name}] = ${value}\n`)
    .join("");
  // PHP shows errors to visitors unless a php.ini says otherwise.
  writeFileSync(
    join(own, "pool.conf"),
    `[global]\nerror_log = ${own}/pool.log\nlog_level = error\n[www]\nlisten = ${own}/php.sock
listen.mode = 0666
pm = static\npm.max_children = 4\nphp_flag[display_errors] = on\nphp_flag[html_errors] = on\nphp_admin_value[sys_temp_dir] = ${own}\n${given}`,
  );
  const pool = start("php-fpm", ["-F", "-R", "-y", join(own, "pool.conf")]);
  while (!existsSync(join(own, "php.sock"))) {
    if (pool.child.exitCode !== null)
      throw new Advice(`php-fpm did not start: ${pool.stderr()}${readFileSync(join(own, "pool.log"))}`);
    await setTimeout(20);
  }
  const port = await freePort();
  writeFileSync(join(own, "fastcgi_params"), FASTCGI_PARAMS);
  const location = snippet("docs/server.md", "Compare the recipes: nginx")
    .replace("fastcgi_params", join(own, "fastcgi_params"))
    .replace("/srv/chat/connector.php", script)
    .replace("/run/php/php-fpm.sock", join(own, "php.sock"));
  const front = startNginx(join(own, "front"), {
    http: `server { listen 127.0.0.1:${port}; ${PRIVATE(own)} location / { return 404; }
    ${location} }`,
  });
  await answers(`http://127.0.0.1:${port}/connector/`, front);
  return { port, servers: [front, pool] };
}

/** The text of a file that no visitor may see, and its place in nginx. */
export const SECRET_FILE = "a file that no visitor may see";
const PRIVATE = (own) => {
  writeFileSync(join(own, "secret.txt"), SECRET_FILE);
  return `location /private/ { internal; alias ${own}/; }`;
};

const seconds = (timeout, source) => (timeout ? source.replaceAll(/\b35(?=s;|s$|,$)/gm, timeout) : source);

/** Writes the PHP library into a folder, with the timeout and the rate of a test. */
function phpLibrary(target, { timeout, rated }) {
  cpSync(join(home, "connectors/php"), target, { recursive: true });
  const proxy = join(target, "src/Proxy.php");
  const source = seconds(timeout, readFileSync(proxy, "utf8"));
  writeFileSync(
    proxy,
    source.replace(/(?<=PER_MINUTE = )\d+/, (rate) => (rated ? rate : ANY_RATE)),
  );
}

/**
 * Starts each proxy in front of the service at `origin`. `timeout` replaces the recipe's timeout for the service, in
 * seconds; `rated` keeps the recipe's rate limit.
 */
export const proxies = {
  async "site-connector proxy"({ origin, timeout = 35, rated }) {
    const rate = rated ? [] : ["--rate-per-minute", 0];
    const args = [
      "--origin",
      origin,
      "--listen",
      "127.0.0.1:0",
      "--timeout",
      timeout,
      "--config-fresh",
      0,
      "--config-stale",
      0,
      ...rate,
    ];
    const server = start(command, ["proxy", "--log", "error", ...args], { CONNECTOR_TOKEN: token });
    return { port: Number(new URL((await firstLine(server)).split(" ").at(-1)).port), servers: [server] };
  },
  "Node's http": (options) => node("http", options),
  "connectorProxy in Node's http": (options) => node("http", options, SERVER_MODULE),
  "connectorProxy in Express": (options) => node("express", options, SERVER_MODULE),
  "Express 4": (options) => node("express4", options),
  "Express 5": (options) => node("express", options),
  async nginx({ origin, timeout, rated }) {
    debianTool("nginx");
    const own = ownFolder();
    const port = await freePort();
    if (existsSync(join(home, "docs/recipes/chat.js")))
      copyFileSync(join(home, "docs/recipes/chat.js"), join(own, "chat.js"));
    const source = seconds(timeout, text("recipes/nginx.conf")).replace(rated ? /^$/ : /^ *limit_req .*$/m, "");
    const { http, server } = nginxRecipe({ own, source, service: new URL(origin).host, token });
    const nginx = startNginx(join(own, "nginx"), {
      http: `${http} server { listen 127.0.0.1:${port}; ${PRIVATE(own)} ${server} }`,
    });
    await answers(`http://127.0.0.1:${port}/`, nginx);
    return { port, servers: [nginx] };
  },
  async Caddy({ origin, timeout }) {
    debianTool("caddy");
    const own = ownFolder();
    const port = await freePort();
    const source = seconds(timeout, text("recipes/Caddyfile"))
      .replaceAll("https://service.example", origin)
      .replaceAll("service.example", new URL(origin).host)
      .replace("shop.example", `http://127.0.0.1:${port}, http://shop.example:${port}`);
    writeFileSync(join(own, "Caddyfile"), `{\n\tadmin off\n\tauto_https off\n}\n${source}`);
    const env = { CONNECTOR_TOKEN: token, XDG_DATA_HOME: own, XDG_CONFIG_HOME: own, HOME: own };
    const caddy = start("caddy", ["run", "--config", join(own, "Caddyfile"), "--adapter", "caddyfile"], env);
    await answers(`http://127.0.0.1:${port}/`, caddy);
    return { port, servers: [caddy] };
  },
  async PHP(options) {
    const own = ownFolder();
    writeFileSync(join(own, "connector.php"), text("recipes/connector.php"));
    phpLibrary(join(own, "site-connector"), options);
    return php(own, join(own, "connector.php"), options);
  },
  /** The plugin for WordPress, with stubs of the functions that it calls before its proxy answers. */
  async WordPress(options) {
    const own = ownFolder();
    const plugin = join(home, "connectors/wordpress");
    const settings = snippetOf(text("wordpress.md"), "Keep the token on your server: php")
      .replace("https://service.example", options.origin)
      .replace("the token of activation", token);
    const wordpress = `define('ABSPATH', '/'); function add_action() {} function add_filter() {}
      function plugin_basename($file) { return $file; } function get_option($name, $default) { return $default; }
      function home_url() { return 'https://shop.example'; }`;
    cpSync(plugin, own, { recursive: true });
    phpLibrary(join(own, "lib"), options);
    writeFileSync(
      join(own, "index.php"),
      `<?php ${wordpress}\n${settings}\nrequire 'chat-widget.php'; header_remove('X-Powered-By'); http_response_code(404);`,
    );
    return php(own, join(own, "index.php"), options);
  },
};

/** Returns a program's process and its descendants. */
export function processes(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processes)];
}
