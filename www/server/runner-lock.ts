// One runner at a time: a lock in the journal that its holder renews, and that ends by itself when the holder is killed.

import { type JournalStore, readJson } from "./journal-store.js";
import { randomId } from "./keys.js";

/** Maximum time of a lock, in milliseconds. */
export const MAX_LOCK_MS = 5 * 60 * 1000;

/** A generation of the lock. It is never deleted while it is the latest, so that its number is used once. */
interface Generation {
  owner: string;
  /** In milliseconds since 1970. */
  until: number;
}

async function numbersOf(store: JournalStore, name: string): Promise<number[]> {
  const prefix = `${name}/`;
  const numbers = Array.from(await store.list(prefix), (key) => Number(key.slice(prefix.length)));
  return numbers.filter(Number.isSafeInteger);
}

const isKept = (found: unknown): found is Generation =>
  typeof found === "object" && found !== null && typeof (found as Generation).until === "number";

/**
 * The lock of a journal. Each runner that takes it creates the next generation, and a runner holds it only while its own
 * generation is the latest. The clocks of the runners' machines must agree by less than a quarter of the lock's time.
 */
export class RunnerLock {
  readonly #store: JournalStore;
  readonly #name: string;
  readonly #number: number;
  readonly #ttlMs: number;
  readonly #owner: string;
  #until: number;
  #renewal: Promise<boolean> | undefined;

  private constructor(store: JournalStore, name: string, number: number, ttlMs: number, mine: Generation) {
    this.#store = store;
    this.#name = name;
    this.#number = number;
    this.#ttlMs = ttlMs;
    this.#owner = mine.owner;
    this.#until = mine.until;
  }

  /** Takes the lock with a name for a time; `undefined` if another runner holds it. */
  static async take(store: JournalStore, name: string, ttlMs: number): Promise<RunnerLock | undefined> {
    const numbers = await numbersOf(store, name);
    const last = Math.max(0, ...numbers);
    const held = last > 0 ? await readJson(store, `${name}/${last}`) : undefined;
    // A clock that was set back must not keep the lock for ever.
    if (isKept(held) && held.until > Date.now() && held.until <= Date.now() + 2 * MAX_LOCK_MS) return undefined;
    const mine: Generation = { owner: randomId(), until: Date.now() + ttlMs };
    if (!(await store.create(`${name}/${last + 1}`, JSON.stringify(mine)))) return undefined;
    for (const number of numbers) await store.delete(`${name}/${number}`);
    return new RunnerLock(store, name, last + 1, ttlMs, mine);
  }

  /** Returns whether this runner still holds the lock, and renews it. A runner that was stopped for too long has lost it. */
  isHeld(): Promise<boolean> {
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renew(): Promise<boolean> {
    if (Math.max(...(await numbersOf(this.#store, this.#name)), 0) !== this.#number) this.#until = 0;
    // Near its end another runner may be taking it.
    if (Date.now() >= this.#until - this.#ttlMs / 4) {
      this.#until = 0;
      return false;
    }
    const until = Date.now() + this.#ttlMs;
    await this.#write(until);
    this.#until = until;
    return true;
  }

  /** Ends the lock, unless it was lost. */
  async release(): Promise<void> {
    if (await this.isHeld()) await this.#write(0);
  }

  async #write(until: number): Promise<void> {
    await this.#store.set(`${this.#name}/${this.#number}`, JSON.stringify({ owner: this.#owner, until }));
  }
}
