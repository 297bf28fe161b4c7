// The requests and responses of the calls that only a site's server makes. docs/contract.md describes each member.

import type { VisitorEvent } from "../client-types.js";
import type { VisitorProfile } from "../visitor-profile.js";

export type {
  ChatConfig,
  ChatMessage,
  MessageList,
  Presence,
  SendResult,
  TrackResult,
  VisitorEvent,
} from "../client-types.js";
export type { VisitorProfile } from "../visitor-profile.js";

/** A visitor's message. */
export interface SendMessage {
  /** 1 to 4,000 characters. */
  message: string;
  /** Without it, a new conversation begins. */
  conversationId?: string | null;
  /** BCP 47. */
  locale?: string;
  /** The path of the page. */
  sourcePage?: string;
  visitor?: VisitorProfile;
}

/** A visitor event that names its visitor. */
export interface ServerVisitorEvent extends VisitorEvent {
  visitorId?: string;
}

/** The exchange of a license code for the site token. */
export interface Activation {
  licenseCode: string;
  /** The site's origin, such as `https://shop.example`. */
  domain: string;
  platform?: string;
  siteName?: string;
  primaryLocale?: string;
  supportedLocales?: string[];
}

/** The result of an activation. Keep the token on the server. */
export interface ActivatedSite {
  token: string;
  siteId?: string | undefined;
  tenantId?: string | undefined;
}

export interface SiteStatus {
  tenantId?: string;
  siteId?: string;
  siteName?: string;
  domain?: string;
  status?: string;
  tracking?: "enabled" | "disabled" | (string & {});
  [member: string]: unknown;
}

/** One page, article, product or category of the site. */
export interface ContentItem {
  /** The site's own id of the content. */
  externalId: string;
  type: "page" | "article" | "product" | "category" | (string & {});
  locale?: string;
  path?: string;
  url?: string;
  title?: string;
  summary?: string;
  /** HTML or plain text. */
  content?: string;
  /** An extension of ours: whether `summary` and `content` are plain text, in which nothing is markup. */
  format?: "text" | "html" | (string & {});
  /** ISO 8601. */
  updatedAt?: string;
  deleted?: boolean;
  data?: Record<string, unknown>;
}

/** One page of a content snapshot. */
export interface ContentPage {
  /** The same in all pages of a snapshot. */
  snapshotId: string;
  /** The number of the page, from 1. */
  page: number;
  /** Whether this is the last page: the service then removes the items on none of the pages. */
  complete?: boolean;
  /** 1 to 100 items; the last page may have none. */
  items: ContentItem[];
}

export interface SyncReceipt {
  accepted?: number;
  rejected?: number;
  removed?: number;
}

/** Changes of a page's head. An overlay never has raw HTML. */
export interface Overlay {
  id?: string;
  path?: string;
  locale?: string;
  title?: string;
  description?: string;
  canonicalUrl?: string;
  robots?: string;
  /** By property, without `og:`. */
  openGraph?: Record<string, string>;
  /** JSON-LD. */
  structuredData?: object[];
  updatedAt?: string;
}

export interface OverlayList {
  overlays: Overlay[];
  /** The version of the list, if the service names one. */
  etag?: string;
  /** Whether the list is the one of the given `etag`; `overlays` is empty then. */
  isUnchanged?: boolean;
}

/** A job of the site. */
export interface Job {
  id: string;
  type:
    | "sync_content"
    | "publish_article"
    | "delete_article"
    | "rollback_article"
    | "apply_seo_overlay"
    | (string & {});
  status?: string;
  title?: string;
  attempts?: number;
  maxAttempts?: number;
  /** ISO 8601. Report the result before then. */
  leaseUntil?: string;
  payload?: Record<string, unknown>;
  createdAt?: string;
  updatedAt?: string;
  completedAt?: string;
}

/** A claimed job, whose result must be reported with its claim token. */
export interface ClaimedJob extends Job {
  claimToken: string;
}

export interface Claim {
  siteId?: string;
  /** `null` if nothing can be claimed. */
  job: ClaimedJob | null;
}

/** The result of a job on the site. */
export interface JobResult {
  externalId?: string;
  url?: string;
  path?: string;
  status?: string;
  message?: string;
  data?: Record<string, unknown>;
}

/** The outcome of a job. */
export type Completion = { claimToken: string } & (
  | { ok: true; result?: JobResult }
  | {
      ok: false;
      error?: string;
      /** An extension of ours: whether every other attempt would fail as well. */
      permanent?: boolean;
    }
);
