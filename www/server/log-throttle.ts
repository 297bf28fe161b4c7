// Failures that affect every visitor, logged at most once a minute.

const INTERVAL_MS = 60_000;

/** Logs a message at most once a minute, with the number of occurrences since. */
export class LogThrottle {
  readonly #log: (message: string) => void;
  #count = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(log: (message: string) => void) {
    this.#log = log;
  }

  record(message: string, now = performance.now()): void {
    this.#count += 1;
    if (now - this.#loggedAt < INTERVAL_MS) return;
    this.#log(this.#count > 1 ? `${message} (${this.#count} times)` : message);
    this.#count = 0;
    this.#loggedAt = now;
  }
}
