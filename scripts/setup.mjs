// Installs missing tools of the build and the tests. It imports Node's own modules only, because it runs before `npm ci`.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

// Tools compiled by cargo are stored by version outside the project: clones share them, and other installed versions stay
// untouched.
export const toolsHome =
  process.env.CHAT_WIDGET_TOOLS ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "chat-widget-tools");

const WASM_PACK_VERSION = "0.15.1";
const GECKODRIVER_VERSION = "0.37.1";
/** The newest one that this project's Rust compiles. */
const TRUNK_VERSION = "0.21.14";

/** Prints one line of progress. */
export function say(line) {
  console.log(`[chat-widget] ${line}`);
}

/** An error whose message is advice; it is printed without a stack. */
export class Advice extends Error {}

/** Runs a program with its output shown, and fails with advice when it fails. */
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { cwd: root, stdio: "inherit", ...options });
  if (result.error) throw new Advice(`could not run ${program}: ${result.error.message}`);
  if (result.status !== 0) throw new Advice(`failed (${result.status ?? result.signal}): ${program} ${args.join(" ")}`);
}

/** Like `run`, beside other work: for programs that use one core. */
export function runBeside(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit" });
    child.on("error", (error) => reject(new Advice(`could not run ${program}: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Advice(`failed (${code ?? signal}): ${program} ${args.join(" ")}`));
    });
  });
}

/** Returns the output of a program, or null if it is missing. */
function output(program, args) {
  const result = spawnSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return result.status === 0 ? result.stdout.trim() : null;
}

/** Returns the first line that a program prints, or null if it is missing. */
export const firstLine = (program, args) => output(program, args)?.split("\n")[0] ?? null;

export function which(program) {
  for (const folder of process.env.PATH.split(delimiter)) {
    const path = join(folder, program);
    if (existsSync(path)) return path;
  }
  return null;
}

export function onPath(folder) {
  if (!process.env.PATH.split(delimiter).includes(folder)) process.env.PATH = folder + delimiter + process.env.PATH;
}

/** Installs the npm packages of the lock file, when it changed since the last time. */
export function npmPackages() {
  const hash = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".lock-hash");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== hash) {
    say("installing the npm packages of package-lock.json");
    // No package needs its install scripts.
    run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    writeFileSync(stamp, hash);
  }
  onPath(join(root, "node_modules", ".bin"));
}

/** Installs a part of Rust with rustup, unless its folder is there. */
function ensureRust(path, ...args) {
  if (!which("cargo")) {
    onPath(join(homedir(), ".cargo", "bin"));
    if (!which("cargo"))
      throw new Advice("Rust is missing. Install rustup from https://rustup.rs, then run this again.");
  }
  if (existsSync(join(firstLine("rustc", ["--print", "sysroot"]), "lib", "rustlib", path))) return;
  const name = `the Rust ${args[0]} ${args[2]}`;
  if (!which("rustup")) throw new Advice(`${name} is missing, and so is rustup. Install both, then run this again.`);
  say(`adding ${name}`);
  run("rustup", args);
}

/** Installs the standard library of a target if it is missing. */
export const ensureTarget = (target) => ensureRust(join(target, "lib"), "target", "add", target);

/** Installs Rust's browser target and the source of the standard library if they are missing. */
function rustTarget() {
  ensureTarget("wasm32-unknown-unknown");
  ensureRust(join("src", "rust", "library"), "component", "add", "rust-src");
}

function rustComponents() {
  for (const [program, component] of [
    ["cargo-clippy", "clippy"],
    ["rustfmt", "rustfmt"],
  ]) {
    if (firstLine(program, ["--version"])) continue;
    say(`adding the Rust component ${component}`);
    run("rustup", ["component", "add", component]);
  }
}

/** Returns the version of a package in Cargo.lock. */
export function lockedVersion(name) {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const found = lock.match(new RegExp(`name = "${name}"\\nversion = "([^"]+)"`));
  if (!found) throw new Advice(`Cargo.lock does not list ${name}`);
  return found[1];
}

/** Compiles a tool of crates.io in this version with these options of cargo, unless it is there. */
export function cargoTool(crate, version, program, options = []) {
  const home = join(toolsHome, `${crate}-${version}`);
  const bin = join(home, "bin");
  if (existsSync(join(bin, program))) return onPath(bin);
  // An installed copy of the same version is used.
  if (firstLine(program, ["--version"])?.split(" ").at(-1) === version) return;
  say(`compiling ${crate} ${version} with cargo; this takes a few minutes, once on this machine`);
  mkdirSync(home, { recursive: true });
  // The tools run for seconds, and are compiled for minutes.
  const quick = {
    CARGO_PROFILE_RELEASE_OPT_LEVEL: "1",
    CARGO_PROFILE_RELEASE_LTO: "off",
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
  };
  // Not --locked by itself: a mirror may lack crates of the tool's own lock file.
  run("cargo", ["install", crate, "--version", version, "--root", home, "--quiet", ...options], {
    env: { ...process.env, ...quick, CARGO_TARGET_DIR: join(home, "build") },
  });
  rmSync(join(home, "build"), { recursive: true, force: true });
  onPath(bin);
}

/**
 * Returns the paths of the programs that `found` looks for. On Debian, root installs missing ones with apt; otherwise an
 * error lists the commands.
 */
function fromDebian(what, packages, found, elsewhere) {
  const missing = () => Object.values(found()).includes(null);
  const install = ["install", "-y", "--no-install-recommends", ...packages];
  if (missing() && which("apt-get") && process.getuid?.() === 0) {
    say(`installing ${what} with apt`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-q"], { env });
    run("apt-get", install, { env });
  }
  if (!missing()) return found();
  throw new Advice(
    `The browser tests need ${what}.\n` +
      `  on Debian:  sudo apt-get ${install.join(" ")}\n` +
      `  elsewhere:  ${elsewhere}`,
  );
}

/** The programs that need more than Debian's package of the same name. */
const DEBIAN = {
  nginx: {
    called: "nginx with its module njs",
    packages: ["nginx", "libnginx-mod-http-js"],
    works: () => nginxModule() !== null,
  },
  // Only an installed package links `php` to a version.
  sqlite3: { called: "SQLite's command" },
  psql: { called: "PostgreSQL's command", packages: ["postgresql-client"] },
  php: { called: "PHP", packages: ["php-cli"], file: /^php\d+\.\d+$/, options: "-n" },
  "php-fpm": {
    called: "php-fpm with the extension curl",
    packages: ["php-fpm", "php-curl"],
    // The package has the version in the program's name, and enables the extension only where it is installed.
    file: /^php-fpm\d/,
    options: '-n -d extension_dir="$(echo "$home"/usr/lib/php/2*)" -d extension=curl',
    works: () => output("php-fpm", ["-m"])?.split("\n").includes("curl"),
  },
  /** A program of our own name: PHP with what WordPress and the library need, whatever else is installed. */
  "wordpress-php": {
    called: "PHP with the extensions curl, mysqli, mbstring and SQLite",
    packages: ["php-cli", "php-curl", "php-mysql", "php-mbstring", "php-sqlite3"],
    file: /^php\d+\.\d+$/,
    options:
      '-n -d extension_dir="$(echo "$home"/usr/lib/php/2*)" ' +
      ["mysqlnd", "mysqli", "pdo", "pdo_sqlite", "curl", "mbstring", "ctype", "tokenizer", "posix"]
        .map((name) => `-d extension=${name}`)
        .join(" "),
  },
  mariadbd: {
    called: "MariaDB",
    packages: ["mariadb-server-core"],
    options: '--no-defaults --basedir="$home/usr" --lc-messages-dir="$home/usr/share/mysql"',
  },
};

/** Returns the path of nginx's module njs, beside an unpacked nginx or in the system's folders; null if it is missing. */
export function nginxModule() {
  const nginx = which("nginx");
  const homes = [...(nginx ? [join(dirname(nginx), "..")] : []), "/"];
  const folders = homes.flatMap((home) =>
    ["usr/lib/nginx/modules", "usr/lib64/nginx/modules", "lib/nginx/modules"].map((folder) => join(home, folder)),
  );
  return folders.map((folder) => join(folder, "ngx_http_js_module.so")).find((path) => existsSync(path)) ?? null;
}

/** Returns the paths of Chromium and its driver. */
export const chromium = () =>
  fromDebian(
    "Chromium and its driver",
    ["chromium", "chromium-driver", "fonts-dejavu-core"],
    () => ({
      browser: process.env.CHROMIUM ?? which("chromium") ?? which("chromium-browser") ?? which("google-chrome"),
      driver: process.env.CHROMEDRIVER ?? which("chromedriver"),
    }),
    "install both, of the same version, and set CHROMIUM and CHROMEDRIVER to their paths",
  );

/** Returns the paths of Firefox and its driver. */
export function firefox() {
  const found = () => ({ browser: process.env.FIREFOX ?? which("firefox-esr") ?? which("firefox") });
  const { browser } = fromDebian("Firefox", ["firefox-esr"], found, "install it, and set FIREFOX to its path");
  if (!process.env.GECKODRIVER && !which("geckodriver")) cargoTool("geckodriver", GECKODRIVER_VERSION, "geckodriver");
  return { browser, driver: process.env.GECKODRIVER ?? which("geckodriver") };
}

/** Returns the path of WebKit's driver, which finds the browser by itself. */
export const webkit = () =>
  fromDebian(
    "WebKitGTK with its driver, and Xvfb",
    ["webkit2gtk-driver", "xvfb"],
    () => ({ driver: which("WebKitWebDriver"), screen: which("Xvfb") }),
    "install both on Linux, so that WebKitWebDriver and Xvfb can be run",
  );

/**
 * Provides a program of a Debian package. The package and its dependencies are unpacked into the tools cache instead of
 * installed, because apt would start a web server now and at each boot.
 */
export function debianTool(name) {
  const {
    called = name,
    packages = [name],
    file = new RegExp(`^${name}$`),
    options = "",
    works = () => true,
  } = DEBIAN[name] ?? {};
  if (which(name) && works()) return;
  // Debian's folder of servers, which is not always on the path.
  if (existsSync(join("/usr/sbin", name)) && (onPath("/usr/sbin"), works())) return;
  const why = `The tests and measurements of the proxy need ${called}. Install it, so that \`${name}\` can be run`;
  const home = debianPackage(packages, why, (fresh) => {
    const script = `#!/bin/sh\n${LIBRARIES}\nexec "$home/${found(fresh, file)}" ${options} "$@"\n`;
    writeFileSync(join(fresh, "bin", name), script, { mode: 0o755 });
  });
  onPath(join(home, "bin"));
}

/** Unpacks Debian packages into the tools cache, unless they are there, and returns their folder. */
export function debianPackage(packages, why, prepare = () => {}) {
  const home = join(toolsHome, `debian-${packages.join("+")}`);
  if (existsSync(home)) return home;
  say(`unpacking Debian's package ${packages.join(" and ")} into the tools cache`);
  // Renamed once it is complete.
  const fresh = `${home}-${process.pid}`;
  try {
    unpack(packages, fresh);
    prepare(fresh);
    renameSync(fresh, home);
  } catch (error) {
    throw new Advice(`${why}, then run this again. (${error instanceof Advice ? error.message : String(error)})`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return home;
}

/** Sets the search path of the libraries in the package for this program alone. */
const LIBRARIES = `home="$(dirname "$0")/.."
for folder in "$home"/usr/lib/*-linux-*; do LD_LIBRARY_PATH="$folder"; done
export LD_LIBRARY_PATH`;

/** Returns the path of the program in the folder of its unpacked package. */
function found(home, file) {
  for (const folder of ["usr/sbin", "usr/bin"]) {
    const name = existsSync(join(home, folder)) && readdirSync(join(home, folder)).find((name) => file.test(name));
    if (name) return join(folder, name);
  }
  throw new Advice("the program is not in its package");
}

/**
 * Returns these packages, and those with a version in their names that they depend on: `php-cli` is empty, and depends on
 * `php8.2-cli`.
 */
function withVersions(packages) {
  // apt translates "Depends".
  const depends = output("env", ["LC_ALL=C", "apt-cache", "depends", ...packages]) ?? "";
  const names = [...depends.matchAll(/Depends: (\S+)$/gm)].map(([, name]) => name);
  return [...packages, ...names.filter((name) => packages.includes(name.replace(/\d[\d.]*/, "")))];
}

function unpack(packages, home) {
  if (!which("apt-get")) throw new Advice("apt-get is missing");
  const archives = join(home, "archives");
  mkdirSync(join(archives, "partial"), { recursive: true });
  mkdirSync(join(home, "bin"));
  // Writes nothing to the system, so it needs neither its lock nor root.
  const settings = ["Debug::NoLocking=1", "APT::Sandbox::User=root", `Dir::Cache::archives=${archives}`];
  const fetch = [
    "install",
    "--download-only",
    // Without it, apt leaves out packages that are installed, such as nginx without its module.
    "--reinstall",
    "-y",
    "-qq",
    "--no-install-recommends",
    ...settings.flatMap((one) => ["-o", one]),
  ];
  const fetched = () =>
    spawnSync("apt-get", [...fetch, ...withVersions(packages)], { stdio: ["ignore", "ignore", "inherit"] }).status ===
    0;
  if (!fetched()) {
    // A new container has no package lists yet.
    if (process.getuid?.() === 0) run("apt-get", ["update", "-q"]);
    if (!fetched()) throw new Advice("apt-get could not fetch it");
  }
  for (const file of readdirSync(archives).filter((file) => file.endsWith(".deb")))
    run("dpkg-deb", ["--extract", join(archives, file), home]);
  rmSync(archives, { recursive: true });
}

/** The servers of docs/recipes/ that are not npm packages, and the programs that check the plugin for WordPress. */
const RECIPE_PROGRAMS = ["nginx", "caddy", "php-fpm", "php", "unzip"];

/** Installs the tools for `npm run bench:proxy`. */
export function setupProxyBench() {
  rustTarget();
  for (const name of ["nginx", "wrk"]) debianTool(name);
}

/** Installs the tools for `npm run build` and `npm start`. */
export function setupBuild() {
  npmPackages();
  rustTarget();
  // Its test runner speaks to a driver on this machine only, so that it needs no TLS.
  cargoTool("wasm-bindgen-cli", lockedVersion("wasm-bindgen"), "wasm-bindgen", ["--no-default-features"]);
}

/** Installs the tools for `npm test`. Returns the paths of Chromium and its driver. */
export function setupTest() {
  setupBuild();
  rustComponents();
  cargoTool("wasm-pack", WASM_PACK_VERSION, "wasm-pack");
  return chromium();
}

/**
 * Installs Trunk. It serves pages of this machine only, so that it needs no TLS, and looks for no update. Newer versions of
 * its dependencies do not fit together.
 */
export const trunk = () => cargoTool("trunk", TRUNK_VERSION, "trunk", ["--no-default-features", "--locked"]);

/** Installs the servers of docs/recipes/. */
export function recipePrograms() {
  for (const name of RECIPE_PROGRAMS) debianTool(name);
}

/** Runs a script's main function. Prints an `Advice` without its stack, other errors with it. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Advice ? `\n[chat-widget] ${error.message}` : error);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    setupTest();
    say("everything that the build and the tests need is installed");
  });
}
