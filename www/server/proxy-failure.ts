// The proxy's own errors, as failure envelopes of the contract.

/** The headers of every response: it is not stored, and runs nothing if a browser takes it for a page. */
export const SECURITY_HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
};

/** A failure of the proxy, which is answered with an envelope. */
export class ProxyFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }

  /** Returns the response, with a request id that is distinguishable from those of the service. */
  toResponse(): Response {
    const requestId = `proxy_${crypto.randomUUID().replaceAll("-", "")}`;
    const { status, code, message } = this;
    return new Response(JSON.stringify({ ok: false, error: { code, message }, requestId }), {
      status,
      headers: {
        ...SECURITY_HEADERS,
        "Content-Type": "application/json",
        "X-Request-Id": requestId,
        ...this.headers,
      },
    });
  }
}

export const notFound = () => new ProxyFailure(404, "NOT_FOUND", "This path does not exist.");

export const methodNotAllowed = (allow: string) =>
  new ProxyFailure(405, "METHOD_NOT_ALLOWED", `This path supports ${allow} only.`, { Allow: allow });

export const notJson = () => new ProxyFailure(415, "INVALID_REQUEST", "Content-Type must be application/json.");

export const tooLarge = (limit: number) =>
  new ProxyFailure(413, "INVALID_REQUEST", `The body may have at most ${limit} bytes.`);

export const slowRequest = () => new ProxyFailure(408, "INVALID_REQUEST", "The body did not arrive in time.");

export const brokenRequest = () => new ProxyFailure(400, "INVALID_REQUEST", "The body cannot be read.");

export const rateLimited = (seconds: number) =>
  new ProxyFailure(429, "RATE_LIMITED", "Too many requests.", { "Retry-After": String(seconds) });

export const unavailable = () => new ProxyFailure(502, "UPSTREAM_UNAVAILABLE", "The chat service cannot be reached.");

export const upstreamTimeout = () =>
  new ProxyFailure(504, "UPSTREAM_TIMEOUT", "The chat service did not answer in time.");
