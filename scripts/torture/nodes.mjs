// The processes of a service: nodes on one database, each of which can be killed and started again.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../servers.mjs";
import { Advice, root } from "../setup.mjs";

const START_TIMEOUT_MS = 60_000;
/** The length of standard error that is shown of a node that does not start. */
const MAX_SHOWN = 4000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A node: `site-connector serve` on a port of its own, which stays the same. */
export class Node {
  #child = null;
  #ended = null;
  #errors = "";

  /**
   * `binary` is the path of `site-connector`. `data` are the flags that name the database and the key, `args` further ones
   * of `serve`. `wrap` are a program and its arguments that start it, such as `sh`. `log` is the path of a file for its
   * log, in place of a pipe.
   */
  static async create({ binary, data, args = [], env = {}, wrap = [], log = null }) {
    const node = new Node();
    return Object.assign(node, { binary, data, args, env, wrap, log, port: await freePort() });
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid() {
    return this.#child?.pid;
  }

  get isRunning() {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts the process, and waits until it is ready. */
  async start() {
    this.spawn();
    await this.ready();
  }

  /** Starts the process. */
  spawn() {
    const [program, ...args] = [
      ...this.wrap,
      this.binary,
      "serve",
      "--listen",
      `127.0.0.1:${this.port}`,
      ...this.data,
      ...this.args,
    ];
    this.#errors = "";
    const log = this.log && openSync(this.log, "a");
    this.#child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...this.env },
      stdio: ["ignore", "ignore", log ?? "pipe"],
    });
    if (log !== null) closeSync(log);
    this.#child.stderr?.on("data", (text) => (this.#errors = (this.#errors + text).slice(-MAX_SHOWN)));
    this.#ended = new Promise((resolve) => this.#child.once("close", resolve).once("error", resolve));
  }

  /** Waits until the node says that it is ready. */
  async ready() {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (!this.isRunning) throw new Advice(`the service ended: ${this.#errors}`);
      const response = await fetch(`${this.url}/readyz`).catch(() => null);
      if (response?.ok) return;
      if (Date.now() > deadline) throw new Advice(`the service is not ready after a minute: ${this.#errors}`);
      await pause(10);
    }
  }

  /** Ends the process without giving it any time. */
  async kill() {
    if (!this.isRunning) return;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** Makes all background tasks of the process panic: builds of development take this signal. */
  panicTasks() {
    this.#child.kill("SIGUSR2");
  }

  /** Ends the reader of the log: each later line meets a closed pipe. */
  closeLog() {
    this.#child.stderr.destroy();
  }

  /** Lets the process finish what it has begun. */
  async stop() {
    if (!this.isRunning) return;
    this.#child.kill("SIGTERM");
    await Promise.race([this.#ended, once(this.#child, "close")]);
  }

  get errors() {
    return this.#errors;
  }
}

/** Creates the nodes of a service on a database. `folder` holds their key. */
export function createNodes({ database, folder, count = 1, ...options }) {
  const data = ["--database", database, "--key-file", join(folder, "service.key")];
  return Promise.all(Array.from({ length: count }, () => Node.create({ data, ...options })));
}
