// The time that a job may take, counted from before its claim was sent, so that the clocks of service and site need not agree.

import type { ClaimedJob } from "./types.js";

/** The time before the end of the lease by which a job must be done, in milliseconds. */
const MARGIN_MS = 5000;
/** The time limit of a job without a lease, and the maximum of any lease, in milliseconds. */
const DEFAULT_LEASE_MS = 60_000;
const MAX_LEASE_MS = 24 * 60 * 60 * 1000;

/** Returns the deadline of a job on the clock of `performance.now()`, by which its claim was sent at `claimedAt`. */
export function deadlineOf({ leaseUntil, updatedAt }: ClaimedJob, claimedAt: number): number {
  const time = (text: unknown) => (typeof text === "string" ? Date.parse(text) : Number.NaN);
  const since = performance.now() - claimedAt;
  const until = time(leaseUntil);
  const from = Number.isNaN(time(updatedAt)) ? Date.now() - since : time(updatedAt);
  const lease = Number.isNaN(until) ? DEFAULT_LEASE_MS : Math.max(0, Math.min(MAX_LEASE_MS, until - from));
  // A lease shorter than the margin leaves half of itself for the work.
  return claimedAt + lease - Math.min(MARGIN_MS, lease / 2);
}
