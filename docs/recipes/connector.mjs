// The chat's proxy for Node: the five paths, and nothing else. It is a handler for Node's `http`, and a middleware for
// Express, Connect and similar frameworks. It needs Node 20 or newer, and no packages.

import { createHmac } from "node:crypto";
import http from "node:http";
import https from "node:https";

/** Maximum body of each call, in bytes. */
const CALLS = new Map([
  ["GET /chat/config", 0],
  ["GET /chat/messages", 0],
  ["POST /chat/messages", 64 * 1024],
  ["GET /chat/presence", 0],
  ["POST /events", 256 * 1024],
]);
const MAX_ANSWER = 1024 * 1024;
const PASSED_ON = ["idempotency-key", "accept-language"];
const PASSED_BACK = [
  "retry-after",
  "x-request-id",
  "x-service-api-version",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
];
const JSON_TYPE = /^application\/json\s*(;|$)/i;

/**
 * @param {object} options
 * @param {string} options.origin Origin of the service, such as https://service.example.
 * @param {string} options.token The site token.
 * @param {string} [options.prefix] Prefix of the five paths; "" if a router has already removed it.
 * @param {number} [options.timeoutMs] Timeout of the service, in milliseconds. An AI may take a while to answer.
 * @param {number} [options.perMinute] Maximum requests a minute from one address, on average. Behind another server,
 *   Express needs `trust proxy` to know the address. Without it, all visitors count as one.
 * @param {number} [options.burst] Maximum requests at once from one address.
 * @param {(request: http.IncomingMessage) => object | null | Promise<object | null>} [options.visitor] Returns who is signed
 *   in, from the session of the request: `{ id, name, email, phone, company, wechat, whatsapp, country }`, of which only the id
 *   is required, or null. The token that a page sent is then dropped.
 * @param {string} [options.visitorSecret] The secret from the console by which `visitor` is proved.
 */
export function chatConnector({
  origin,
  token,
  prefix = "/connector",
  timeoutMs = 35_000,
  perMinute = 240,
  burst = 60,
  visitor,
  visitorSecret,
}) {
  if (!visitor !== !visitorSecret) throw new TypeError("visitor and visitorSecret need each other");
  const secondsToWait = rateLimit(perMinute, burst);
  return async function handle(request, response, next) {
    // No input from a visitor or the service may end the process.
    try {
      // `new URL` throws on targets such as `//`.
      const [path, query] = request.url.split(/(?=\?)(.*)/s);
      if (next && !path.startsWith(`${prefix}/`)) return next();
      const call = `${request.method} ${path.startsWith(prefix) ? path.slice(prefix.length) : ""}`;
      if (!CALLS.has(call)) throw new Refusal(404, "NOT_FOUND", "This path does not exist.");
      const wait = secondsToWait(request.ip ?? request.socket.remoteAddress ?? "");
      if (wait > 0) throw new Refusal(429, "RATE_LIMITED", "Too many requests.", { "Retry-After": wait });
      const body = request.method === "POST" ? await read(request, CALLS.get(call)) : undefined;
      const headers = { Accept: "application/json", "Accept-Encoding": "identity", Authorization: `Bearer ${token}` };
      for (const name of PASSED_ON) if (request.headers[name]) headers[name] = request.headers[name];
      // The config is the same for everybody.
      if (call !== "GET /chat/config") {
        const proof = visitor ? sign(await visitor(request), visitorSecret) : request.headers["visitor-token"];
        if (proof) headers["visitor-token"] = proof;
      }
      if (body) Object.assign(headers, { "Content-Type": "application/json", "Content-Length": body.length });
      const address = `${origin}/api/connector/v1${call.split(" ")[1]}${query ?? ""}`;
      const answer = await ask(address, { method: request.method, headers }, body, { response, timeoutMs });
      send(response, answer.status, answer.headers, answer.body);
    } catch (error) {
      refuse(request, response, error instanceof Refusal ? error : UNAVAILABLE);
    }
  };
}

/** Returns the token that proves for five minutes who is signed in: a JWT. */
function sign(identity, secret) {
  if (!identity) return undefined;
  const { id, ...fields } = identity;
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { ...fields, sub: String(id), exp: Math.floor(Date.now() / 1000) + 300 };
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", secret.trim()).update(signed).digest("base64url")}`;
}

class Refusal extends Error {
  constructor(status, code, message, headers = {}) {
    super(message);
    Object.assign(this, { status, code, headers });
  }
}
const UNAVAILABLE = new Refusal(502, "UPSTREAM_UNAVAILABLE", "The chat service cannot be reached.");
const TIMEOUT = new Refusal(504, "UPSTREAM_TIMEOUT", "The chat service did not answer in time.");
const TOO_LARGE = new Refusal(413, "INVALID_REQUEST", "The body is too large.");

/** Reads a body, or takes the one that a framework has already parsed. */
async function read(request, limit) {
  // A page of another site cannot send JSON without a preflight request. This check blocks its forms.
  if (!JSON_TYPE.test(request.headers["content-type"] ?? ""))
    throw new Refusal(415, "INVALID_REQUEST", "Content-Type must be application/json.");
  if (Number(request.headers["content-length"]) > limit) throw TOO_LARGE;
  const body = bounded(limit);
  if (request.body !== undefined && request.readableEnded) {
    const parsed = request.body;
    const text = typeof parsed === "string" || parsed instanceof Uint8Array ? parsed : JSON.stringify(parsed);
    if (!body.add(Buffer.from(text))) throw TOO_LARGE;
  } else {
    for await (const part of request.iterator({ destroyOnReturn: false })) if (!body.add(part)) throw TOO_LARGE;
  }
  return body.bytes();
}

/** Collects at most `limit` bytes in one buffer. A list of a million small parts would take much more memory. */
function bounded(limit) {
  let kept = Buffer.alloc(0);
  let size = 0;
  return {
    /** Adds a part. Returns false if the total would exceed the limit. */
    add(part) {
      if (size + part.length > limit) return false;
      if (size + part.length > kept.length) kept = Buffer.concat([kept], Math.min(limit, 2 * size + part.length));
      size += part.copy(kept, size);
      return true;
    },
    bytes: () => kept.subarray(0, size),
  };
}

/** Sends one request to the service. Follows no redirect, decompresses nothing, reads at most `MAX_ANSWER` bytes. */
function ask(address, options, body, { response, timeoutMs }) {
  return new Promise((resolve, reject) => {
    const asked = (address.startsWith("https:") ? https : http).request(address, options);
    const fail = (reason) => {
      reject(reason);
      asked.destroy();
    };
    const timer = setTimeout(fail, timeoutMs, TIMEOUT);
    const hungUp = () => fail(UNAVAILABLE);
    response.once("close", hungUp);
    asked.once("close", () => {
      clearTimeout(timer);
      response.off("close", hungUp);
      reject(UNAVAILABLE);
    });
    asked.on("error", reject);
    asked.on("response", (answer) => {
      const { statusCode: status, headers } = answer;
      const usable = (status >= 200 && status < 300) || (status >= 400 && status < 600);
      const encoded = (headers["content-encoding"] ?? "identity").toLowerCase() !== "identity";
      if (!usable || encoded || Number(headers["content-length"]) > MAX_ANSWER) return fail(UNAVAILABLE);
      const received = bounded(MAX_ANSWER);
      answer.on("error", reject);
      answer.on("data", (part) => {
        if (!received.add(part)) fail(UNAVAILABLE);
      });
      answer.on("end", () => {
        // A response that is not JSON is returned as plain text.
        const back = {
          "Content-Type": JSON_TYPE.test(headers["content-type"] ?? "")
            ? "application/json"
            : "text/plain; charset=utf-8",
        };
        for (const name of PASSED_BACK) if (headers[name] !== undefined) back[name] = headers[name];
        resolve({ status, headers: back, body: received.bytes() });
      });
    });
    asked.end(body);
  });
}

function refuse(request, response, { status, code, message, headers }) {
  if (response.headersSent) return response.destroy();
  const requestId = `proxy_${crypto.randomUUID()}`;
  const body = JSON.stringify({ ok: false, error: { code, message }, requestId });
  const all = { "Content-Type": "application/json", "X-Request-Id": requestId, ...headers };
  const hasBody = Number(request.headers["content-length"]) > 0 || "transfer-encoding" in request.headers;
  if (request.complete || !hasBody) return send(response, status, all, body);
  // Closing the connection at once could lose the error response, so a part of the rest is read first.
  send(response, status, { ...all, Connection: "close" }, body, { end: false });
  const end = () => response.end();
  let left = MAX_ANSWER;
  request.on("data", (part) => {
    left -= part.length;
    if (left < 0) end();
  });
  request.once("end", end);
  setTimeout(end, 1000).unref();
}

function send(response, status, headers, body, { end = true } = {}) {
  const always = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
  };
  response.writeHead(status, { ...headers, ...always, "Content-Length": Buffer.byteLength(body) });
  response.write(body);
  if (end) response.end();
}

/** Limits requests by address: a token bucket of `burst`, refilled at `perMinute`. Returns the seconds to wait. */
function rateLimit(perMinute, burst) {
  const MAX_ADDRESSES = 10_000;
  const buckets = new Map();
  return (address) => {
    // An IPv6 client usually has a whole /64 network.
    const client = address
      .replace(/^::ffff:/, "")
      .split("::")[0]
      .split(":")
      .slice(0, 4)
      .join(":");
    const now = Date.now();
    const { left, at } = buckets.get(client) ?? { left: burst, at: now };
    const filled = Math.min(burst, left + ((now - at) * perMinute) / 60_000);
    buckets.delete(client);
    buckets.set(client, { left: Math.max(0, filled - 1), at: now });
    // Removes the address that was idle longest.
    if (buckets.size > MAX_ADDRESSES) buckets.delete(buckets.keys().next().value);
    return filled >= 1 ? 0 : Math.ceil(((1 - filled) * 60) / perMinute);
  };
}
