// The operations of the admin API, as its OpenAPI document lists them, and requests to them over kept connections.

import { Agent, request } from "node:http";
import { ADMIN } from "./program.mjs";

/** Connections at a time. */
const CONCURRENCY = 8;

/** Returns every operation: the method, its path with a value for each parameter, and whether it changes something. */
export function operations({ openapi }, value = "x") {
  return Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      name: `${method.toUpperCase()} ${path}`,
      path: `${ADMIN}${path.replaceAll(/\{\w+\}/g, encodeURIComponent(value))}`,
      changes: method !== "get",
    })),
  );
}

/** Sends requests over kept connections. Duplicate headers are given as a list. */
export class Browser {
  #agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });

  constructor(program) {
    this.program = program;
  }

  /** Returns the status, the headers and the parsed JSON of a response. */
  send(method, path, headers = {}, body) {
    const { port, host } = this.program;
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    // As a list, because Node allows no other form for two Hosts.
    const all = Object.entries({ Host: host, Connection: "keep-alive", ...length, ...headers });
    const list = all.flatMap(([name, value]) => [value].flat().flatMap((one) => [name, String(one)]));
    return new Promise((resolve, reject) => {
      const options = { port, host: "127.0.0.1", agent: this.#agent, method, path, headers: list };
      const sent = request(options, async (response) => {
        let text = "";
        try {
          for await (const part of response) text += part;
        } catch (error) {
          return reject(error);
        }
        const isJson = /^application\/json/.test(response.headers["content-type"] ?? "");
        resolve({
          status: response.statusCode,
          headers: response.headers,
          json: isJson ? JSON.parse(text) : undefined,
          text,
        });
      });
      sent.on("error", reject).setTimeout(10_000, () => sent.destroy(new Error(`no response to ${method} ${path}`)));
      sent.end(body);
    });
  }

  close() {
    this.#agent.destroy();
  }
}

/** Runs work on a list, some at a time, and returns all problems. */
export async function all(list, work) {
  const problems = [];
  const rest = [...list];
  const one = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) problems.push(...(await work(next)));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, one));
  return problems;
}
