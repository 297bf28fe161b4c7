// The chat's proxy for Node: the five paths, and nothing else. A handler of Node's `http`, and a middleware of Express,
// Connect and their like. Node 20 or newer; no packages.

const CALLS = {
  "/chat/config": { GET: 0 },
  "/chat/messages": { GET: 0, POST: 64 * 1024 },
  "/chat/presence": { GET: 0 },
  "/events": { POST: 256 * 1024 },
};
const PASSED_BACK = ["content-type", "retry-after", "x-request-id", "x-service-api-version",
  "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/**
 * @param {{origin: string, token: string, prefix?: string, timeoutMs?: number}} options `origin`: of the service, such as
 *   https://service.example; `prefix`: of the five paths, "" where a router has taken it off already.
 */
export function chatConnector({ origin, token, prefix = "/connector", timeoutMs = 35_000 }) {
  return async function handle(request, response, next) {
    const { pathname, search } = new URL(request.url, "http://localhost");
    if (!pathname.startsWith(`${prefix}/`)) return next ? next() : refuse(response, 404, "NOT_FOUND", "No such path.");
    const path = pathname.slice(prefix.length);
    const methods = Object.hasOwn(CALLS, path) ? CALLS[path] : {};
    if (!Object.hasOwn(methods, request.method)) return refuse(response, 404, "NOT_FOUND", "The proxy has no such path.");
    try {
      let body;
      if (request.method === "POST") {
        // A page of another site can send no JSON without asking first: what is none is refused.
        if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
          return refuse(response, 415, "INVALID_REQUEST", "Content-Type must be application/json.");
        }
        body = await read(request, methods.POST);
        if (body === null) return refuse(response, 413, "INVALID_REQUEST", "The body is too large.");
      }
      const headers = { Accept: "application/json", Authorization: `Bearer ${token}` };
      if (body !== undefined) headers["Content-Type"] = "application/json";
      for (const name of ["idempotency-key", "accept-language"]) {
        if (request.headers[name]) headers[name] = request.headers[name];
      }
      const answer = await fetch(`${origin}/api/connector/v1${path}${search}`, {
        method: request.method, headers, body, redirect: "error", signal: AbortSignal.timeout(timeoutMs),
      });
      const text = Buffer.from(await answer.arrayBuffer());
      for (const name of PASSED_BACK) {
        if (answer.headers.has(name)) response.setHeader(name, answer.headers.get(name));
      }
      seal(response, answer.status).end(text);
    } catch (error) {
      if (error.name === "TimeoutError") return refuse(response, 504, "UPSTREAM_TIMEOUT", "The chat service did not answer in time.");
      refuse(response, 502, "UPSTREAM_UNAVAILABLE", "The chat service cannot be reached.");
    }
  };
}

/** The body, also where a framework has parsed it already; null when it is too large. */
async function read(request, limit) {
  if (request.body !== undefined && !request.readable) return JSON.stringify(request.body);
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    // What comes too late to be read is read all the same, so that the refusal arrives.
    if (size <= limit) parts.push(part);
  }
  return size > limit ? null : Buffer.concat(parts);
}

function seal(response, status) {
  response.statusCode = status;
  response.setHeader("Cache-Control", "no-store");
  response.setHeader("X-Content-Type-Options", "nosniff");
  // What comes in place of an answer may be a page: it runs nothing here.
  response.setHeader("Content-Security-Policy", "default-src 'none'");
  return response;
}

function refuse(response, status, code, message) {
  const requestId = `proxy_${crypto.randomUUID()}`;
  response.setHeader("Content-Type", "application/json");
  response.setHeader("X-Request-Id", requestId);
  seal(response, status).end(JSON.stringify({ ok: false, error: { code, message }, requestId }));
}
