// The service in test mode, as the server library's tests use it, and a service that answers as a test says.

import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { firstLine, start } from "../../scripts/servers.mjs";
import { root } from "../../scripts/setup.mjs";
import { Sandbox } from "../e2e/sandbox.mjs";

export const command = process.env.SITE_CONNECTOR ?? join(root, "target/debug/site-connector");
export const token = `site-token-${crypto.randomUUID()}`;

/** Starts the service in test mode, with this token of its site. Returns its origin, and the control of its faults. */
export async function startSandbox(siteToken = token) {
  const ports = ["--port", "0", "--sandbox-port", "0"];
  const demo = start(command, ["--log", "error", "demo", "--sandbox-only", "--json", ...ports], {
    CONNECTOR_TOKEN: siteToken,
  });
  const { sandbox: origin } = JSON.parse(await firstLine(demo));
  return { origin, sandbox: new Sandbox(origin) };
}

/**
 * Starts a service whose answers a test defines: `service.answer(request, response)` is called with each request after its
 * body has been read. `service.requests` has their methods, paths, headers and bodies.
 */
export async function startService() {
  const service = { requests: [], answer: (_request, response) => respond(response, 200, { ok: true, data: {} }) };
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const { method, url, headers } = request;
    service.requests.push({ method, url, headers, body: Buffer.concat(parts).toString() });
    service.answer(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  service.origin = `http://127.0.0.1:${server.address().port}`;
  service.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return service;
}

/** Sends JSON. */
export function respond(response, status, body, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Answers the first requests with the given functions, and all further ones with the last of them. */
export const inTurn = (...answers) => {
  let next = 0;
  return (request, response) => answers[Math.min(next++, answers.length - 1)](request, response);
};

/** Returns an answer that is a failure envelope. */
export const failure = (status, code, headers) => (_request, response) =>
  respond(response, status, { ok: false, error: { code, message: "No." }, requestId: "req_1" }, headers);

/** Returns an answer that is a success envelope. */
export const success = (data) => (_request, response) => respond(response, 200, { ok: true, data, requestId: "req_2" });
