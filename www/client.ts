// `BrowserWidgetClient`: the five paths of the site's proxy, for pages that draw their own chat window. It needs no
// WebAssembly, does nothing when it is imported, and shares visitor and conversation with the widget on the same site.

import { ChatWidgetError } from "./client-error.js";
import type {
  BrowserWidgetClientOptions,
  ChatConfig,
  MessageList,
  Presence,
  SendOptions,
  SendResult,
  TrackResult,
  VisitorEvent,
  VisitorToken,
} from "./client-types.js";
import { TAG } from "./locale.js";
import { nullProto } from "./null-proto.js";
import { isUsableId, proxyAddress, uuid } from "./wire.js";

export { ChatWidgetError };
export type * from "./client-types.js";

interface Envelope {
  ok?: unknown;
  data?: unknown;
  error?: { code?: string; message?: string };
  requestId?: string;
}

/** Maximum events of a request. */
const MAX_EVENTS = 50;
/** Maximum length of a body that outlives its page: browsers allow 64 KiB, and a character has up to three bytes. */
const MAX_KEEPALIVE_LENGTH = 20_000;
/** Maximum wait before the first retry; it doubles with each further one. */
const FIRST_RETRY_MS = 500;
const MAX_BACK_OFF_MS = 30_000;
/** Maximum `Retry-After` that is obeyed. */
const MAX_RETRY_AFTER_MS = 300_000;
/** The version of stored values. */
const VERSION = 2;

/** Returns `Retry-After`, a number of seconds or a date, in milliseconds. */
function retryAfterMs(text: string | null): number | undefined {
  if (!text) return undefined;
  const seconds = +text;
  const ms = Number.isNaN(seconds) ? Math.max(0, Date.parse(text) - Date.now()) : seconds * 1000;
  return ms >= 0 ? ms : undefined;
}

/** Returns a locale that the service accepts (BCP 47, at most 35 characters); `undefined` for any other. */
const tagOf = (locale?: string) => locale?.replace(/_/g, "-").match(TAG)?.[0];

/** Returns the end of the storage keys of the person whom a token names. Only the service checks the signature. */
function personOf(token: VisitorToken): string {
  try {
    const claims = atob(token!.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/"));
    const { sub } = nullProto(JSON.parse(claims) as { sub?: string });
    return sub ? `@verified:${sub}` : "";
  } catch {
    return "";
  }
}

/** Returns a new idempotency key, of at most 160 characters. */
const keyOf = (kind: string, visitorId: string) => `${kind}-${visitorId.slice(0, 100)}-${uuid()}`;

/** A client of the proxy on the customer's site, which keeps visitor and conversation. */
export class BrowserWidgetClient {
  readonly #proxy: string;
  readonly #customerId: string | undefined;
  readonly #visitorToken: BrowserWidgetClientOptions["visitorToken"];
  /** The token of the function, until the service refuses it. */
  #token: Promise<VisitorToken> | undefined;
  /** The end of the storage keys of the person whom the token names. */
  #person = "";
  readonly #timeout: number;
  readonly #retries: number;
  /** The values that the browser's storage refused. */
  readonly #memory = new Map<string, string>();
  /** The bodies of messages without a final response, by their idempotency keys. */
  readonly #bodies = new Map<string, string>();
  #sending: Promise<unknown> = Promise.resolve();

  constructor(options: BrowserWidgetClientOptions) {
    const { proxy, customerId, visitorToken, timeout = 30_000, retries = 3 } = nullProto(options);
    this.#proxy = proxyAddress(proxy);
    this.#customerId = customerId || undefined;
    this.#visitorToken = visitorToken;
    this.#timeout = timeout;
    this.#retries = retries;
  }

  /** The visitor's stable id, which the widget uses as well. */
  get visitorId(): string {
    const { visitorId } = this.#read("visitor");
    if (isUsableId(visitorId)) return visitorId;
    const created = uuid();
    this.#write("visitor", { visitorId: created });
    return created;
  }

  /** The conversation, once there is one. */
  get conversationId(): string | undefined {
    const { conversationId, visitorId } = this.#read("conversation");
    const isOwn = visitorId === undefined || visitorId === this.visitorId;
    return isOwn && typeof conversationId === "string" && conversationId ? conversationId : undefined;
  }

  /** Returns the site's chat config. */
  getChatConfig(locale?: string): Promise<ChatConfig> {
    return this.#call("chat/config", { locale: tagOf(locale) });
  }

  /**
   * Sends a message of 1 to 4,000 characters and returns the reply. Messages are sent one after the other, so that the
   * second one belongs to the conversation of the first. Transient errors are retried with the same idempotency key and
   * body. To repeat a message after its last retry failed, pass `idempotencyKey` of the error: the service accepts the
   * message once, whatever happened to the earlier attempts.
   */
  sendMessage(text: string, options: SendOptions = {}): Promise<SendResult> {
    const { idempotencyKey, locale, sourcePage, visitor } = nullProto(options);
    const send = async () => {
      // The conversation is that of the person whom it names. The call below says why there is none.
      await this.#proof().catch(() => {});
      const { visitorId, conversationId } = this;
      const key = idempotencyKey ?? keyOf("chat", visitorId);
      const message = {
        conversationId,
        message: text,
        locale: tagOf(locale),
        sourcePage: sourcePage ?? globalThis.location?.pathname,
        visitor: { ...visitor, visitorId },
      };
      const body = this.#bodies.get(key) ?? JSON.stringify(message);
      this.#bodies.set(key, body);
      try {
        const result = await this.#call<SendResult>("chat/messages", {}, body, key);
        this.#bodies.delete(key);
        this.#adopt(visitorId, result);
        return result;
      } catch (error) {
        if (!(error as ChatWidgetError).retryable) this.#bodies.delete(key);
        throw error;
      }
    };
    const sent = this.#sending.then(send);
    this.#sending = sent.catch(() => {});
    return sent;
  }

  /**
   * Returns the messages of the conversation, or those after one of them. Without a conversation in this browser, a
   * visitor with a token continues the one of another device; for others it sends no request.
   */
  async listMessages(after?: string): Promise<MessageList> {
    // The call below says why there is no token.
    const token = await this.#proof().catch(() => "?");
    const { visitorId, conversationId } = this;
    if (!(conversationId ?? token)) return { messages: [] };
    const list = await this.#call<MessageList>("chat/messages", { conversationId, after });
    this.#adopt(visitorId, list);
    return list;
  }

  /** Continues the conversation of a response, unless it is the current one already. */
  #adopt(visitorId: string, { conversationId }: { conversationId?: string | null }): void {
    // The widget keeps more under this key; it fetches the messages of a conversation that has an id alone.
    if (conversationId && conversationId !== this.conversationId)
      this.#write("conversation", { visitorId, conversationId });
  }

  /** Returns the token that proves the visitor. Concurrent calls wait for the same one. */
  #proof(): Promise<VisitorToken> {
    if (!this.#token) {
      const given = this.#visitorToken;
      const fetched = (async () => {
        const token = await (typeof given === "function" ? given() : given);
        const person = personOf(token);
        if (person !== this.#person) {
          // Nothing of a person who has signed out stays.
          if (this.#person) for (const name of ["visitor", "conversation"]) this.#write(name);
          this.#person = person;
        }
        return token;
      })();
      // A function that failed is called again.
      fetched.catch(() => (this.#token = undefined));
      this.#token = fetched;
    }
    return this.#token;
  }

  /** Returns whether an operator is online, and the suggested polling intervals. */
  async getPresence(): Promise<Presence> {
    await this.#proof().catch(() => {});
    return this.#call("chat/presence", { conversationId: this.conversationId });
  }

  /** Reports an action of the visitor. The client adds the visitor, the page and the time. */
  track(event: VisitorEvent): Promise<TrackResult> {
    return this.trackBatch([event]);
  }

  /** Reports any number of events, at most 50 in a request. */
  async trackBatch(events: VisitorEvent[]): Promise<TrackResult> {
    const { location, document } = globalThis;
    const page = {
      customerId: this.#customerId,
      channel: "webchat",
      path: location?.pathname,
      url: location?.href,
      title: document?.title,
      referrer: document?.referrer || undefined,
      createdAt: new Date().toISOString(),
    };
    await this.#proof().catch(() => {});
    const { visitorId, conversationId } = this;
    const total: TrackResult = { accepted: 0, rejected: 0 };
    for (let first = 0; first < events.length; first += MAX_EVENTS) {
      const batch = events.slice(first, first + MAX_EVENTS).map((event) => ({
        ...page,
        visitorId,
        ...event,
        eventData:
          event.eventType !== "page_view" && conversationId ? { conversationId, ...event.eventData } : event.eventData,
      }));
      const { accepted, rejected, tracking } = await this.#call<TrackResult>(
        "events",
        {},
        JSON.stringify({ events: batch }),
        keyOf("events", visitorId),
      );
      total.accepted += accepted;
      total.rejected += rejected;
      if (tracking) total.tracking = tracking;
    }
    return total;
  }

  /** Sends a request, and repeats it after a transient error with the same body and key. */
  async #call<Data>(
    path: string,
    query: Record<string, string | undefined>,
    body?: string,
    key?: string,
    failures = 0,
    refreshed = false,
  ): Promise<Data> {
    const used = this.#token;
    try {
      return await this.#attempt(path, query, body, key);
    } catch (error) {
      const { code, retryable, retryAfter } = error as ChatWidgetError;
      if (code === "INVALID_VISITOR_TOKEN" && !refreshed && typeof this.#visitorToken === "function") {
        // Another call may have fetched a new one meanwhile.
        if (this.#token === used || !used) this.#token = undefined;
        return this.#call(path, query, body, key, failures, true);
      }
      if (!retryable || failures >= this.#retries) throw error;
      const backOff = Math.random() * Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_BACK_OFF_MS);
      const wait =
        retryAfter === undefined ? backOff : Math.min(retryAfter, MAX_RETRY_AFTER_MS) + Math.random() * FIRST_RETRY_MS;
      await new Promise((resolve) => setTimeout(resolve, wait));
      return this.#call(path, query, body, key, failures + 1, refreshed);
    }
  }

  async #attempt<Data>(
    path: string,
    query: Record<string, string | undefined>,
    body: string | undefined,
    key: string | undefined,
  ): Promise<Data> {
    const parameters = Object.entries(query).flatMap(([name, value]) =>
      value ? `${name}=${encodeURIComponent(value)}` : [],
    );
    const Accept = "application/json";
    let response: Response | undefined;
    let envelope: Envelope | undefined;
    try {
      // The config is the same for everybody, and cached.
      const token = path === "chat/config" ? null : await this.#proof();
      const init: RequestInit = {
        method: body ? "POST" : "GET",
        headers: {
          Accept,
          ...(body && { "Content-Type": Accept, "Idempotency-Key": key! }),
          ...(token && { "Visitor-Token": token }),
        },
        body: body!,
        cache: path === "chat/config" ? "default" : "no-store",
        keepalive: path === "events" && body!.length < MAX_KEEPALIVE_LENGTH,
        signal: AbortSignal.timeout(this.#timeout),
      };
      response = await fetch(
        `${this.#proxy}/${path}${parameters.length ? `?${parameters.join("&")}` : ""}`,
        nullProto(init),
      );
      envelope = (await response.json()) as Envelope;
    } catch (error) {
      // A `fetch` that the page has replaced may throw any value.
      const { name, message } = Object(error) as Error;
      // A response without JSON is examined below.
      if (!response || name !== "SyntaxError")
        throw new ChatWidgetError(message, 0, name === "TimeoutError" ? "TIMEOUT" : "NETWORK", key);
    }
    const { ok, data, error, requestId } = nullProto(envelope!);
    const { status, headers } = response;
    if (response.ok && ok === true && data) return data as Data;
    throw new ChatWidgetError(
      error?.message ?? `invalid response: expected JSON with ok and data, got status ${status}; check the proxy`,
      status,
      error?.code ?? "INVALID_RESPONSE",
      key,
      requestId ?? headers.get("X-Request-Id") ?? undefined,
      retryAfterMs(headers.get("Retry-After")),
    );
  }

  #read(name: string): Record<string, unknown> {
    try {
      const key = this.#storageKey(name);
      return nullProto(JSON.parse(this.#memory.get(key) ?? localStorage.getItem(key)!) as Record<string, unknown>);
    } catch {
      // Storage is blocked, or another script's value stands under the key.
      return nullProto({});
    }
  }

  /** Stores a value, or removes it. */
  #write(name: string, value?: object): void {
    const key = this.#storageKey(name);
    const text = value && JSON.stringify({ v: VERSION, ...value });
    this.#memory.delete(key);
    try {
      if (text) localStorage.setItem(key, text);
      else localStorage.removeItem(key);
    } catch {
      if (text) this.#memory.set(key, text);
    }
  }

  #storageKey(name: string): string {
    return `chat-widget:${name}${this.#customerId ? `@${this.#customerId}` : ""}${this.#person}`;
  }
}
