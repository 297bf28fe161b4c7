// `BrowserWidgetClient`: the five paths of the site's proxy, for who draws a window of their own. It needs no WebAssembly,
// touches nothing when it is imported, and shares visitor and conversation with the widget on the same site.

import { TAG } from "./locale.js";
import type { VisitorProfile } from "./options.js";
import { own } from "./own.js";

/** How a client is made. */
export interface BrowserWidgetClientOptions {
  /** Prefix of the proxy on the customer's site, such as `/connector`. Nothing else is ever called. Another origin is
   * written in full: `https://api.example/connector`. */
  proxy: string;
  /** The site's own name for the visitor: each has a conversation of its own. */
  customerId?: string;
  /** How long a call may take, in milliseconds; 30,000 when it is not given. */
  timeout?: number;
}

/** What goes along with a message. */
export interface SendOptions {
  /** BCP 47: the language of the message. */
  locale?: string;
  /** The path of the page; the current one when it is not given. */
  sourcePage?: string;
  /** What the site knows about the visitor; the stable id is added. */
  visitor?: Omit<VisitorProfile, "visitorId">;
  /** `ChatWidgetError.idempotencyKey` of the attempt that failed: the same message once more, with the body it had. */
  idempotencyKey?: string;
}

/** The answer to `getChatConfig()`. */
export interface ChatConfig {
  tenantId?: string;
  siteId?: string;
  config: {
    enabled?: boolean;
    widgetEnabled?: boolean;
    assistantName?: string;
    welcomeMessage?: string;
    avatarUrl?: string | null;
    locale?: string;
  };
  locale?: string;
  supportedLocales?: string[];
  stale?: boolean;
}

/** One message of a conversation. */
export interface ChatMessage {
  id: string;
  role: "visitor" | "assistant" | "operator" | (string & {});
  content: string;
  createdAt?: string;
}

/** The answer to `sendMessage()`. */
export interface SendResult {
  conversationId: string;
  userMessageId?: string;
  /** The reply, when there is one already. */
  message?: ChatMessage | null;
  provider?: string;
  usedFallback?: boolean;
  aiStatus?: "ok" | "provider_error" | "quota_insufficient" | "blocked" | (string & {});
  aiStatusMessage?: string;
  locale?: string;
  blocked?: boolean;
  lead?: { score?: number; hasContact?: boolean; needsHandoff?: boolean; summary?: string };
}

/** The answer to `listMessages()`. */
export interface MessageList {
  conversationId?: string;
  messages: ChatMessage[];
  /** To be handed to the next call. */
  nextAfter?: string;
}

/** The answer to `getPresence()`. */
export interface Presence {
  operatorOnline?: boolean;
  operatorActiveSessions?: number;
  operatorLastSeenAt?: string | null;
  shouldPollMessages?: boolean;
  suggestedPresenceIntervalMs?: number;
  suggestedMessageIntervalMs?: number;
}

/** Something that the visitor did. */
export interface VisitorEvent {
  eventType: "page_view" | "chat_opened" | "chat_closed" | "cta_clicked" | "lead_submitted" | (string & {});
  customerId?: string;
  channel?: string;
  path?: string;
  url?: string;
  title?: string;
  referrer?: string;
  eventData?: Record<string, unknown>;
  createdAt?: string;
}

/** The answer to `track()`. */
export interface TrackResult {
  accepted: number;
  rejected: number;
  tracking?: "enabled" | "disabled" | (string & {});
}

interface Envelope {
  ok?: unknown;
  data?: unknown;
  error?: { code?: string; message?: string };
  requestId?: string;
}

/** As many events go into one request. */
const MOST_EVENTS = 50;
/** What goes out behind a page that is left may have 64 KiB; a character has up to three bytes. */
const MOST_KEPT_ALIVE = 20_000;

/** Why a call came to nothing. */
export class ChatWidgetError extends Error {
  override readonly name = "ChatWidgetError";
  /** The HTTP status; 0 when there was no answer. */
  declare readonly status: number;
  /** The service's code, or `NETWORK`, `TIMEOUT`, `INVALID_RESPONSE`. */
  declare readonly code: string;
  /** What the service's log has the request under. */
  declare readonly requestId: string | undefined;
  /** Not before so many milliseconds, says the service. */
  declare readonly retryAfter: number | undefined;
  /** The very same call may succeed later. */
  declare readonly retryable: boolean;
  /** For the retry of a message. */
  declare readonly idempotencyKey: string | undefined;

  constructor(message: string, status: number, code: string, key?: string, requestId?: string, retryAfter?: number) {
    super(message);
    // An answer that is not the service's leaves open what became of the call.
    const retryable =
      status < 400 || status === 408 || status === 429 || status >= 500 || (status === 409 && retryAfter !== undefined);
    Object.assign(this, { status, code, requestId, retryAfter, retryable, idempotencyKey: key });
  }
}

/** `Retry-After`, which is seconds or a date, in milliseconds. */
function delay(text: string | null): number | undefined {
  // Of none, it is no number.
  const ms = /^\d+$/.test(text!) ? Number(text) * 1000 : Date.parse(text!) - Date.now();
  return ms >= 0 ? ms : undefined;
}

/** A locale that the service takes: BCP 47, of at most 35 characters. Any other is left out. */
const tagOf = (locale?: string) => locale?.replace(/_/g, "-").match(TAG)?.[0];

/** 64 random bits. */
const random = () => crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(36);

/** Talks to the proxy on the customer's site, and keeps visitor and conversation by itself. */
export class BrowserWidgetClient {
  readonly #proxy: string;
  readonly #customerId: string | undefined;
  readonly #timeout: number;
  /** What the browser's storage does not take. */
  readonly #memory = new Map<string, string>();
  /** What was sent under a key, as long as nothing final was said to it. */
  readonly #bodies = new Map<string, string>();
  #sending: Promise<unknown> = Promise.resolve();

  constructor(options: BrowserWidgetClientOptions) {
    const { proxy, customerId, timeout = 30_000 } = own(options);
    const { origin, href } = globalThis.location ?? {};
    // Of the page's own origin, whatever its `<base>` says.
    const base = /^https?:/i.test(proxy) || !href ? "" : proxy[0] === "/" ? origin : new URL(".", href);
    this.#proxy = base + proxy.replace(/\/+$/, "");
    this.#customerId = customerId || undefined;
    this.#timeout = timeout;
  }

  /** The visitor's stable id, the widget's own. */
  get visitorId(): string {
    const { visitorId } = this.#read("visitor");
    // As the widget reads it: what no header could carry is no id.
    if (typeof visitorId === "string" && /^[!-~]{8,128}$/.test(visitorId)) return visitorId;
    const made = "v" + random() + random();
    this.#write("visitor", { v: 2, visitorId: made });
    return made;
  }

  /** The conversation, once there is one. */
  get conversationId(): string | undefined {
    const { conversationId, visitorId } = this.#read("conversation");
    const isOwn = visitorId === undefined || visitorId === this.visitorId;
    return isOwn && typeof conversationId === "string" && conversationId ? conversationId : undefined;
  }

  /** What the site says of its chat. */
  getChatConfig(locale?: string): Promise<ChatConfig> {
    return this.#call("chat/config", { locale: tagOf(locale) });
  }

  /**
   * Sends a message, of 1 to 4,000 characters, and gives the reply. One goes after the other, so that the second has the
   * conversation of the first. After a failure that is `retryable`, hand over `idempotencyKey` of the error: the service
   * then takes the message once, whatever became of the first attempt.
   */
  sendMessage(text: string, options: SendOptions = {}): Promise<SendResult> {
    const { idempotencyKey, locale, sourcePage, visitor } = own(options);
    const send = async () => {
      const { visitorId, conversationId } = this;
      const key = idempotencyKey ?? `chat-${visitorId}-${random()}`;
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
        const id = result.conversationId;
        // The widget, which keeps more under this key, reads the id alone as a conversation to catch up with.
        if (id && id !== this.conversationId) this.#write("conversation", { conversationId: id });
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

  /** The messages of the conversation, or those after one of them. Where there is no conversation, nothing is asked. */
  async listMessages(after?: string): Promise<MessageList> {
    const { conversationId } = this;
    return conversationId ? this.#call("chat/messages", { conversationId, after }) : { messages: [] };
  }

  /** Whether a person is there, and how often to ask. */
  getPresence(): Promise<Presence> {
    return this.#call("chat/presence", { conversationId: this.conversationId });
  }

  /** Reports what the visitor did; the page's place and title are filled in. */
  track(event: VisitorEvent): Promise<TrackResult> {
    return this.trackBatch([event]);
  }

  /** Reports any number of events, fifty in a request. */
  async trackBatch(events: VisitorEvent[]): Promise<TrackResult> {
    const { location, document } = globalThis;
    const { visitorId, conversationId } = this;
    const page = {
      visitorId,
      customerId: this.#customerId,
      channel: "web",
      path: location?.pathname,
      url: location?.href,
      title: document?.title,
      referrer: document?.referrer || undefined,
    };
    const total: TrackResult = { accepted: 0, rejected: 0 };
    for (let first = 0; first < events.length; first += MOST_EVENTS) {
      const batch = events.slice(first, first + MOST_EVENTS).map((event) => ({
        ...page,
        ...event,
        eventData:
          event.eventType.startsWith("chat_") && conversationId
            ? { conversationId, ...event.eventData }
            : event.eventData,
      }));
      const key = `events-${visitorId}-${random()}`;
      const { accepted, rejected, tracking } = await this.#call<TrackResult>(
        "events",
        {},
        JSON.stringify({ events: batch }),
        key,
      );
      total.accepted += accepted;
      total.rejected += rejected;
      if (tracking) total.tracking = tracking;
    }
    return total;
  }

  async #call<Data>(
    path: string,
    query: Record<string, string | undefined>,
    body?: string,
    key?: string,
  ): Promise<Data> {
    const asked = Object.entries(query).flatMap(([name, value]) =>
      value ? `${name}=${encodeURIComponent(value)}` : [],
    );
    const Accept = "application/json";
    let answer: Response | undefined;
    let envelope: Envelope | undefined;
    try {
      const init: RequestInit = {
        method: body ? "POST" : "GET",
        headers: body ? { Accept, "Content-Type": Accept, "Idempotency-Key": key! } : { Accept },
        body: body!,
        cache: "no-store",
        keepalive: path === "events" && body!.length < MOST_KEPT_ALIVE,
        signal: AbortSignal.timeout(this.#timeout),
      };
      answer = await fetch(`${this.#proxy}/${path}${asked.length ? "?" + asked.join("&") : ""}`, own(init));
      envelope = (await answer.json()) as Envelope;
    } catch (error) {
      // The page's own `fetch` may throw anything.
      const { name, message } = Object(error) as Error;
      // No JSON is an answer as well, and looked at below.
      if (!answer || name !== "SyntaxError")
        throw new ChatWidgetError(message, 0, name === "TimeoutError" ? "TIMEOUT" : "NETWORK", key);
    }
    const { ok, data, error, requestId } = own(envelope!);
    const { status, headers: said } = answer;
    if (answer.ok && ok === true && data) return data as Data;
    throw new ChatWidgetError(
      error?.message ?? `the proxy answered with status ${status}`,
      status,
      error?.code ?? "INVALID_RESPONSE",
      key,
      requestId ?? said.get("X-Request-Id") ?? undefined,
      delay(said.get("Retry-After")),
    );
  }

  #read(name: string): Record<string, unknown> {
    try {
      const key = this.#keyOf(name);
      return own(JSON.parse(this.#memory.get(key) ?? localStorage.getItem(key)!) as Record<string, unknown>);
    } catch {
      // Storage is blocked, or holds what is not the widget's.
      return own({});
    }
  }

  #write(name: string, value: object): void {
    const key = this.#keyOf(name);
    const text = JSON.stringify(value);
    try {
      localStorage.setItem(key, text);
      this.#memory.delete(key);
    } catch {
      this.#memory.set(key, text);
    }
  }

  #keyOf(name: string): string {
    return `chat-widget:${name}${this.#customerId ? `@${this.#customerId}` : ""}`;
  }
}
