// A real WordPress with MariaDB and the plugin, as a connector of the conformance suite.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { answers, folder, freePort, start } from "../../scripts/servers.mjs";
import { wordpressSources } from "../../scripts/php.mjs";
import { debianTool, root } from "../../scripts/setup.mjs";
import { pluginSources } from "../../scripts/wordpress-plugin.mjs";

const PHP = "wordpress-php";
/** WP-Cron runs when a test says so, WordPress reaches this machine only, and errors are shown. */
const CONFIG = `define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_ACCESSIBLE_HOSTS', '127.0.0.1');
define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_DEBUG', true);
define('WP_DISABLE_FATAL_ERROR_HANDLER', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');`;

const stops = [];
/** Stops all servers of WordPress. */
export const stopWordPress = () => stops.splice(0).forEach((stop) => stop());
process.once("exit", stopWordPress);

/** The programs of other plugins, by the plugins' names. */
const OTHERS = {
  "Yoast SEO": "wordpress-seo/wp-seo.php",
  "Rank Math": "seo-by-rank-math/rank-math.php",
  Polylang: "polylang/polylang.php",
  WooCommerce: "woocommerce/woocommerce.php",
};

let database;
/** Starts MariaDB, without accounts and for this machine's socket only. */
async function startDatabase() {
  debianTool("mariadbd");
  const data = join(folder, "mariadb");
  mkdirSync(data);
  const socket = join(folder, "mariadb.sock");
  const server = start("mariadbd", [
    "--user=root",
    `--datadir=${data}`,
    `--socket=${socket}`,
    `--pid-file=${join(folder, "mariadb.pid")}`,
    "--skip-networking",
    "--skip-grant-tables",
  ]);
  const connect = `for ($i = 0; $i < 600; $i++) { mysqli_report(MYSQLI_REPORT_OFF);
    $db = @new mysqli('localhost', 'root', '', '', 0, '${socket}'); if (!$db->connect_errno) exit('ready'); usleep(50000); }`;
  if (execFileSync(PHP, ["-r", connect], { encoding: "utf8" }) !== "ready") throw new Error(server.stderr());
  return socket;
}

/** Starts WordPress with the plugin, connected to the service at `origin`, or not connected without one. */
export async function startWordPress({ version, origin, token, constants = [] }) {
  debianTool(PHP);
  database ??= await startDatabase();
  const name = `wordpress_${version.replace(".", "_")}_${stops.length}`;
  const home = join(folder, name);
  cpSync(wordpressSources(version), home, { recursive: true });
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const connection = [
    ["DB_NAME", name],
    ["DB_USER", "root"],
    ["DB_PASSWORD", ""],
    ["DB_HOST", `localhost:${database}`],
    ["DB_CHARSET", "utf8mb4"],
    ["DB_COLLATE", ""],
    ["WP_HOME", address],
    ["WP_SITEURL", address],
    ["AUTH_KEY", "k"],
    ...(origin ? Object.entries({ CHAT_ORIGIN: origin, CHAT_TOKEN: token }) : []),
    ...constants,
  ];
  const lines = connection.map(([key, value]) => `define('${key}', ${JSON.stringify(value)});`);
  writeFileSync(
    join(home, "wp-config.php"),
    `<?php\n${lines.join("\n")}\n${CONFIG}\nrequire_once ABSPATH . 'wp-settings.php';\n`,
  );
  for (const [path, bytes] of Object.entries(pluginSources())) {
    const target = join(home, "wp-content/plugins/chat-widget", path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
  mkdirSync(join(home, "wp-content/mu-plugins"), { recursive: true });
  copyFileSync(join(root, "tests/connectors/wordpress-plugin.php"), join(home, "wp-content/mu-plugins/tests.php"));
  const router = join(home, "router.php");
  writeFileSync(
    router,
    `<?php $file = __DIR__ . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    if (is_file($file) && substr($file, -4) !== '.php') return false;
    if (is_file($file)) { chdir(dirname($file)); require $file; } else { require __DIR__ . '/index.php'; }`,
  );

  const env = { SERVER_NAME: "127.0.0.1" };
  const prelude = `$_SERVER['HTTP_HOST'] = '127.0.0.1:${port}'; $_SERVER['REQUEST_URI'] = '/';
    $_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1'; $_SERVER['REQUEST_METHOD'] = 'GET'; $_SERVER['REMOTE_ADDR'] = '127.0.0.1';`;
  /** Runs PHP inside WordPress, and returns its output as JSON. */
  const php = (code, before = "") => {
    const script = `${prelude} ${before} require 'wp-load.php'; ${code}`;
    const output = execFileSync(PHP, ["-d", "log_errors=1", "-d", "sendmail_path=/bin/true", "-r", script], {
      cwd: home,
      encoding: "utf8",
      env: { ...process.env, ...env },
    });
    const line = output.trim().split("\n").at(-1);
    return line === "" ? null : JSON.parse(line);
  };
  execFileSync(PHP, [
    "-r",
    `(new mysqli('localhost', 'root', '', '', 0, '${database}'))->query('CREATE DATABASE ${name}');`,
  ]);
  const install = `require_once ABSPATH . 'wp-admin/includes/upgrade.php';
    wp_install('Kiln', 'admin', 'admin@kiln.example', true, '', 'secret');
    update_option('permalink_structure', '/%postname%/'); update_option('active_plugins', ['chat-widget/chat-widget.php']);
    switch_theme('twentytwentyfour'); flush_rewrite_rules(); echo 'null';`;
  php(install, "define('WP_INSTALLING', true);");
  php("flush_rewrite_rules(); echo 'null';");
  const server = start(PHP, ["-S", `127.0.0.1:${port}`, "-t", home, router], { ...env, PHP_CLI_SERVER_WORKERS: "4" });
  // PHP's workers outlive it, and hold its output open.
  const { pid } = server.child;
  stops.push(() => {
    const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    for (const worker of [pid, ...workers]) process.kill(Number(worker), "SIGKILL");
  });
  await answers(`${address}/`, server);

  /** Runs what WP-Cron runs. Resolves with the exit code or the signal, and the output. */
  const run = async ({ KILL_AFTER_MS, ...given } = {}, hook = "chat_widget_run") => {
    const script = `${prelude} require 'wp-load.php'; do_action('${hook}');`;
    const child = spawn(PHP, ["-r", script], {
      cwd: home,
      env: { ...process.env, ...env, ...given },
      stdio: ["pipe", "pipe", "pipe"],
    });
    if (KILL_AFTER_MS) setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    const ended = once(child, "close").then(([code, signal]) => ({ code: signal ?? code, output }));
    return given.PAUSE_AT ? { child, ended, paused: once(child.stdout, "data") } : ended;
  };

  return {
    name: `WordPress ${version}`,
    address,
    home,
    php,
    run,
    /**
     * Adds and activates another plugin: the real one if the folder that the variable `WORDPRESS_PLUGINS` names has it, or
     * else a stand-in with the same hooks. Returns whether it is real.
     */
    addPlugin(name) {
      const [other] = OTHERS[name].split("/");
      const target = join(home, "wp-content/plugins", OTHERS[name]);
      const real = process.env.WORDPRESS_PLUGINS && join(process.env.WORDPRESS_PLUGINS, other);
      if (real && existsSync(real)) cpSync(real, dirname(target), { recursive: true });
      else {
        mkdirSync(dirname(target));
        copyFileSync(join(root, `tests/connectors/stand-ins/${other}.php`), target);
      }
      const [problem] = php(`require_once ABSPATH . 'wp-admin/includes/plugin.php';
        $result = activate_plugin('${OTHERS[name]}'); echo json_encode([is_wp_error($result) ? $result->get_error_message() : null]);`);
      if (problem) throw new Error(`${name}: ${problem}`);
      php("flush_rewrite_rules(); echo 'null';");
      return Boolean(real && existsSync(real));
    },
    /** Returns the status and the HTML that visitors get. */
    async read(path) {
      const response = await fetch(address + path, { redirect: "manual" });
      return { status: response.status, html: await response.text() };
    },
    /** Writes a page as the site's owner does. Returns its id. */
    edit: (fields) =>
      php(`echo json_encode(wp_insert_post(wp_slash(json_decode(${phpText(JSON.stringify(fields))}, true))
        + ['post_status' => 'publish', 'post_author' => 1]));`),
    /** Returns the posts with a slug, in all states, and the number of their revisions. */
    posts: (slug) =>
      php(`global $wpdb; echo json_encode($wpdb->get_results($wpdb->prepare("SELECT ID, post_title, post_content, post_status,
        (SELECT COUNT(*) FROM $wpdb->posts r WHERE r.post_parent = p.ID AND r.post_type = 'revision') AS revisions
        FROM $wpdb->posts p WHERE post_type IN ('post', 'page') AND (post_name LIKE %s)", ${phpText(`${slug}%`)})));`),
    test: (file, text) =>
      text === null
        ? rmSync(join(home, `test-${file}`), { force: true })
        : writeFileSync(join(home, `test-${file}`), text),
  };
}

/** Returns a text as PHP's literal. */
export const phpText = (text) => `base64_decode('${Buffer.from(text).toString("base64")}')`;
