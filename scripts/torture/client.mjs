// An HTTP client that repeats a request with the same bytes until it is acknowledged, as the widget and the connector do.

import { Agent, request } from "node:http";

const API = "/api/connector/v1";
/** The time after which a client breaks its connection. */
const TIMEOUT_MS = 10_000;
/** The time after which a request without any response is a failure of the service. */
const MAX_WAIT_MS = 90_000;
const MAX_DELAY_MS = 250;

/** How often clients misbehave, as shares of all attempts. */
const BREAK_SHARE = 0.02;
const TWICE_SHARE = 0.03;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Client {
  /**
   * `urls` are the addresses of the nodes; each attempt goes to one of them. `address` is the visitor's, for the limits of
   * requests. `random` returns numbers from 0 to 1.
   */
  constructor({ urls, token, address, random, ledger }) {
    Object.assign(this, { urls, token, address, random, ledger });
    this.agent = new Agent({ keepAlive: true, maxSockets: 4 });
  }

  /** Ends the connections, and gives up what is not acknowledged. */
  close() {
    this.closed = true;
    this.agent.destroy();
  }

  /**
   * Posts a body until it is acknowledged, and returns the response's data. Returns null if the client gives up, with the
   * probability `giveUp` after each failed attempt, or if the request was refused. A response with the status `expect` is
   * returned as it is.
   */
  async post(path, key, body, { giveUp = 0, expect = null } = {}) {
    const bytes = JSON.stringify(body);
    const attempt = () => this.#attempt("POST", path, { key, bytes });
    if (expect === null && this.random() < TWICE_SHARE) {
      // Another tab, or a proxy, has sent the same request.
      const [one, other] = await Promise.all([this.#repeat(attempt, 0, null), this.#repeat(attempt, 0, null)]);
      if (one && other && JSON.stringify(one) !== JSON.stringify(other)) {
        this.#refused(path, key, "two responses to one key differ", { one, other });
      }
      return one;
    }
    return this.#repeat(attempt, giveUp, expect);
  }

  /** Reads a resource until the service responds, and returns the response's data. */
  get(path) {
    return this.#repeat(() => this.#attempt("GET", path, {}), 0, null);
  }

  async #repeat(attempt, giveUp, expect) {
    const { counts } = this.ledger;
    const deadline = Date.now() + MAX_WAIT_MS;
    for (let number = 0; ; number += 1) {
      counts.requests += 1;
      if (number > 0) counts.retried += 1;
      if (this.closed) return null;
      const response = await attempt();
      if (response.status === 200) {
        counts.acknowledged += 1;
        return response.data;
      }
      if (response.status === expect) return response;
      if (!isTransient(response)) {
        this.#refused(response.path, response.key, `refused with ${response.status}`, response.body);
        return null;
      }
      if (response.status === 429) counts.rate_limited += 1;
      if (Date.now() > deadline) {
        this.#refused(response.path, response.key, "unanswered for 90 s", response.problem ?? response.status);
        return null;
      }
      if (this.random() < giveUp) {
        counts.given_up += 1;
        return null;
      }
      await pause(response.retryAfterMs ?? this.random() * MAX_DELAY_MS);
    }
  }

  #refused(path, key, problem, detail) {
    this.ledger.refusals.push({ path, key, problem, detail });
  }

  #attempt(method, path, { key, bytes }) {
    const url = this.urls[Math.floor(this.random() * this.urls.length)];
    const headers = { authorization: `Bearer ${this.token}`, "x-forwarded-for": this.address };
    if (key) headers["idempotency-key"] = key;
    if (bytes)
      Object.assign(headers, { "content-type": "application/json", "content-length": Buffer.byteLength(bytes) });
    const breaks = this.random() < BREAK_SHARE ? this.random() * 20 : null;
    return new Promise((resolve) => {
      const ask = request(url + API + path, { method, headers, agent: this.agent, timeout: TIMEOUT_MS }, (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("error", (error) => resolve({ path, key, problem: error.message }));
        response.on("end", () => resolve(read({ path, key, response, text: Buffer.concat(parts).toString() })));
      });
      ask.on("timeout", () => ask.destroy(new Error("timed out")));
      ask.on("error", (error) => resolve({ path, key, problem: error.message }));
      if (breaks !== null) setTimeout(() => ask.destroy(new Error("the client left")), breaks);
      ask.end(bytes);
    });
  }
}

function read({ path, key, response, text }) {
  const retryAfter = Number(response.headers["retry-after"]);
  const retryAfterMs = Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined;
  const status = response.statusCode;
  try {
    const body = JSON.parse(text);
    if (status === 200 && body.ok !== true) return { path, key, status: 0, body };
    return { path, key, status, body, data: body.data, retryAfterMs };
  } catch {
    return { path, key, status: status === 200 ? 0 : status, body: text, retryAfterMs };
  }
}

/** Returns whether the same request may succeed later: no response, a failure of the service, or a temporary conflict. */
function isTransient({ problem, status, retryAfterMs }) {
  if (problem !== undefined) return true;
  return status >= 500 || status === 408 || status === 429 || (status === 409 && retryAfterMs !== undefined);
}
