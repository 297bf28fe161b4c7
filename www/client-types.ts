// The options, responses and events of `BrowserWidgetClient`.

import type { VisitorProfile } from "./visitor-profile.js";
import type { VisitorToken } from "./visitor-token.js";

export type { VisitorToken };

/** The options of a client. */
export interface BrowserWidgetClientOptions {
  /** Prefix of the proxy on the customer's site, such as `/connector`; no other address is ever called. A proxy on
   * another origin needs the full address: `https://api.example/connector`. */
  proxy: string;
  /** The site's own identifier of the visitor. Each has a separate conversation. */
  customerId?: string;
  /** The token by which the site proves who the visitor is, or a function that returns one: it is called again after the
   * service has refused its last token. Without it, the visitor is unverified, unless the proxy signs a token. */
  visitorToken?: VisitorToken | (() => VisitorToken | Promise<VisitorToken>);
  /** Timeout of one attempt in milliseconds; 30,000 by default. */
  timeout?: number;
  /** Maximum repetitions of a call after a transient error, with back-off or after `Retry-After`; 3 by default. */
  retries?: number;
}

/** The options of a message. */
export interface SendOptions {
  /** BCP 47: the language of the message. */
  locale?: string;
  /** The path of the page; the current one by default. */
  sourcePage?: string;
  /** The visitor's profile without the stable id, which the client adds. */
  visitor?: Omit<VisitorProfile, "visitorId">;
  /** `ChatWidgetError.idempotencyKey` of a failed call: repeats that message with the same body. */
  idempotencyKey?: string;
}

/** The response to `getChatConfig()`. */
export interface ChatConfig {
  tenantId?: string;
  siteId?: string;
  config: {
    enabled?: boolean;
    widgetEnabled?: boolean;
    /** `false` if only people answer. An extension of our service. */
    aiAnswers?: boolean;
    /** `false` if only the AI answers. An extension of our service. */
    peopleAnswer?: boolean;
    /** How fast people usually answer, in words. An extension of our service. */
    usualReply?: string;
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
  /** The operator who wrote it. An extension of our service. */
  author?: { name?: string };
}

/** The response to `sendMessage()`. */
export interface SendResult {
  conversationId: string;
  userMessageId?: string;
  /** The reply, if the service has one already. */
  message?: ChatMessage | null;
  provider?: string;
  usedFallback?: boolean;
  /** What became of the message: `could_not_answer` if only a person can answer it. An extension of our service. */
  outcome?: "answered" | "small_talk" | "could_not_answer" | "refused" | "failed" | (string & {});
  aiStatus?: "ok" | "provider_error" | "quota_insufficient" | "blocked" | (string & {});
  aiStatusMessage?: string;
  locale?: string;
  blocked?: boolean;
  lead?: { score?: number; hasContact?: boolean; needsHandoff?: boolean; summary?: string };
}

/** The response to `listMessages()`. */
export interface MessageList {
  conversationId?: string;
  messages: ChatMessage[];
  /** Pass it to the next call. */
  nextAfter?: string;
  /** The operator who is writing to the visitor. An extension of our service. */
  operatorTyping?: { name?: string };
}

/** The response to `getPresence()`. */
export interface Presence {
  operatorOnline?: boolean;
  operatorActiveSessions?: number;
  operatorLastSeenAt?: string | null;
  shouldPollMessages?: boolean;
  suggestedPresenceIntervalMs?: number;
  suggestedMessageIntervalMs?: number;
}

/** An action of the visitor. */
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

/** The response to `track()`. */
export interface TrackResult {
  accepted: number;
  rejected: number;
  tracking?: "enabled" | "disabled" | (string & {});
}
