// `@site-connector/chat-widget/server`: the client and the proxy for a site's server, in Node, Deno, Bun and workers. It
// holds the site token, and must never be part of a page.

export type { BackOff } from "./back-off.js";
export { ServerConnectorClient } from "./client.js";
export { ConnectorError, type ErrorKind } from "./connector-error.js";
export type { CallOptions, ClientOptions } from "./exchange.js";
export { type NodeResponse, toNodeHandler } from "./node.js";
export type { NodeRequest } from "./node-request.js";
export { connectorProxy } from "./proxy.js";
export type { ConnectorProxy, ConnectorProxyOptions, ProxyContext, Visitor } from "./proxy-options.js";
export type { ClientRate } from "./rate.js";
export { type SyncProgress, type SyncRun, SyncStoppedError } from "./sync.js";
export type * from "./types.js";
export { type Identity, signVisitorToken } from "./visitor-token.js";
