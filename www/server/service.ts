// The connection to the service that the client and the proxy share: its origin, the token, bounded bodies.

import { ConnectorError, printable } from "./connector-error.js";

/** The version of the package; set by the build. */
declare const VERSION: string;

/** The path of the connector API below the service's origin. */
export const API_BASE = "/api/connector/v1";

const setup = (message: string) => new ConnectorError("setup", message);

/** Parses the service's origin: scheme, host and port. A trailing slash is accepted. */
export function parseOrigin(text: string): URL {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw setup("invalid origin of the service: expected an address such as https://service.example");
  }
  if (!/^https?:$/.test(url.protocol))
    throw setup("invalid origin of the service: expected https:// (or http:// on the same machine)");
  if (url.pathname.replace(/\/+$/, "").endsWith(API_BASE))
    throw setup(`invalid origin of the service: leave ${API_BASE} out, it is added automatically`);
  if (url.pathname !== "/" || url.search || url.hash || url.username || url.password)
    throw setup(
      "invalid origin of the service: expected scheme, host and port, without path, query, fragment, user name or password",
    );
  return url;
}

/** Returns the `Authorization` header of a token. The error does not contain the token. */
export function bearer(token: string): string {
  if (!token) throw setup("the site token is missing: is the environment variable set?");
  if (typeof token !== "string" || !/^[!-~]+$/.test(token))
    throw setup(
      "invalid site token: expected one line of visible ASCII characters; copy it again from where it was issued",
    );
  return `Bearer ${token}`;
}

/** Returns the headers of every request to the service. */
export function requestHeaders(authorization: string | undefined): Headers {
  // A compressed response could be larger than its declared size.
  const headers = new Headers({
    Accept: "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": `site-connector/${VERSION}`,
  });
  if (authorization !== undefined) headers.set("Authorization", authorization);
  return headers;
}

/** Returns the address of a path of the API. `search` begins with `?`, or is empty. */
export function address(origin: URL, path: string, search: string): URL {
  const url = new URL(origin);
  url.pathname = API_BASE + path;
  url.search = search;
  return url;
}

/** Returns a body as JSON. */
export function jsonOf(body: unknown, idempotencyKey?: string): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    // Such as a BigInt, or an object that contains itself.
    const text = `invalid body: ${printable((cause as Error).message)}`;
    throw new ConnectorError("setup", text, { cause, idempotencyKey });
  }
}

/** A body that is not read to its end. */
export class UnusableBody extends Error {}

/** A body above its limit. */
export class BodyTooLarge extends UnusableBody {
  constructor(limit: number) {
    super(`expected at most ${limit} bytes`);
  }
}

/** Reads a body of at most `limit` bytes into one buffer: a list of a million small parts would need far more memory. */
export async function readBounded(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(0);
  let size = 0;
  if (body === null) return bytes;
  const reader = body.getReader();
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted]);
      if (done) return bytes.subarray(0, size);
      if (size + value.length > limit) throw new BodyTooLarge(limit);
      if (size + value.length > bytes.length) {
        const grown = new Uint8Array(Math.min(limit, 2 * size + value.length));
        grown.set(bytes.subarray(0, size));
        bytes = grown;
      }
      bytes.set(value, size);
      size += value.length;
    }
  } catch (error) {
    discard(reader);
    throw error;
  }
}

/** Cancels what is left of a body. Its connection may be closed already. */
export function discard(body: { cancel(): Promise<void> } | null): void {
  body?.cancel().catch(() => {});
}

/** Creates a signal that aborts after a time or with another signal. `done()` releases both. */
export function deadline(timeoutMs: number, other?: AbortSignal | null) {
  const controller = new AbortController();
  const state = { timedOut: false };
  const timer = setTimeout(() => {
    state.timedOut = true;
    controller.abort(new Error(`no response within ${timeoutMs} ms`));
  }, timeoutMs);
  const follow = () => controller.abort(other?.reason);
  if (other?.aborted) follow();
  other?.addEventListener("abort", follow);
  const done = () => {
    clearTimeout(timer);
    other?.removeEventListener("abort", follow);
  };
  return { signal: controller.signal, state, done };
}

/** Returns whether a `Content-Type` is JSON. */
export const isJson = (type: string | null) => /^\s*application\/json\s*(;|$)/i.test(type ?? "");
