// An application of a framework: its starter files, the files of docs/frameworks.md, its packages from npm, and the packed
// package of this project.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { answers, freePort, start } from "../../scripts/servers.mjs";
import { packPackage } from "../../scripts/npm-package.mjs";
import { root } from "../../scripts/setup.mjs";
import { nodeFolder } from "./node.mjs";

const NAME = "@site-connector/chat-widget";
/** The date of the newest packages that are installed, so that every run has the same. */
const PACKAGES_BEFORE = "2026-11-23";
const INSTALL = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

const home = join(root, "target", "frameworks");
const run = promisify(execFile);

let tarball;
/** Packs the package, once. Returns the path of the tarball. */
function packed() {
  tarball ??= packPackage(join(home, ".packed"));
  return tarball;
}

/** The environment of the frameworks' commands: their Node, and no reports to their vendors. */
const environment = (own) => ({
  ...process.env,
  PATH: [nodeFolder(), process.env.PATH].join(delimiter),
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NG_CLI_ANALYTICS: "false",
  NUXT_TELEMETRY_DISABLED: "1",
  // A framework that sees the test runner would run as if it were tested itself.
  NODE_TEST_CONTEXT: undefined,
  ...own,
});

/** Installs the packages of an application, unless they are there. */
async function install(folder) {
  const manifest = readFileSync(join(folder, "package.json"));
  const wanted = createHash("sha256").update(manifest).update(PACKAGES_BEFORE).digest("hex");
  const stamp = join(folder, "node_modules", ".wanted");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
  await run("npm", ["install", "--before", PACKAGES_BEFORE, ...INSTALL], { cwd: folder, env: environment() });
  writeFileSync(stamp, wanted);
}

/** Puts the packed package where `npm install` puts it. */
async function installPacked(folder) {
  const place = join(folder, "node_modules", NAME);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  await run("tar", ["-xzf", packed(), "-C", place, "--strip-components=1"]);
}

/**
 * Makes an application in target/frameworks/: the starter files of tests/frameworks/NAME, and the given files of the docs.
 * The packages of the last run stay.
 */
export async function application(name, files) {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(folder))
    if (entry !== "node_modules") rmSync(join(folder, entry), { recursive: true });
  cpSync(join(root, "tests/frameworks", name), folder, { recursive: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await install(folder);
  await installPacked(folder);
  const bin = (program) => (program === "node" ? program : join(folder, "node_modules/.bin", program));
  return {
    folder,
    dist: join(folder, "node_modules", NAME, "dist"),
    /** Runs a command to its end, and returns its output. */
    async run([program, ...args], env) {
      const { stdout, stderr } = await run(bin(program), args, { cwd: folder, env: environment(env) });
      return stdout + stderr;
    },
    /** Starts a command that serves on the port that `args` takes. Returns its address, and its standard error. */
    async serve(command, env) {
      const port = await freePort();
      const [program, ...args] = command(port);
      const own = environment({ HOST: "127.0.0.1", PORT: `${port}`, ...env });
      const server = start(bin(program), args, own, folder);
      // A full pipe would stop the server.
      server.child.stdout.resume();
      const site = `http://127.0.0.1:${port}/`;
      await answers(site, server);
      return { site, errors: server.stderr };
    },
  };
}
