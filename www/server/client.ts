// `ServerConnectorClient`: every call of the contract for a site's server, authenticated by the site token.

import { type CallOptions, type ClientOptions, Exchange } from "./exchange.js";
import { boundedKey, randomId } from "./keys.js";
import {
  readActivated,
  readClaim,
  readJob,
  readMessages,
  readObject,
  readOverlays,
  readSendResult,
} from "./read-data.js";
import { bearer } from "./service.js";
import { pushPages, type SyncProgress, type SyncRun } from "./sync.js";
import type {
  ActivatedSite,
  Activation,
  ChatConfig,
  Claim,
  Completion,
  ContentItem,
  ContentPage,
  Job,
  MessageList,
  OverlayList,
  Presence,
  SendMessage,
  SendResult,
  ServerVisitorEvent,
  SiteStatus,
  SyncReceipt,
  TrackResult,
} from "./types.js";

/** Maximum events of a request. */
const MAX_EVENTS = 50;

/** Escapes a job's id, so that any id stays within one segment of the path. */
const segment = (id: string) =>
  encodeURIComponent(id).replace(/[.!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * A client of the connector API that holds the site token.
 *
 * A call with a transient failure is retried after a random, growing delay, or after the time that `Retry-After` names. A
 * call that changes something carries an idempotency key, the same in each attempt, so that it is executed once. Every
 * failure is a `ConnectorError`.
 */
export class ServerConnectorClient {
  readonly #exchange: Exchange;
  #siteId: Promise<string> | undefined;

  /** @throws {ConnectorError} with the kind `setup` if the origin or the token is invalid. */
  constructor(options: ClientOptions) {
    this.#exchange = new Exchange(options, bearer(options.token));
    this.#siteId = options.siteId === undefined ? undefined : Promise.resolve(options.siteId);
  }

  /** Exchanges a license code for the site token. The only call without a token. */
  static async activate(
    options: Omit<ClientOptions, "token" | "siteId">,
    body: Activation,
    call: CallOptions = {},
  ): Promise<ActivatedSite> {
    const exchange = new Exchange(options, undefined);
    const post = { key: `activate-${randomId()}`, body };
    return exchange.call({ ...call, path: "/auth/activate", post }, readActivated);
  }

  /** Returns the site's status. */
  getSiteStatus(call: CallOptions = {}): Promise<SiteStatus> {
    return this.#exchange.call({ ...call, path: "/site/status" }, readObject<SiteStatus>);
  }

  /** Returns the chat's config for a locale. */
  getChatConfig(locale?: string, call: CallOptions = {}): Promise<ChatConfig> {
    return this.#exchange.call({ ...call, path: "/chat/config", query: { locale } }, readObject<ChatConfig>);
  }

  /**
   * Sends a visitor's message and returns the reply. Two calls are two messages, unless both have the same `messageId`: the
   * same visitor, id and body are the same message for as long as the service stores keys. Use it to repeat a call after
   * your own process was interrupted.
   */
  async sendMessage(
    body: SendMessage,
    { messageId, ...call }: CallOptions & { messageId?: string } = {},
  ): Promise<SendResult> {
    const key = await boundedKey(`chat-${body.visitor?.visitorId ?? "anonymous"}-${messageId ?? randomId()}`);
    return this.#exchange.call({ ...call, path: "/chat/messages", post: { key, body } }, readSendResult);
  }

  /** Returns the messages of a conversation, or those after the message `after`. */
  listMessages(
    input: { conversationId: string; after?: string | undefined },
    call: CallOptions = {},
  ): Promise<MessageList> {
    const { conversationId, after } = input;
    return this.#exchange.call({ ...call, path: "/chat/messages", query: { conversationId, after } }, readMessages);
  }

  /** Returns whether an operator is online, and the suggested polling intervals. */
  getPresence(conversationId?: string, call: CallOptions = {}): Promise<Presence> {
    return this.#exchange.call({ ...call, path: "/chat/presence", query: { conversationId } }, readObject<Presence>);
  }

  /** Sends one visitor event. */
  track(event: ServerVisitorEvent, call: CallOptions = {}): Promise<TrackResult> {
    return this.trackBatch([event], call);
  }

  /** Sends visitor events in batches of 50, and returns the totals. Stops when the service reports that tracking is off. */
  async trackBatch(events: readonly ServerVisitorEvent[], call: CallOptions = {}): Promise<TrackResult> {
    const total: TrackResult = { accepted: 0, rejected: 0 };
    for (let first = 0; first < events.length && total.tracking !== "disabled"; first += MAX_EVENTS) {
      const post = { key: `events-${randomId()}`, body: { events: events.slice(first, first + MAX_EVENTS) } };
      const { accepted, rejected, tracking } = await this.#exchange.call(
        { ...call, path: "/events", post },
        readObject<Partial<TrackResult>>,
      );
      total.accepted += accepted ?? 0;
      total.rejected += rejected ?? 0;
      total.tracking = tracking ?? "enabled";
    }
    return total;
  }

  /**
   * Pushes one page of content. The key consists of the site, the snapshot and the page number: a repeated page must have
   * the same content.
   */
  async syncContent(page: ContentPage, call: CallOptions = {}): Promise<SyncReceipt> {
    const key = await boundedKey(`content-sync-${await this.#site(call)}-${page.snapshotId}-${page.page}`);
    return this.#exchange.call({ ...call, path: "/content/sync", post: { key, body: page } }, readObject<SyncReceipt>);
  }

  /**
   * Pushes any number of items page by page.
   *
   * @throws {SyncStoppedError} with the page to resume with.
   */
  syncContentPages(items: Iterable<ContentItem> | AsyncIterable<ContentItem>, run: SyncRun): Promise<SyncProgress> {
    return pushPages(items, run, (page) => this.syncContent(page, { signal: run.signal }));
  }

  /** Returns the published overlays, of all pages and locales by default. With the `etag` of an earlier list, the service
   * may answer that it `isUnchanged`. */
  listSeoOverlays(
    query: { path?: string; locale?: string } = {},
    call: CallOptions & { etag?: string } = {},
  ): Promise<OverlayList> {
    const { path, locale } = query;
    return this.#exchange.call({ ...call, path: "/seo/overlays", query: { path, locale } }, readOverlays);
  }

  /** Claims the next job, if there is one. The attempts of one call share a key, so that a claim whose response was lost is
   * found again. */
  claimNextJob(call: CallOptions = {}): Promise<Claim> {
    const post = { key: `job-next-${randomId()}`, body: {} };
    return this.#exchange.call({ ...call, path: "/site/jobs/next", post }, readClaim);
  }

  /**
   * Reports the outcome of a job, and returns the updated job. The key consists of the job and the claim: a second call
   * repeats the report. If `error.isJobLost`, the claim no longer holds the job, and nothing is left to do for it.
   */
  async completeJob(jobId: string, body: Completion, call: CallOptions = {}): Promise<Job> {
    const key = await boundedKey(`job-complete-${jobId}-${body.claimToken}`);
    return this.#exchange.call(
      { ...call, path: `/site/jobs/${segment(jobId)}/complete`, post: { key, body } },
      readJob,
    );
  }

  /** Returns the configured site id, or else the one in the site's status. */
  #site(call: CallOptions): Promise<string> {
    this.#siteId ??= this.getSiteStatus(call).then(
      ({ siteId }) => siteId ?? "site",
      (error: unknown) => {
        // The next call asks again.
        this.#siteId = undefined;
        throw error;
      },
    );
    return this.#siteId;
  }
}
