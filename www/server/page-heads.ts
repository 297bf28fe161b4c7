// The page heads of a site: what jobs have stored, and what the service lists, within bounds, and never at a page's expense.

import type { ServerConnectorClient } from "./client.js";
import type { HandlerResult } from "./job-handler.js";
import { type JournalStore, keyOf, readJson, sha256 } from "./journal-store.js";
import { hasContent, type PageOverlay, readOverlay } from "./overlay.js";
import { PageHead } from "./page-head.js";
import { timeLimit, withDefaults } from "./settings.js";

/** The settings of page heads. */
export interface PageHeadsOptions {
  client: ServerConnectorClient;
  /** Keeps the page heads of jobs, for all processes of the site, also while the service is away. */
  journal?: JournalStore;
  /** The time for which the service's list is used without asking again, in milliseconds; 60,000 by default. */
  freshMs?: number;
  /** The time for which a stored page head is used without reading it again, in milliseconds; 2,000 by default. */
  storedMs?: number;
  /** The maximum time that a page waits for its head, in milliseconds; 1,000 by default. Then it stays as it is. */
  waitMs?: number;
}

const DEFAULTS = { freshMs: 60_000, storedMs: 2000, waitMs: 1000 };
/** Maximum overlays of the service, and stored page heads, in memory. */
const MAX_LISTED = 10_000;
const MAX_READ = 1000;
/** The time for which a journal that did not answer counts as slow, and how long a page waits for a slow one, in milliseconds. */
const SLOW_MS = 60_000;
const SLOW_WAIT_MS = 10;
/** Maximum characters of a path that has a page head. */
const MAX_PATH = 2000;

/** Overlays of one page by their locale in lower case; empty for all locales. */
type ByLocale = Map<string, PageOverlay>;

/** Returns a path as it is compared: without query and fragment, decoded, and without a slash at its end. */
function pageOf(path: string): string {
  const plain = path.replace(/[?#].*$/s, "");
  let decoded = plain;
  try {
    decoded = decodeURIComponent(plain);
  } catch {
    // Not one of a browser.
  }
  return decoded.length > 1 ? decoded.replace(/\/+$/, "") || "/" : decoded;
}

const localeOf = (overlay: PageOverlay) => overlay.locale?.toLowerCase() ?? "";

/** Returns the overlay for a locale: its own, or else that of all locales, or the only one. */
function choose(overlays: ByLocale | undefined, locale: string | undefined): PageOverlay | undefined {
  if (overlays === undefined) return undefined;
  if (locale === undefined) return overlays.get("") ?? overlays.values().next().value;
  const wanted = locale.toLowerCase();
  return overlays.get(wanted) ?? overlays.get(wanted.split("-")[0]!) ?? overlays.get("");
}

/** Returns the value of a promise, or `undefined` if it rejects or takes longer than `ms`. */
async function inTime<Data>(promise: Promise<Data>, ms: number): Promise<Data | undefined> {
  if (ms <= 0) {
    promise.catch(() => {});
    return undefined;
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The page heads of a site. One for a process. */
export class PageHeads {
  readonly #client: ServerConnectorClient;
  readonly #journal: JournalStore | undefined;
  readonly #settings: typeof DEFAULTS;
  #listed = new Map<string, ByLocale>();
  #etag: string | undefined;
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;
  #startedAt = 0;
  #slowUntil = 0;
  /** What was read of the journal, most recently used last. */
  readonly #read = new Map<string, { overlays: Promise<ByLocale | undefined>; at: number }>();

  constructor({ client, journal, ...settings }: PageHeadsOptions) {
    this.#client = client;
    this.#journal = journal;
    this.#settings = withDefaults(DEFAULTS, settings);
    for (const [name, value] of Object.entries(this.#settings)) timeLimit(name, value);
  }

  /**
   * Returns the head of a page by its path, for a locale. It never fails: without an answer in time, the page stays as it
   * is. While the service is away, the last list is used.
   */
  async headFor(path: string, locale?: string): Promise<PageHead> {
    if (path.length > MAX_PATH) return new PageHead();
    const page = pageOf(path);
    if (performance.now() - this.#listedAt >= this.#settings.freshMs) {
      const listed = this.refresh();
      // With a list in memory, no page waits for the next one, and none waits for a service that has not answered in time.
      const left = this.#listedAt === Number.NEGATIVE_INFINITY ? this.#startedAt + this.#settings.waitMs : 0;
      await inTime(listed, Math.max(0, left - performance.now()));
    }
    return new PageHead(choose(await this.#storedInTime(page), locale) ?? choose(this.#listed.get(page), locale));
  }

  /** Asks the service for its list. A failure leaves the last list as it is, and is tried again after `freshMs`. */
  refresh(): Promise<void> {
    if (this.#listing === undefined) {
      this.#startedAt = performance.now();
      this.#listing = this.#list().finally(() => {
        this.#listing = undefined;
        this.#listedAt = performance.now();
      });
    }
    return this.#listing;
  }

  async #list(): Promise<void> {
    const list = await this.#client.listSeoOverlays({}, this.#etag === undefined ? {} : { etag: this.#etag });
    if (list.isUnchanged) return;
    const listed = new Map<string, ByLocale>();
    for (const sent of list.overlays.slice(0, MAX_LISTED)) {
      const overlay = readOverlay(sent);
      if (overlay === undefined) continue;
      const page = pageOf(overlay.path);
      listed.set(page, (listed.get(page) ?? new Map()).set(localeOf(overlay), overlay));
    }
    this.#listed = listed;
    this.#etag = list.etag;
  }

  /**
   * Stores the overlay of a job, for `applySeoOverlay` of a handler. One without content takes the earlier one back. Without
   * a journal, the service's list must have it.
   */
  async apply(overlay: PageOverlay): Promise<HandlerResult> {
    const result: HandlerResult = { path: overlay.path, status: hasContent(overlay) ? "applied" : "removed" };
    if (this.#journal === undefined) {
      await this.refresh();
      return result;
    }
    const page = pageOf(overlay.path);
    const before = await this.#fromJournal(page);
    const after: ByLocale = new Map(before).set(localeOf(overlay), overlay);
    await this.#store(page, after);
    const isRepeated = JSON.stringify(before?.get(localeOf(overlay))) === JSON.stringify(overlay);
    return isRepeated ? result : { ...result, undo: () => this.#store(page, before) };
  }

  async #keyOf(page: string): Promise<string> {
    return `head/${await keyOf(await sha256(page))}`;
  }

  async #store(page: string, overlays: ByLocale | undefined): Promise<void> {
    const key = await this.#keyOf(page);
    if (overlays === undefined) await this.#journal!.delete(key);
    else await this.#journal!.set(key, JSON.stringify([...overlays.values()]));
    this.#read.delete(page);
  }

  async #fromJournal(page: string): Promise<ByLocale | undefined> {
    const stored = await readJson<unknown>(this.#journal!, await this.#keyOf(page));
    if (!Array.isArray(stored)) return undefined;
    const overlays = stored.map(readOverlay).filter((overlay) => overlay !== undefined);
    return new Map(overlays.map((overlay) => [localeOf(overlay), overlay]));
  }

  /** Returns what the journal has. While it does not answer, only one page in a minute waits for it. */
  async #storedInTime(page: string): Promise<ByLocale | undefined> {
    let isLate = true;
    const read = this.#stored(page).finally(() => {
      isLate = false;
    });
    const isSlow = performance.now() < this.#slowUntil;
    const stored = await inTime(read, isSlow ? SLOW_WAIT_MS : this.#settings.waitMs);
    if (isLate && !isSlow) this.#slowUntil = performance.now() + SLOW_MS;
    return stored;
  }

  async #stored(page: string): Promise<ByLocale | undefined> {
    if (this.#journal === undefined) return undefined;
    const known = this.#read.get(page);
    const now = performance.now();
    if (known !== undefined && now - known.at < this.#settings.storedMs) return known.overlays;
    // Until it is read again, and if it cannot be: what was read before.
    const overlays = this.#fromJournal(page).catch(() => known?.overlays);
    this.#read.delete(page);
    this.#read.set(page, { overlays, at: now });
    if (this.#read.size > MAX_READ) this.#read.delete(this.#read.keys().next().value!);
    return overlays;
  }
}
