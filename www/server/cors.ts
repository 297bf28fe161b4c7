// Pages on other hosts that may use a proxy (CORS). Credentials are not allowed.

import { ConnectorError } from "./connector-error.js";

const EXPOSED =
  "x-request-id,x-service-api-version,x-ratelimit-limit,x-ratelimit-remaining,x-ratelimit-reset,retry-after";

function parseAllowed(text: string): string {
  const invalid = (got: string) =>
    new ConnectorError("setup", `invalid allowed origin: expected one such as https://www.shop.example ${got}`);
  // Every sandboxed frame of any site sends `null`.
  if (text.trim().toLowerCase() === "null") throw invalid("got null, which every site can send from a sandboxed frame");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || `${url.origin}/` !== url.href)
    throw invalid(`without a path, got ${text}`);
  return url.origin;
}

/** The CORS rules of a proxy. Without an allowed origin, nothing is added and no preflight is answered. */
export class Cors {
  readonly #allowed: ReadonlySet<string>;

  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map(parseAllowed));
  }

  /** Returns the response to a preflight; `undefined` for any other request. */
  preflight(request: Request): Response | undefined {
    if (this.#allowed.size === 0 || request.method !== "OPTIONS") return undefined;
    return new Response(null, {
      headers: {
        "Access-Control-Allow-Methods": "GET,POST",
        "Access-Control-Allow-Headers": "content-type,accept-language,idempotency-key,visitor-token",
        "Access-Control-Max-Age": "600",
      },
    });
  }

  /** Adds the headers that let an allowed page read a response. */
  apply(request: Request, headers: Headers): void {
    if (this.#allowed.size === 0) return;
    headers.set("Vary", "origin, access-control-request-method, access-control-request-headers");
    const origin = request.headers.get("Origin");
    if (origin !== null && this.#allowed.has(origin)) headers.set("Access-Control-Allow-Origin", origin);
    if (request.method !== "OPTIONS") headers.set("Access-Control-Expose-Headers", EXPOSED);
  }
}
