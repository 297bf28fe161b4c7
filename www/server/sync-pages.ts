// Pushes what changed on a site, and removes what is gone, once all was read.

import type { ServerConnectorClient } from "./client.js";
import { printable } from "./connector-error.js";
import { JobFailure } from "./job-handler.js";
import { type JournalStore, sha256 } from "./journal-store.js";
import { randomId } from "./keys.js";
import { RunnerLock } from "./runner-lock.js";
import { RunnerStopped } from "./runner-stopped.js";
import { MAX_PAGE_BYTES, pagesOf } from "./sync.js";
import { nameOf, SyncRecord } from "./sync-record.js";
import type { ContentItem } from "./types.js";

/** Maximum removals without confirmation, if they are at most a fifth of all items. */
const MAX_REMOVALS = 10;
/** Maximum skipped items that are listed. */
const MAX_LISTED = 100;
/** Maximum characters of an item's names. */
const MAX_NAME = 500;
const LOCK_MS = 15_000;

/** The settings of an incremental sync. */
export interface SyncPagesOptions {
  client: ServerConnectorClient;
  /** Keeps the digests of what the service has. */
  journal: JournalStore;
  /** Part of each page's key; a new one by default. */
  snapshotId?: string;
  /** Items of a page, 1 to 100; 50 by default. */
  pageSize?: number;
  /** Pushes all items, also those that did not change. The service then removes all others, also those of other programs. */
  isSnapshot?: boolean;
  /** The number of removals that were looked at and are right. Otherwise a sync that removes more than a fifth fails. */
  allowRemovals?: number;
  /** Stops the sync before the next page. Nothing is removed. */
  signal?: AbortSignal;
  /** Is called after each page with its number, for logs and tests. */
  onPage?: (page: number) => void;
}

/** An item that was not pushed. */
export interface SkippedItem {
  /** Its position, from 0. */
  index: number;
  externalId?: string;
  reason: string;
}

/** The result of an incremental sync. */
export interface SyncPagesResult {
  /** The number of items that were read. */
  items: number;
  pushed: number;
  removed: number;
  /** The number of items that the service has refused. They are pushed again by the next sync. */
  rejected: number;
  /** Items that cannot be pushed, the first 100. What the service has of them stays. */
  skipped: SkippedItem[];
}

/** Returns what is wrong with an item; `undefined` if it can be pushed. */
function problemOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return "it is not an object";
  const { externalId, type, locale } = item as Partial<ContentItem>;
  for (const [name, value] of Object.entries({ externalId, type, ...(locale != null && { locale }) }))
    if (typeof value !== "string" || value === "" || value.length > MAX_NAME)
      return `invalid ${name}: expected a text of 1 to ${MAX_NAME} characters`;
  return undefined;
}

/**
 * Pushes the items that changed since the last sync, and removes those that are gone. An iteration that fails makes the sync
 * fail, and removes nothing.
 *
 * @throws {JobFailure} if it would remove too many items, or if another sync is at work.
 */
export async function syncPages(
  items: Iterable<ContentItem> | AsyncIterable<ContentItem>,
  options: SyncPagesOptions,
): Promise<SyncPagesResult> {
  const lock = await RunnerLock.take(options.journal, "sync-lock", LOCK_MS);
  if (lock === undefined) throw new JobFailure("Another sync is at work.");
  const renewal = setInterval(() => lock.isHeld().catch(() => {}), LOCK_MS / 4);
  try {
    return await new Sync(options, await SyncRecord.read(options.journal), lock).run(items);
  } finally {
    clearInterval(renewal);
    await lock.release();
  }
}

class Sync {
  readonly #options: SyncPagesOptions;
  readonly #record: SyncRecord;
  readonly #lock: RunnerLock;
  readonly #result: SyncPagesResult = { items: 0, pushed: 0, removed: 0, rejected: 0, skipped: [] };
  readonly #digests = new WeakMap<ContentItem, string>();
  readonly #seen = new Set<string>();
  /** Whether items were skipped, some of them perhaps known. */
  #wasSkipped = false;
  #isAnySkippedNameless = false;

  constructor(options: SyncPagesOptions, record: SyncRecord, lock: RunnerLock) {
    this.#options = options;
    this.#record = record;
    this.#lock = lock;
  }

  async run(items: Iterable<ContentItem> | AsyncIterable<ContentItem>): Promise<SyncPagesResult> {
    const { client, snapshotId = `pages-${randomId()}`, pageSize, isSnapshot = false, onPage } = this.#options;
    let last = 0;
    const run = { snapshotId, complete: false, ...(pageSize !== undefined && { pageSize }) };
    for await (const page of pagesOf(this.#changes(items), run)) {
      await this.#goOn();
      const { rejected = 0 } = await client.syncContent(page);
      last = page.page;
      this.#result.rejected += rejected;
      this.#result.removed += page.items.filter(({ deleted }) => deleted).length;
      this.#result.pushed += page.items.filter(({ deleted }) => !deleted).length;
      // The service does not say which items it has refused.
      if (rejected === 0) await this.#record.remember(page.items, (item) => this.#digests.get(item)!);
      onPage?.(last);
    }
    if (isSnapshot && !this.#wasSkipped) {
      await this.#goOn();
      const page = { snapshotId, page: last + 1, complete: true, items: [] };
      const { removed = 0 } = await client.syncContent(page);
      this.#result.removed += removed;
      await this.#record.forget(this.#gone());
    }
    await this.#record.compact();
    return this.#result;
  }

  async #goOn(): Promise<void> {
    this.#options.signal?.throwIfAborted();
    if (!(await this.#lock.isHeld())) throw new RunnerStopped();
  }

  /** Returns the items to push: those that changed, and in the end those that are gone. */
  async *#changes(items: Iterable<ContentItem> | AsyncIterable<ContentItem>): AsyncGenerator<ContentItem> {
    let index = -1;
    for await (const item of items) {
      index += 1;
      this.#result.items += 1;
      this.#options.signal?.throwIfAborted();
      const problem = problemOf(item);
      if (problem !== undefined) {
        this.#isAnySkippedNameless = true;
        this.#skip(index, item, problem);
        continue;
      }
      const name = nameOf(item);
      if (this.#seen.has(name)) {
        this.#skip(index, item, "another item has the same type, externalId and locale");
        continue;
      }
      this.#seen.add(name);
      let json: string;
      try {
        json = JSON.stringify(item);
      } catch (error) {
        this.#skip(index, item, `it cannot be written as JSON: ${(error as Error).message}`);
        continue;
      }
      if (new TextEncoder().encode(json).length > MAX_PAGE_BYTES) {
        this.#skip(index, item, `it has more than ${MAX_PAGE_BYTES} bytes`);
        continue;
      }
      const digest = (await sha256(json)).slice(0, 32);
      if (!this.#options.isSnapshot && this.#record.digestOf(name) === digest) continue;
      this.#digests.set(item, digest);
      yield item;
    }
    yield* await this.#removals();
  }

  #skip(index: number, item: unknown, reason: string): void {
    this.#wasSkipped = true;
    const { externalId } = Object(item) as { externalId?: unknown };
    const named = typeof externalId === "string" ? { externalId: externalId.slice(0, MAX_NAME) } : {};
    if (this.#result.skipped.length < MAX_LISTED)
      this.#result.skipped.push({ index, ...named, reason: printable(reason) });
  }

  /** Returns the names of the items that the service has and the site has no longer. */
  #gone(): string[] {
    return this.#record.names.filter((name) => !this.#seen.has(name));
  }

  /** Returns the items to remove, unless the service does it with the end of a snapshot. Fails if they are too many. */
  async #removals(): Promise<ContentItem[]> {
    const { client, isSnapshot = false, allowRemovals = 0 } = this.#options;
    const endsSnapshot = isSnapshot && !this.#wasSkipped;
    // An item that cannot be read may be any of them.
    const gone = this.#isAnySkippedNameless ? [] : this.#gone();
    const known = this.#record.names.length;
    let removals = gone.length;
    let all = known;
    if (endsSnapshot) {
      const { contentItems } = await client.getSiteStatus();
      all = Math.max(known, typeof contentItems === "number" ? contentItems : 0);
      removals = Math.max(removals, all - this.#seen.size);
    }
    const isLarge = this.#seen.size === 0 || (removals > MAX_REMOVALS && removals > all / 5);
    if (removals > 0 && isLarge && removals > allowRemovals)
      throw new JobFailure(`The sync would remove ${removals} of ${all} items. Check the site, or allow it.`);
    if (endsSnapshot) return [];
    return gone.map((name) => {
      const [type, externalId, locale] = JSON.parse(name) as [string, string, string];
      return { type, externalId, ...(locale !== "" && { locale }), deleted: true };
    });
  }
}
