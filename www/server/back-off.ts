// Exponential back-off with full jitter, so that clients that failed together do not retry together.

/** The delays between attempts. */
export interface BackOff {
  /** Maximum attempts, including the first; 4 by default. */
  attempts: number;
  /** The upper bound of the first delay in milliseconds; it doubles with each attempt; 500 by default. */
  initialMs: number;
  /** Maximum upper bound of a delay in milliseconds; 20,000 by default. */
  maxMs: number;
  /** Maximum `Retry-After` to wait for in milliseconds; 60,000 by default. With a longer one the call fails, and the error
   * says how long to wait. */
  maxRetryAfterMs: number;
}

export const BACK_OFF: BackOff = { attempts: 4, initialMs: 500, maxMs: 20_000, maxRetryAfterMs: 60_000 };

/** Maximum delay that `Retry-After` can ask for; a longer one is reduced to it. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/** Returns the delay after a number of failed attempts, from 1; `undefined` when the call has failed for good. */
export function waitAfter(
  rules: BackOff,
  failed: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  if (failed >= rules.attempts) return undefined;
  const jittered = Math.min(rules.initialMs * 2 ** (failed - 1), rules.maxMs) * random();
  if (retryAfterMs === undefined) return jittered;
  // Not before the requested time, and not all clients at that time.
  return retryAfterMs > rules.maxRetryAfterMs ? undefined : retryAfterMs + Math.min(jittered, rules.initialMs);
}

/** Returns the delay of `Retry-After`, given in seconds or as a date, in milliseconds. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
  // `Date.parse` alone accepts nearly anything, such as `+5`.
  const date = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), MAX_RETRY_AFTER_MS);
}
