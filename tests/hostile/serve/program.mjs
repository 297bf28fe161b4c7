// The real program under attack: `site-connector serve` with a tenant, a site and its owner.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstLine, folder, start } from "../../../scripts/servers.mjs";
import { root } from "../../../scripts/setup.mjs";
import { exchange, request } from "../client.mjs";

const binary = process.env.SITE_CONNECTOR ?? join(root, "target/debug/site-connector");
export const ADMIN = "/api/admin/v1";
export const API = "/api/connector/v1";
export const SHOP = "https://shop.example";
export const OWNER = { email: "ada@shop.example", password: "a password that nobody logs 7" };

/** What visitors and attackers write. None of it may be logged or returned in a head. */
export const CANARIES = ["secret-of-a-visitor", "words-of-a-visitor", "evil.example"];
/** The time in which a good visitor is answered, also during and after an attack. */
const ALIVE_TIMEOUT_MS = 3_000;
/** A rate limit that no test reaches, because all attacks come from one machine. */
const ANY_RATE = 1_000_000_000;

let count = 0;

export class Program {
  #logged = 0;

  /** Starts the program, and creates its owner and a site. `args` are further flags of `serve`. */
  static async start({ args = [], env = {}, database, origin } = {}) {
    const program = new Program();
    count += 1;
    const own = join(folder, `serve-${count}`);
    const data = ["--database", database ?? join(own, "service.db"), "--key-file", join(own, "service.key")];
    const log = ["--log", "debug", "--log-format", "json", "--json"];
    const listen = ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"];
    const rate = ["--rate-per-minute", ANY_RATE, "--widget-dir", join(root, "dist")];
    const public_ = origin ? ["--public-origin", origin] : [];
    const flags = ["serve", ...log, ...listen, ...data, ...rate, ...public_, ...args];
    program.server = start(binary, flags, env);
    const printed = JSON.parse(await firstLine(program.server));
    program.port = Number(new URL(printed.address).port);
    program.metricsPort = Number(new URL(printed.metrics).port);
    program.host = origin ? new URL(origin).host : `127.0.0.1:${program.port}`;
    program.pid = program.server.child.pid;
    await program.#setUp(printed.ownerLink.split("#setup=")[1]);
    return program;
  }

  async #setUp(token) {
    const owner = await this.admin("POST", "/setup", { token, name: "Ada", ...OWNER });
    this.cookies = owner.cookies;
    const settings = { allowedOrigins: [SHOP] };
    this.site = (await this.admin("POST", "/sites", { name: "Shop", settings })).data.id;
    this.token = (await this.admin("POST", `/sites/${this.site}/tokens`, {})).data.token;
    this.session = this.cookies.session ?? this.cookies["__Host-session"];
    this.openapi = (await this.admin("GET", "/openapi.json")).json;
  }

  /** The secrets that no response and no log may contain. */
  get secrets() {
    return [this.token, OWNER.password, this.session];
  }

  get cookie() {
    return Object.entries(this.cookies ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
  }

  /** Sends a request over a connection of its own, and returns the response with its JSON. */
  async call(method, path, body, { headers = {}, from, timeoutMs = 15_000, port = this.port } = {}) {
    const type = body === undefined ? {} : { "Content-Type": "application/json" };
    const text = body === undefined || typeof body === "string" ? (body ?? "") : JSON.stringify(body);
    const bytes = request(`${method} ${path} HTTP/1.1`, { Host: this.host, ...type, ...headers }, text);
    const result = await exchange(port, bytes, { timeoutMs, from });
    const { status, headers: pairs = [], body: read } = result.answer ?? {};
    const json = /^application\/json/.test(pairs.find(([name]) => name === "content-type")?.[1] ?? "")
      ? JSON.parse(String(read))
      : undefined;
    const set = pairs.filter(([name]) => name === "set-cookie").map(([, value]) => value);
    const cookies = Object.fromEntries(set.map((one) => one.split(";")[0].split(/=(.*)/s).slice(0, 2)));
    return { status, headers: pairs, json, data: json?.data, cookies, set, ms: result.ms, result };
  }

  /** Calls the admin API as the owner. */
  admin(method, path, body, { headers = {}, ...options } = {}) {
    const cookie = this.cookies ? { Cookie: this.cookie } : {};
    return this.call(method, `${ADMIN}${path}`, body ?? (method === "GET" ? undefined : {}), {
      headers: { ...cookie, ...headers },
      ...options,
    });
  }

  /** Sends a visitor's message through the site's proxy paths. */
  write(message, { visitorId = `visitor-${crypto.randomUUID()}`, ...options } = {}) {
    const headers = { Origin: SHOP, "Idempotency-Key": crypto.randomUUID(), ...options.headers };
    const body = { visitorId, message };
    return this.call("POST", `/connector/${this.site}/chat/messages`, body, { ...options, headers });
  }

  /** Returns the problems of a program after an attack: it ended, does not serve a visitor in time, or logged secrets. */
  async alive({ from } = {}) {
    const { child, stderr } = this.server;
    if (child.exitCode !== null || child.signalCode !== null) return [`the program ended: ${stderr().slice(-300)}`];
    const options = { headers: { Origin: SHOP }, timeoutMs: ALIVE_TIMEOUT_MS, from };
    const good = await this.call("GET", `/connector/${this.site}/chat/config`, undefined, options);
    const wrong = good.status === 200 && good.json?.ok ? [] : [`afterwards, a good visitor got ${good.status}`];
    return [...wrong, ...this.logged()];
  }

  /** Returns the secrets and the words of visitors in the log since the last call. */
  logged() {
    const log = this.server.stderr().slice(this.#logged);
    this.#logged += log.length;
    const found = [...this.secrets, ...CANARIES].filter((secret) => log.includes(secret));
    const shown = (secret) =>
      log
        .slice(Math.max(0, log.indexOf(secret) - 150))
        .split("\n")[0]
        .slice(0, 300);
    const panics = /panicked/.test(log) ? [`the log says: ${log.match(/.*panicked.*/)[0].slice(0, 300)}`] : [];
    return [...found.map((secret) => `the log contains ${JSON.stringify(secret)}: ${shown(secret)}`), ...panics];
  }

  /** Returns the memory: the current value in bytes, or the peak since the last `forgetPeak`. */
  memory(figure = "VmRSS") {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return 1024 * Number(status.match(new RegExp(`^${figure}:\\s+(\\d+)`, "m"))[1]);
  }

  forgetPeak() {
    writeFileSync(`/proc/${this.pid}/clear_refs`, "5");
  }

  get isRunning() {
    return this.server.child.exitCode === null && this.server.child.signalCode === null;
  }

  /** Ends the program at once: it would wait for peers that do not answer. */
  stop() {
    this.server.child.kill("SIGKILL");
    return this.server.ended;
  }
}
