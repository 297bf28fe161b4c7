// Runs PostgreSQL for the tests, from the system's package or one that is unpacked into the tools cache. Nothing is
// installed, and no server of the machine is touched.
//
//   node scripts/postgres.mjs url     prints the address of the test server, which is started if it does not run
//   node scripts/postgres.mjs stop    stops it

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Advice, debianPackage, main, which } from "./setup.mjs";

/** Returns the folder of PostgreSQL's programs, and the environment that they need. */
function programs() {
  const newestIn = (home) => {
    const versions = join(home, "usr", "lib", "postgresql");
    const found = existsSync(versions) ? readdirSync(versions).sort((one, other) => Number(other) - Number(one)) : [];
    return found.map((version) => join(versions, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
  };
  const system = newestIn("/") ?? (which("initdb") && join(which("initdb"), ".."));
  if (system) return { bin: system, env: process.env };
  const why = "The tests of the service need PostgreSQL. Install its server, so that `initdb` can be run";
  const home = debianPackage(["postgresql-15", "libpq5"], why);
  const libraries = readdirSync(join(home, "usr", "lib")).filter((name) => name.includes("-linux-"));
  const paths = libraries.map((name) => join(home, "usr", "lib", name)).join(":");
  // An unpacked server looks for its time zones and word lists below /usr, and finds those beside itself.
  return { bin: newestIn(home), env: { ...process.env, LD_LIBRARY_PATH: paths } };
}

// The server refuses to run as root: then it runs as `nobody`, who owns its folder.
const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

function execute(program, args) {
  const { bin, env } = programs();
  const drop = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const [first, ...rest] = [...drop, join(bin, program), ...args];
  const result = spawnSync(first, rest, { env, encoding: "utf8", cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  if (result.status !== 0) {
    throw new Advice(`PostgreSQL's ${program} failed: ${result.error?.message ?? (result.stderr || result.stdout)}`);
  }
  return result.stdout;
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** A server in a folder of its own. */
export class Postgres {
  constructor(folder, port) {
    this.folder = folder;
    this.port = port;
  }

  /** Creates a server that is not started yet. */
  static async create(folder = mkdtempSync(join(tmpdir(), "chat-widget-postgres-"))) {
    chmodSync(folder, 0o700);
    if (isRoot) chownSync(folder, NOBODY, NOBODY);
    execute("initdb", ["-D", join(folder, "data"), "-U", "chat", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]);
    return new Postgres(folder, await freePort());
  }

  /** Returns the address of a database of this server. */
  url(database = "postgres") {
    return `postgres://chat@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts the server and waits until it is ready. `settings` are parameters of postgresql.conf. */
  start(settings = {}) {
    const all = { port: this.port, listen_addresses: "127.0.0.1", unix_socket_directories: "", ...settings };
    const options = Object.entries(all).map(([name, value]) => `-c ${name}='${value}'`);
    const data = join(this.folder, "data");
    execute("pg_ctl", ["start", "-w", "-t", "60", "-D", data, "-l", join(this.folder, "log"), "-o", options.join(" ")]);
  }

  /** Stops the server: `fast` ends its transactions, `immediate` is like a crash. */
  stop(mode = "fast") {
    execute("pg_ctl", ["stop", "-w", "-t", "60", "-m", mode, "-D", join(this.folder, "data")]);
  }

  get isRunning() {
    try {
      execute("pg_ctl", ["status", "-D", join(this.folder, "data")]);
      return true;
    } catch {
      return false;
    }
  }

  remove() {
    if (this.isRunning) this.stop("immediate");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// The tests of all checkouts share a server, each with databases of its own. In memory, creating and dropping them takes half
// of the time.
const MEMORY = "/dev/shm";
const SHARED = join(
  existsSync(MEMORY) ? MEMORY : tmpdir(),
  `chat-widget-test-postgres-${process.getuid?.() ?? "user"}`,
);
const PORT_FILE = join(SHARED, "port");

const shared = () => new Postgres(SHARED, existsSync(PORT_FILE) ? Number(readFileSync(PORT_FILE, "utf8")) : 0);

/** Returns the address of the test server, which is started if it does not run. */
export async function testServer() {
  const lock = `${SHARED}.lock`;
  for (let attempt = 0; ; attempt += 1) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const server = shared();
      if (server.port && server.isRunning) return server.url();
      // Left over by a process that was killed.
      if (attempt > 150) rmSync(lock, { recursive: true, force: true });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  try {
    const known = shared();
    if (known.port && known.isRunning) return known.url();
    rmSync(SHARED, { recursive: true, force: true });
    mkdirSync(SHARED);
    const server = await Postgres.create(SHARED);
    // Test data need not survive a power failure.
    server.start({ fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: 300 });
    writeFileSync(PORT_FILE, String(server.port));
    return server.url();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Stops the test server, and removes its data. */
export function stopTestServer() {
  if (existsSync(SHARED)) shared().remove();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    if (process.argv[2] === "url") console.log(await testServer());
    else if (process.argv[2] === "stop") stopTestServer();
    else throw new Advice("usage: node scripts/postgres.mjs url|stop");
  });
}
