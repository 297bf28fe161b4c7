// The rate limit of each client: a token bucket.

/** The rate limit of one client. */
export interface ClientRate {
  /** Requests a minute, on average. */
  perMinute: number;
  /** Maximum requests in a burst. */
  burst: number;
}

/** Maximum clients that are counted; the one that was idle longest is forgotten. */
const MAX_CLIENTS = 10_000;

/** Counts requests by client. */
export class ClientLimiter {
  readonly #rate: ClientRate;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(rate: ClientRate) {
    this.#rate = rate;
  }

  /** Counts a request of a client. Returns the seconds to wait; 0 if the request is accepted. */
  take(client: string, now = performance.now()): number {
    const { perMinute, burst } = this.#rate;
    const { left, at } = this.#buckets.get(client) ?? { left: burst, at: now };
    const filled = Math.min(burst, left + ((now - at) * perMinute) / 60_000);
    const isAccepted = filled >= 1;
    // Inserted again, so that the map is in the order of use.
    this.#buckets.delete(client);
    this.#buckets.set(client, { left: isAccepted ? filled - 1 : filled, at: now });
    if (this.#buckets.size > MAX_CLIENTS) this.#buckets.delete(this.#buckets.keys().next().value!);
    return isAccepted ? 0 : Math.ceil(((1 - filled) * 60) / perMinute);
  }
}
