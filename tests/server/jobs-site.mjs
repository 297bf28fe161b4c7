// A site with a CMS whose jobs the server library runs, as a connector of the conformance suite: the site's own server, and a
// process that runs jobs, with a journal of any kind.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PageHeads, ServerConnectorClient } from "../../dist/server/index.mjs";
import { folder } from "../../scripts/servers.mjs";
import { Cms } from "./site/cms.mjs";
import { journalOf } from "./site/journals.mjs";

const program = fileURLToPath(new URL("site/run.mjs", import.meta.url));
const listen = async (answer) => {
  const server = createServer(answer);
  await once(server.listen(0, "127.0.0.1"), "listening");
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
};

/** Starts a key-value store behind HTTP. Returns its address. */
export function startStore() {
  const entries = new Map();
  return listen(async (request, response) => {
    const key = decodeURIComponent(request.url.slice(1));
    const parts = [];
    for await (const part of request) parts.push(part);
    const value = Buffer.concat(parts).toString();
    const isNew = !entries.has(key);
    if (request.method === "PUT" || (request.method === "POST" && isNew)) entries.set(key, value);
    if (request.method === "DELETE") entries.delete(key);
    const answers = { GET: key === "" ? [...entries.keys()] : entries.get(key), POST: isNew };
    response.end(JSON.stringify(answers[request.method] ?? null));
  });
}

/** The time for which a killed runner holds the journal. */
const LOCK_MS = 3000;
let count = 0;

/** Starts a site. `place` is where the journal is; a folder of its own for files. */
export async function startJobsSite({ origin, token }, kind = "files", place = undefined) {
  const home = join(folder, `jobs-site-${(count += 1)}`);
  mkdirSync(home);
  const cms = new Cms(home);
  const PLACE = place ?? join(home, "journal");
  const journal = journalOf(kind, PLACE);
  const client = new ServerConnectorClient({ origin, token, backOff: { attempts: 1 } });
  const heads = new PageHeads({ client, journal, storedMs: 1, waitMs: 10_000 });
  /** Pages that a cache in front of the site still has, by their paths, or one for all. */
  const cached = new Map();
  const address = await listen(async (request, response) => {
    const old = cached.get(request.url) ?? cached.get("*");
    const html = old ?? cms.html(request.url);
    response.writeHead(html === undefined ? 404 : 200, { "Content-Type": "text/html; charset=utf-8" });
    const head = old === undefined ? await heads.headFor(request.url) : undefined;
    response.end(head && html !== undefined ? head.apply(html) : (html ?? "Not found"));
  });
  cms.edit("/", "<!doctype html><html><head><title>Home</title></head><body>Home</body></html>");
  const environment = {
    LOCK_MS: `${LOCK_MS}`,
    SITE: home,
    ORIGIN: origin,
    ADDRESS: address,
    TOKEN: token,
    JOURNAL: kind,
    PLACE,
  };
  return {
    name: `JavaScript, ${kind}`,
    address,
    lockMs: LOCK_MS,
    cms,
    cached,
    journal,
    /** The steps of a job that publishes a new article. */
    steps: [
      "claim",
      "begin",
      ...["insert", "publish"].flatMap((step) => [step, `${step}: begun`, `${step}: done`]),
      ...["verify", "journal", "report", "reported"],
    ],
    /** Runs jobs until there are none. Resolves with the exit code or the signal, and the output. */
    async run({ KILL_AFTER_MS, ...given } = {}) {
      const child = spawn(process.execPath, [program], {
        env: { ...process.env, ...environment, ...given },
        stdio: ["pipe", "pipe", "pipe"],
      });
      if (KILL_AFTER_MS) setTimeout(() => child.kill("SIGKILL"), Number(KILL_AFTER_MS));
      let output = "";
      child.stdout.on("data", (text) => (output += text));
      child.stderr.on("data", (text) => (output += text));
      const ended = once(child, "close").then(([code, signal]) => ({ code: signal ?? code, output }));
      return given.PAUSE_AT ? { child, ended, paused: once(child.stdout, "data") } : ended;
    },
    async read(path) {
      const response = await fetch(address + path);
      return { status: response.status, html: await response.text() };
    },
    /** Ends the lock of a runner that was killed, as its time does. */
    async endLock() {
      for (const key of await journal.list("lock/")) await journal.set(key, JSON.stringify({ owner: "", until: 0 }));
    },
    write: (path, html) => cms.edit(path, html),
    /** Puts a page into the cache for all paths, or clears the cache. */
    test: (file, html) => (html === null ? cached.delete("*") : file === "cache" && cached.set("*", html)),
    /** Returns the posts of an article with a path, with the number of their versions. */
    articles: (path) => cms.posts().filter(({ versions }) => versions.some((version) => version.path === path)),
  };
}
