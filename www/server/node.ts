// The proxy as a handler for Node's `http`, and as a middleware for Express and similar frameworks.

import type { NodeRequest } from "./node-request.js";
import { notFound, ProxyFailure } from "./proxy-failure.js";
import type { ConnectorProxy } from "./proxy-options.js";

/** The parts of Node's `ServerResponse` that the handler uses. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  write(body: Uint8Array): unknown;
  end(): unknown;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

/** Maximum bytes and time for which the rest of a refused body is read. */
const MAX_DRAINED = 1024 * 1024;
const DRAIN_TIMEOUT_MS = 1000;

/**
 * Returns a handler for `http.createServer`, which is a middleware as well: with `next`, requests outside of the proxy's
 * prefix go on to the application. It never rejects, and no input ends the process.
 */
export function toNodeHandler(proxy: ConnectorProxy) {
  return async (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void): Promise<void> => {
    // Not parsed as a URL: that fails for targets such as `//`.
    const target = request.originalUrl ?? request.url ?? "";
    if (next && !target.startsWith(`${proxy.prefix}/`)) return next();
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const client = request.ip ?? request.socket.remoteAddress;
      const answer = await proxy(toRequest(request, target, gone.signal), { client, node: request });
      await send(request, response, answer);
    } catch (error) {
      const failure = error instanceof ProxyFailure ? error : new ProxyFailure(400, "INVALID_REQUEST", "Bad request.");
      if (response.headersSent) response.destroy();
      else await send(request, response, failure.toResponse());
    }
  };
}

/** Converts a request. Throws for a target or a method that a `Request` cannot have unchanged. */
function toRequest(request: NodeRequest, target: string, signal: AbortSignal): Request {
  const { method = "GET" } = request;
  const [, path = "", query = ""] = target.match(/^([^?]*)(.*)$/s)!;
  const url = new URL("http://localhost/");
  url.pathname = path;
  if (url.pathname !== path) throw notFound();
  url.search = query;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    // HTTP/2 has the method and the path among its headers.
    if (name.startsWith(":")) continue;
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(url, { method, headers, signal, ...(hasBody && { body: bodyOf(request), duplex: "half" }) });
}

/** Returns a request's body, also one that a framework has parsed. */
function bodyOf(request: NodeRequest): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | string {
  const { body } = request;
  if (body !== undefined && request.readableEnded)
    return body instanceof Uint8Array ? new Uint8Array(body) : typeof body === "string" ? body : JSON.stringify(body);
  // Destroying the request would close the connection before the response is sent.
  const parts = request.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await parts.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function send(request: NodeRequest, response: NodeResponse, answer: Response): Promise<void> {
  const body = new Uint8Array(await answer.arrayBuffer());
  if (response.destroyed) return;
  const headers = { ...Object.fromEntries(answer.headers), "Content-Length": body.length };
  const hasBody = Number(request.headers["content-length"]) > 0 || "transfer-encoding" in request.headers;
  if (request.complete || !hasBody || request.httpVersionMajor > 1) {
    response.writeHead(answer.status, headers);
    response.write(body);
    response.end();
    return;
  }
  // Closing the connection at once could lose the error response, so a part of the rest is read first.
  response.writeHead(answer.status, { ...headers, Connection: "close" });
  response.write(body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DRAIN_TIMEOUT_MS);
  let left = MAX_DRAINED;
  request.on("data", (part) => {
    left -= part.length;
    if (left < 0) end();
  });
  request.once("end", end);
}
