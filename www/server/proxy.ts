// The proxy of the contract, from `Request` to `Response`: forwards five calls to the service with the site token. Its rules
// are those of `crates/connector/src/proxy`.

import { isUntrustedHop, parseAddress, parseNetwork, rateKey, resolveClient } from "./client-address.js";
import { ConnectorError } from "./connector-error.js";
import { Cors } from "./cors.js";
import { LogThrottle } from "./log-throttle.js";
import {
  brokenRequest,
  methodNotAllowed,
  notFound,
  notJson,
  ProxyFailure,
  rateLimited,
  SECURITY_HEADERS,
  slowRequest,
  tooLarge,
  unavailable,
  upstreamTimeout,
} from "./proxy-failure.js";
import { type ConnectorProxy, type ConnectorProxyOptions, DEFAULTS, type ProxyContext } from "./proxy-options.js";
import { ClientLimiter } from "./rate.js";
import {
  address,
  BodyTooLarge,
  bearer,
  deadline,
  discard,
  isJson,
  parseOrigin,
  readBounded,
  requestHeaders,
} from "./service.js";
import { atLeastOne, timeLimit, withDefaults } from "./settings.js";
import { parseVisitorSecret, signVisitorToken } from "./visitor-token.js";

/** The five calls: the methods of each path. */
const METHODS = new Map([
  ["/chat/config", "GET"],
  ["/chat/messages", "GET, POST"],
  ["/chat/presence", "GET"],
  ["/events", "POST"],
]);
const FORWARDED_HEADERS = ["Idempotency-Key", "Accept-Language"];
const VISITOR_TOKEN = "Visitor-Token";
/** The code of a refused visitor token. The site's own token is valid. */
const INVALID_VISITOR_TOKEN = "INVALID_VISITOR_TOKEN";
const RETURNED_HEADERS = [
  "Retry-After",
  "X-Request-Id",
  "X-Service-API-Version",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];
/** Statuses with which the service refuses the whole site: the chat then works for no visitor. */
const REFUSALS = new Map([
  [401, "the site token is missing or invalid"],
  [402, "the account has used up a limit"],
  [403, "the site is not allowed to use it"],
  [429, "the site sends too many requests"],
]);
/** Meanings of the status 402, by the code of the error. */
const LIMITS = new Map([
  ["INSUFFICIENT_QUOTA", "the account's quota is exhausted"],
  ["STORAGE_FULL", "the site has stored as much as it may"],
]);

/** Returns why the service refuses the whole site; `undefined` if it does not. */
function refusalOf(status: number, body: string): string | undefined {
  const code = status === 402 ? [...LIMITS.keys()].find((code) => body.includes(code)) : undefined;
  return LIMITS.get(code ?? "") ?? REFUSALS.get(status);
}

/** Statuses whose responses have no body. */
const EMPTY = [204, 205];

function parsePrefix(prefix: string): string {
  if (prefix !== "" && (!/^\/[^?#{}*]*[^/?#{}*]$/.test(prefix) || new URL(prefix, "http://proxy").pathname !== prefix))
    throw new ConnectorError(
      "setup",
      `invalid prefix: expected a path such as /connector, which does not end with /, got ${prefix}`,
    );
  return prefix;
}

/** Returns a function that signs the token of a request's visitor; `undefined` without the option `visitor`. */
function visitorTokens({ visitor, visitorSecret }: ConnectorProxyOptions) {
  if (visitor === undefined && visitorSecret === undefined) return undefined;
  if (typeof visitor !== "function" || visitorSecret === undefined)
    throw new ConnectorError("setup", "invalid visitor: expected a function together with visitorSecret");
  const secret = parseVisitorSecret(visitorSecret);
  return async (request: Request, context: ProxyContext) => {
    const identity = await visitor(request, context);
    return identity ? signVisitorToken(secret, identity) : null;
  };
}

/**
 * Creates a proxy, to be called with the requests below `prefix`.
 *
 * Forwarded to the service: query, JSON body, `Idempotency-Key`, `Accept-Language`, and `Visitor-Token` unless the option
 * `visitor` replaces it. Returned: status, body, `Content-Type` (anything but JSON becomes plain text), `X-Request-Id`,
 * `X-Service-API-Version`, `Retry-After`, `X-RateLimit-*`. Nothing else passes in either direction.
 *
 * @throws {ConnectorError} with the kind `setup` if an option is invalid.
 */
export function connectorProxy(options: ConnectorProxyOptions): ConnectorProxy {
  const prefix = parsePrefix(options.prefix ?? DEFAULTS.prefix);
  const proxy = new SiteProxy(options, prefix);
  return Object.assign((request: Request, context?: ProxyContext) => proxy.handle(request, context), { prefix });
}

class SiteProxy {
  readonly #origin: URL;
  readonly #authorization: string;
  readonly #prefix: string;
  readonly #cors: Cors;
  readonly #limiter: ClientLimiter | undefined;
  readonly #trusted: ReturnType<typeof parseNetwork>[];
  readonly #limits: { message: number; events: number; answer: number };
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;
  readonly #log: (message: string) => void;
  readonly #visitor: ((request: Request, context: ProxyContext) => Promise<string | null>) | undefined;
  #hasWarned = false;
  readonly #refusals: LogThrottle;
  readonly #visitorRefusals: LogThrottle;
  readonly #failures: LogThrottle;

  constructor(options: ConnectorProxyOptions, prefix: string) {
    const settings = withDefaults(DEFAULTS, options);
    this.#origin = parseOrigin(options.origin);
    this.#authorization = bearer(options.token);
    this.#prefix = prefix;
    this.#cors = new Cors(options.allowedOrigins ?? []);
    if (settings.clientRate !== null) {
      atLeastOne("clientRate.perMinute", settings.clientRate.perMinute);
      atLeastOne("clientRate.burst", settings.clientRate.burst);
      this.#limiter = new ClientLimiter(settings.clientRate);
    }
    this.#trusted = (options.trustedHops ?? []).map(parseNetwork);
    this.#limits = {
      message: atLeastOne("messageBodyLimit", settings.messageBodyLimit),
      events: atLeastOne("eventsBodyLimit", settings.eventsBodyLimit),
      answer: atLeastOne("answerLimit", settings.answerLimit),
    };
    this.#timeoutMs = timeLimit("timeoutMs", settings.timeoutMs);
    // Looked up for each request, as frameworks replace the global one.
    this.#fetch = options.fetch ?? ((...args) => fetch(...args));
    this.#log = options.log ?? ((message) => console.warn(message));
    this.#visitor = visitorTokens(options);
    this.#refusals = new LogThrottle(this.#log);
    this.#visitorRefusals = new LogThrottle(this.#log);
    this.#failures = new LogThrottle(this.#log);
  }

  async handle(request: Request, context?: ProxyContext): Promise<Response> {
    const response =
      this.#cors.preflight(request) ??
      (await this.#answer(request, context).catch((error: unknown) =>
        (error instanceof ProxyFailure ? error : unavailable()).toResponse(),
      ));
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
    this.#cors.apply(request, response.headers);
    return response;
  }

  async #answer(request: Request, context?: ProxyContext): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const path = pathname.startsWith(`${this.#prefix}/`) ? pathname.slice(this.#prefix.length) : "";
    const methods = METHODS.get(path);
    if (methods === undefined) throw notFound();
    if (!methods.split(", ").includes(request.method)) throw methodNotAllowed(methods);
    this.#limit(request, context);
    const headers = requestHeaders(this.#authorization);
    for (const name of FORWARDED_HEADERS) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const init: RequestInit = { method: request.method, headers };
    if (request.method === "POST") {
      init.body = await this.#body(request, path === "/events" ? this.#limits.events : this.#limits.message);
      headers.set("Content-Type", "application/json");
    }
    // The config is the same for everybody.
    const visitor = path === "/chat/config" ? null : await this.#visitorToken(request, context);
    if (visitor !== null) headers.set(VISITOR_TOKEN, visitor);
    return this.#forward(address(this.#origin, path, search), init, request.signal);
  }

  /** Returns the token that proves the visitor: the page's own only where the server does not say who is signed in. */
  async #visitorToken(request: Request, context: ProxyContext = {}): Promise<string | null> {
    if (!this.#visitor) return request.headers.get(VISITOR_TOKEN);
    try {
      return await this.#visitor(request, context);
    } catch {
      // Its message may be about the visitor.
      this.#failures.record("the option visitor throws");
      throw unavailable();
    }
  }

  /** Counts the request, if the server has told its client. */
  #limit(request: Request, context?: ProxyContext): void {
    const peer = typeof context?.client === "string" ? parseAddress(context.client) : undefined;
    if (!this.#limiter || !peer) return;
    const forwarded = request.headers.get("X-Forwarded-For");
    if (!this.#hasWarned && isUntrustedHop(peer, forwarded, this.#trusted)) {
      this.#hasWarned = true;
      this.#log(
        `X-Forwarded-For comes from ${context?.client}, which is not a trusted hop: all visitors behind it count as one client and share its rate limit. If it is your own web server, add it to trustedHops`,
      );
    }
    const client = resolveClient(peer, forwarded, this.#trusted);
    const seconds = this.#limiter.take(rateKey(client));
    if (seconds > 0) throw rateLimited(seconds);
  }

  /**
   * Returns the body if it is JSON by its content type and within its size limit. A page of another site cannot send JSON
   * without a preflight, so this also refuses its forms.
   */
  async #body(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
    if (!isJson(request.headers.get("Content-Type"))) throw notJson();
    // A declared size is checked before the body arrives.
    if (Number(request.headers.get("Content-Length")) > limit) throw tooLarge(limit);
    const { signal, state, done } = deadline(this.#timeoutMs);
    try {
      return await readBounded(request.body, limit, signal);
    } catch (error) {
      if (error instanceof BodyTooLarge) throw tooLarge(limit);
      throw state.timedOut ? slowRequest() : brokenRequest();
    } finally {
      done();
    }
  }

  async #forward(url: URL, init: RequestInit, visitor: AbortSignal | null): Promise<Response> {
    const { signal, state, done } = deadline(this.#timeoutMs, visitor);
    try {
      const response = await this.#exchange(url, { ...init, redirect: "manual", signal });
      const body = REFUSALS.has(response.status) ? await response.clone().text() : "";
      const reason = refusalOf(response.status, body);
      if (response.status === 401 && body.includes(INVALID_VISITOR_TOKEN))
        this.#visitorRefusals.record(
          "the service refuses a visitor's token: check the visitor secret, and the clock of the server that signs it",
        );
      else if (reason) this.#refusals.record(`the service refuses requests with ${response.status}: ${reason}`);
      return response;
    } catch {
      // A visitor who has gone says nothing about the service.
      if (!visitor?.aborted)
        this.#failures.record(
          state.timedOut
            ? `the service did not answer within ${this.#timeoutMs} ms`
            : "the service cannot be reached, or its response is not usable",
        );
      throw state.timedOut ? upstreamTimeout() : unavailable();
    } finally {
      done();
    }
  }

  async #exchange(url: URL, init: RequestInit & { signal: AbortSignal }): Promise<Response> {
    const { status, headers, body } = await this.#fetch(url, init);
    const isUsable = (status >= 200 && status < 300) || (status >= 400 && status < 600);
    const encoding = headers.get("Content-Encoding") ?? "identity";
    const limit = this.#limits.answer;
    if (!isUsable || encoding.toLowerCase() !== "identity" || Number(headers.get("Content-Length")) > limit) {
      discard(body);
      throw unavailable();
    }
    const bytes = await readBounded(body, limit, init.signal);
    // A gateway in front of the service may respond with a page. No browser must show it as a page of this site.
    const returned = new Headers({
      "Content-Type": isJson(headers.get("Content-Type")) ? "application/json" : "text/plain; charset=utf-8",
    });
    for (const name of RETURNED_HEADERS) {
      const value = headers.get(name);
      // Servers throw on a value with other characters.
      if (value !== null && /^[\t -~]*$/.test(value)) returned.set(name, value);
    }
    return new Response(EMPTY.includes(status) ? null : bytes, { status, headers: returned });
  }
}
