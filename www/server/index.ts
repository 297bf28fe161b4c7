// `@site-connector/chat-widget/server`: the client and the proxy for a site's server, in Node, Deno, Bun and workers. It
// holds the site token, and must never be part of a page.

export type { BackOff } from "./back-off.js";
export { ServerConnectorClient } from "./client.js";
export { ConnectorError, type ErrorKind } from "./connector-error.js";
export { type DatabaseJournalOptions, databaseJournal, type Query } from "./database-journal.js";
export type { CallOptions, ClientOptions } from "./exchange.js";
export {
  type Article,
  type HandlerResult,
  type JobContext,
  JobFailure,
  type JobHandler,
  type NamedArticle,
} from "./job-handler.js";
export { type JournalStore, keyValueJournal } from "./journal-store.js";
export { type NodeResponse, toNodeHandler } from "./node.js";
export type { NodeRequest } from "./node-request.js";
export type { PageOverlay } from "./overlay.js";
export { PageHead } from "./page-head.js";
export { PageHeads, type PageHeadsOptions } from "./page-heads.js";
export { connectorProxy } from "./proxy.js";
export type { ConnectorProxy, ConnectorProxyOptions, ProxyContext, Visitor } from "./proxy-options.js";
export type { PublicSite } from "./public-page.js";
export type { ClientRate } from "./rate.js";
export { type RunOptions, type RunSummary, runJobs } from "./run-jobs.js";
export { HandlerStuck, RunnerStopped } from "./runner-stopped.js";
export { type SyncProgress, type SyncRun, SyncStoppedError } from "./sync.js";
export { type SkippedItem, type SyncPagesOptions, type SyncPagesResult, syncPages } from "./sync-pages.js";
export type * from "./types.js";
export { type Identity, signVisitorToken } from "./visitor-token.js";
