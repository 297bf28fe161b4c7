// The settings of a proxy, and their defaults.

import type { NodeRequest } from "./node-request.js";
import type { ClientRate } from "./rate.js";
import type { Identity } from "./visitor-token.js";

/** The settings of a proxy. */
export interface ConnectorProxyOptions {
  /** The service's origin, such as `https://service.example`, without `/api/connector/v1`. */
  origin: string;
  /** The site token. */
  token: string;
  /** The prefix of the five paths in a request's URL; `/connector` by default, `""` for none. */
  prefix?: string;
  /** Maximum size of the body of `POST /chat/messages` in bytes; 64 KiB by default. */
  messageBodyLimit?: number;
  /** Maximum size of the body of `POST /events` in bytes; 256 KiB by default. */
  eventsBodyLimit?: number;
  /** Maximum size of a response of the service in bytes; 1 MiB by default. */
  answerLimit?: number;
  /** The time limit of the browser's body, and then of the service's response, in milliseconds; 35,000 by default, as an
   * AI may take that long. */
  timeoutMs?: number;
  /** Origins of pages on other hosts that may use this proxy (CORS), such as `https://www.shop.example`. The proxy's own
   * origin needs no entry. */
  allowedOrigins?: readonly string[];
  /** The rate limit of each client; 240 requests a minute and 60 at once by default. `null` for none. It needs the
   * client's address: see `ProxyContext`. */
  clientRate?: ClientRate | null;
  /** Addresses and networks of reverse proxies whose `X-Forwarded-For` is trusted, such as `10.0.0.0/8`. */
  trustedHops?: readonly string[];
  /** Returns who is signed in, by the request's session. With it, the proxy signs a token for the service, and drops the
   * one that a page sent; `null` and `undefined` prove nobody. It needs `visitorSecret`. It is called for messages, events
   * and presence. If it throws, the response is 502, and the widget repeats the request. */
  visitor?: (request: Request, context: ProxyContext) => Visitor | Promise<Visitor>;
  /** The site's secret for visitor tokens, which the service's console shows once. */
  visitorSecret?: string;
  /** Receives one line, at most once a minute, when the service refuses the site or cannot be reached, and once about a
   * reverse proxy that is not trusted; `console.warn` by default. No line has the token, a message or a visitor's address. */
  log?: (message: string) => void;
  /** Sends the requests to the service; the global `fetch` by default. */
  fetch?: typeof fetch;
}

/** The visitor who is signed in, if there is one. */
export type Visitor = Identity | null | undefined;

/** What a server knows about a request besides its `Request`. */
export interface ProxyContext {
  /** The IP address of the connection's other end. Without it, no client is limited. */
  client?: string | undefined;
  /** The request of Node's `http`, or of Express, with what its middlewares have added, such as a session. */
  node?: NodeRequest | undefined;
}

/** A proxy: answers a request for one of the five paths, and refuses every other one. It never rejects. */
export interface ConnectorProxy {
  (request: Request, context?: ProxyContext): Promise<Response>;
  /** The prefix of the five paths. */
  readonly prefix: string;
}

export const DEFAULTS = {
  prefix: "/connector",
  messageBodyLimit: 64 * 1024,
  eventsBodyLimit: 256 * 1024,
  answerLimit: 1024 * 1024,
  timeoutMs: 35_000,
  clientRate: { perMinute: 240, burst: 60 },
};
