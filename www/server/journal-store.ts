// The store below the journal of jobs and the record of a sync: texts by their keys, in any store that has five calls.

/**
 * A store of texts by their keys. Each call is atomic, and a write is durable once its promise is fulfilled. A store that
 * may answer with an older value, such as Workers KV, cannot keep a journal.
 */
export interface JournalStore {
  get(key: string): Promise<string | null | undefined>;
  set(key: string, value: string): Promise<unknown>;
  /** Stores a value unless the key has one. Returns whether it has. Of two calls at the same time, one succeeds. */
  create(key: string, value: string): Promise<boolean>;
  delete(key: string): Promise<unknown>;
  /** Returns the keys that begin with a prefix. */
  list(prefix: string): Promise<Iterable<string>>;
}

/** Returns a journal in a key-value store, such as Redis or Deno KV. All of its keys begin with `prefix`. */
export function keyValueJournal(store: JournalStore, prefix = "site-connector/"): JournalStore {
  return {
    get: (key) => store.get(prefix + key),
    set: (key, value) => store.set(prefix + key, value),
    create: (key, value) => store.create(prefix + key, value),
    delete: (key) => store.delete(prefix + key),
    list: async (begin) => Array.from(await store.list(prefix + begin), (key) => key.slice(prefix.length)),
  };
}

/** Returns the SHA-256 of a text in hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns an id as a part of a key: as it is, or its digest if it is long or could equal another's in some store. No id is
 * taken for a digest, as it would have no colon. */
export const keyOf = async (id: string) => (/^[a-z0-9_-]{1,120}$/.test(id) ? id : `sha256:${await sha256(id)}`);

/** Returns the stored JSON of a key; `undefined` if there is none, or if it is damaged. */
export async function readJson<Data>(store: JournalStore, key: string): Promise<Data | undefined> {
  const text = await store.get(key);
  if (text == null) return undefined;
  try {
    return (JSON.parse(text) ?? undefined) as Data | undefined;
  } catch {
    return undefined;
  }
}
