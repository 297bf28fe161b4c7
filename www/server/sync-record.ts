// The items that the service has, with the digest of each, in the journal's store.

import type { JournalStore } from "./journal-store.js";
import { readJson } from "./journal-store.js";
import type { ContentItem } from "./types.js";

const PREFIX = "sync/";
/** Maximum items of a segment, and characters of its JSON. Some databases keep no more than 64 KiB. */
const SEGMENT_ITEMS = 100;
const SEGMENT_CHARACTERS = 16_000;

/** The names of an item, and its digest; an item that was removed has an empty one. */
type Entry = [type: string, externalId: string, locale: string, digest: string];

/** Returns the name by which an item is known: its kind, its id and its language. */
export const nameOf = ({ type, externalId, locale }: ContentItem) => JSON.stringify([type, externalId, locale ?? ""]);

const isEntry = (entry: unknown): entry is Entry =>
  Array.isArray(entry) && entry.length === 4 && entry.every((text) => typeof text === "string");

/**
 * A record in segments. Each page that the service has accepted adds a segment, and a later segment counts more than an
 * earlier one.
 */
export class SyncRecord {
  readonly #store: JournalStore;
  readonly #digests = new Map<string, string>();
  #segments: number[] = [];

  private constructor(store: JournalStore) {
    this.#store = store;
  }

  static async read(store: JournalStore): Promise<SyncRecord> {
    const record = new SyncRecord(store);
    const numbers = Array.from(await store.list(PREFIX), (key) => Number(key.slice(PREFIX.length)));
    record.#segments = numbers.filter(Number.isSafeInteger).sort((one, other) => one - other);
    for (const number of record.#segments) {
      const entries = await readJson<unknown>(store, PREFIX + number);
      if (Array.isArray(entries)) record.#take(entries.filter(isEntry));
    }
    return record;
  }

  /** The names of the items that the service has. */
  get names(): string[] {
    return [...this.#digests.keys()];
  }

  digestOf(name: string): string | undefined {
    return this.#digests.get(name);
  }

  /** Records a page that the service has accepted, with the digests of its items. */
  async remember(items: ContentItem[], digestOf: (item: ContentItem) => string): Promise<void> {
    const entries = items.map((item): Entry => {
      const digest = item.deleted ? "" : digestOf(item);
      return [item.type, item.externalId, item.locale ?? "", digest];
    });
    this.#take(entries);
    await this.#write(entries);
  }

  /** Forgets items that the service no longer has. */
  async forget(names: string[]): Promise<void> {
    const entries = names.map((name): Entry => [...(JSON.parse(name) as [string, string, string]), ""]);
    this.#take(entries);
    await this.#write(entries);
  }

  /** Writes the segments anew if most of them are obsolete. The old ones are deleted once the new ones are there. */
  async compact(): Promise<void> {
    const old = this.#segments;
    if (old.length <= 2 * Math.ceil(this.#digests.size / SEGMENT_ITEMS) + 10) return;
    const entries = [...this.#digests].map(
      ([name, digest]): Entry => [...(JSON.parse(name) as [string, string, string]), digest],
    );
    this.#segments = old.slice(-1);
    await this.#write(entries);
    // From the earliest on: a later one may take back what an earlier one says.
    for (const number of old) await this.#store.delete(PREFIX + number);
    this.#segments = this.#segments.filter((number) => !old.includes(number));
  }

  #take(entries: Entry[]): void {
    for (const [type, externalId, locale, digest] of entries) {
      const name = JSON.stringify([type, externalId, locale]);
      if (digest === "") this.#digests.delete(name);
      else this.#digests.set(name, digest);
    }
  }

  /** Writes entries into new segments. */
  async #write(entries: Entry[]): Promise<void> {
    for (let at = 0; at < entries.length; ) {
      let end = at;
      let size = 0;
      do {
        size += JSON.stringify(entries[end]).length;
        end += 1;
      } while (end < entries.length && end - at < SEGMENT_ITEMS && size < SEGMENT_CHARACTERS);
      const number = (this.#segments.at(-1) ?? 0) + 1;
      await this.#store.set(PREFIX + number, JSON.stringify(entries.slice(at, end)));
      this.#segments.push(number);
      at = end;
    }
  }
}
