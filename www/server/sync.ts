// Pushes content of any length page by page, and resumes where it stopped.

import { ConnectorError } from "./connector-error.js";
import { jsonOf } from "./service.js";
import type { ContentItem, ContentPage, SyncReceipt } from "./types.js";

/** Maximum size of a page's items in bytes. The contract specifies none; most servers accept a megabyte. */
export const MAX_PAGE_BYTES = 1024 * 1024;
const MAX_PAGE_ITEMS = 100;

/** The settings of a sync of the site's content. */
export interface SyncRun {
  /** The snapshot's name, part of each page's key. A resumed sync uses the same name. */
  snapshotId: string;
  /** The first page to push, from 1. The items of earlier pages are skipped, so they must come in the same order as
   * before. */
  firstPage?: number;
  /** Items of a page, 1 to 100; 50 by default. */
  pageSize?: number;
  /** Whether the items are all of the site's content: then the service removes all others. True by default. */
  complete?: boolean;
  /** Called after each page. */
  onProgress?: (progress: SyncProgress) => void;
  signal?: AbortSignal;
}

/** The progress of a sync. */
export interface SyncProgress {
  /** The last page that was pushed; 0 before the first. */
  page: number;
  /** The number of items pushed. */
  items: number;
  /** The number of items that the service accepted; all that it did not reject, if it does not say. */
  accepted: number;
  rejected: number;
  removed: number;
}

/** A sync that stopped before its end, with the members of the error that stopped it. */
export class SyncStoppedError extends ConnectorError {
  override readonly name = "SyncStoppedError";

  constructor(
    error: ConnectorError,
    /** The snapshot's name. */
    readonly snapshotId: string,
    /** The page to resume with (`firstPage`). */
    readonly page: number,
    /** The progress before the error. */
    readonly progress: SyncProgress,
  ) {
    super(error.kind, `the sync of snapshot ${snapshotId} stopped at page ${page}: ${error.message}`, {
      ...error,
      cause: error,
    });
  }
}

const bytesOf = (item: ContentItem) => new TextEncoder().encode(jsonOf(item)).length;

/** Splits items into pages by number and size. The same items give the same pages, so that a sync can be resumed. */
export async function* pagesOf(
  items: Iterable<ContentItem> | AsyncIterable<ContentItem>,
  { snapshotId, pageSize = 50, complete = true }: SyncRun,
): AsyncGenerator<ContentPage> {
  const maxItems = Math.min(Math.max(Math.trunc(pageSize), 1), MAX_PAGE_ITEMS);
  let held: ContentItem[] = [];
  let bytes = 0;
  let page = 0;
  for await (const item of items) {
    const size = bytesOf(item);
    if (held.length === maxItems || (held.length > 0 && bytes + size > MAX_PAGE_BYTES)) {
      page += 1;
      yield { snapshotId, page, complete: false, items: held };
      held = [];
      bytes = 0;
    }
    held.push(item);
    bytes += size;
  }
  if (held.length > 0 || complete) yield { snapshotId, page: page + 1, complete, items: held };
}

/** Pushes items page by page. */
export async function pushPages(
  items: Iterable<ContentItem> | AsyncIterable<ContentItem>,
  run: SyncRun,
  push: (page: ContentPage) => Promise<SyncReceipt>,
): Promise<SyncProgress> {
  const progress: SyncProgress = { page: 0, items: 0, accepted: 0, rejected: 0, removed: 0 };
  for await (const page of pagesOf(items, run)) {
    if (page.page < (run.firstPage ?? 1)) {
      progress.page = page.page;
      continue;
    }
    const {
      accepted,
      rejected = 0,
      removed = 0,
    } = await push(page).catch((error: ConnectorError) => {
      throw new SyncStoppedError(error, run.snapshotId, page.page, { ...progress });
    });
    progress.page = page.page;
    progress.items += page.items.length;
    progress.accepted += accepted ?? page.items.length - rejected;
    progress.rejected += rejected;
    progress.removed += removed;
    run.onProgress?.({ ...progress });
  }
  return progress;
}
