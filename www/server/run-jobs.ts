// The loop that claims, executes and reports jobs: each once, with a journal that survives the process.

import type { ServerConnectorClient } from "./client.js";
import { ConnectorError, printable } from "./connector-error.js";
import { execute } from "./job-execution.js";
import type { JobHandler } from "./job-handler.js";
import { JobJournal } from "./job-journal.js";
import { deadlineOf } from "./job-lease.js";
import type { JournalStore } from "./journal-store.js";
import type { PublicSite } from "./public-page.js";
import { MAX_LOCK_MS, RunnerLock } from "./runner-lock.js";
import { HandlerStuck, RunnerStopped } from "./runner-stopped.js";
import { atLeastOne, timeLimit } from "./settings.js";
import { sleep } from "./sleep.js";
import type { ClaimedJob, Completion } from "./types.js";

/** Maximum consecutive claims of known jobs before a run ends. */
const MAX_REPEATS = 5;
/** The delays after failed claims while a run waits for jobs, in milliseconds; each is twice the one before. */
const RETRY_MS = 5000;
const MAX_RETRY_MS = 5 * 60 * 1000;
/** The time that a handler has to stop at the end of its lease, in milliseconds. */
const GRACE_MS = 30_000;

/** The settings of a run. */
export interface RunOptions {
  client: ServerConnectorClient;
  /** The journal: `fileJournal`, `databaseJournal` or `keyValueJournal`. */
  journal: JournalStore;
  /** The public site. With it, a job succeeds only if visitors see what it did. */
  site?: PublicSite;
  /** Claims again after this time when there is no job, in milliseconds, until `signal` aborts. Without it, the run ends. */
  intervalMs?: number;
  /** The time after which no further job is claimed, in milliseconds. */
  maxMs?: number;
  /** Ends the run when the job in progress is reported. */
  signal?: AbortSignal;
  /** The time after which a killed runner no longer holds the journal, in milliseconds; 15,000 by default. */
  lockMs?: number;
  /** The time that a handler has to stop at the end of its lease, in milliseconds; 30,000 by default. Then the run fails. */
  graceMs?: number;
  /** Is called before each step with its name and the id of the job, for logs and tests. */
  onStep?: (step: string, jobId: string) => void;
  /** Receives a line when a claim or a report has failed; `console.warn` by default. */
  log?: (line: string) => void;
}

/** The totals of a run. */
export interface RunSummary {
  succeeded: number;
  failed: number;
  /** Reports that the service has not accepted yet; they are in the journal. */
  unreported: number;
}

/** Whether all further claims would fail as well: the token, the origin or the request is invalid. */
const isFinal = ({ kind, status }: ConnectorError) =>
  kind === "setup" || kind === "aborted" || [400, 401, 403, 404, 405].includes(status ?? 0);

/**
 * Claims jobs, passes each to the handler, looks at the public page, and reports the outcome, until there is no job. Returns
 * `undefined` if another runner holds the journal. A job that is claimed again after a crash or a lost report is reported
 * again, and not executed again.
 *
 * @throws {ConnectorError} if the service cannot be reached or refuses all claims.
 */
export async function runJobs(handler: JobHandler, options: RunOptions): Promise<RunSummary | undefined> {
  const { intervalMs, signal, lockMs = 15_000, maxMs = Number.POSITIVE_INFINITY } = options;
  atLeastOne("lockMs", lockMs, MAX_LOCK_MS);
  timeLimit("graceMs", options.graceMs ?? GRACE_MS);
  if (intervalMs !== undefined) timeLimit("intervalMs", intervalMs);
  const until = performance.now() + maxMs;
  const total: RunSummary = { succeeded: 0, failed: 0, unreported: 0 };
  let isAlone = true;
  for (;;) {
    const lock = await RunnerLock.take(options.journal, "lock", lockMs);
    isAlone = lock !== undefined;
    if (lock !== undefined) {
      const renewal = setInterval(() => lock.isHeld().catch(() => {}), lockMs / 4);
      let isStuck = false;
      try {
        await new Run(handler, options, lock, total).untilEmpty(until);
      } catch (error) {
        isStuck = error instanceof HandlerStuck;
        if (intervalMs === undefined || !(error instanceof RunnerStopped)) throw error;
        (options.log ?? console.warn)(error.message);
      } finally {
        clearInterval(renewal);
        // Until the end of the lock, this process has the time to end.
        if (!isStuck) await lock.release();
      }
    }
    if (intervalMs === undefined || signal?.aborted || performance.now() >= until) return isAlone ? total : undefined;
    await sleep(intervalMs, signal);
    if (signal?.aborted) return total;
  }
}

/** The work of one runner while it holds the journal. */
class Run {
  readonly #handler: JobHandler;
  readonly #options: RunOptions;
  readonly #lock: RunnerLock;
  readonly #total: RunSummary;
  readonly #journal: JobJournal;
  readonly #log: (line: string) => void;

  constructor(handler: JobHandler, options: RunOptions, lock: RunnerLock, total: RunSummary) {
    this.#handler = handler;
    this.#options = options;
    this.#lock = lock;
    this.#total = total;
    this.#journal = new JobJournal(options.journal);
    this.#log = options.log ?? console.warn;
  }

  async untilEmpty(until: number): Promise<void> {
    const { client, intervalMs, signal } = this.#options;
    const known = new Set<string>();
    let repeats = 0;
    let failures = 0;
    await this.#reportPending();
    while (performance.now() < until && repeats < MAX_REPEATS && !signal?.aborted) {
      const claimedAt = performance.now();
      this.#observe("claim", "");
      let job: ClaimedJob | null;
      try {
        ({ job } = await client.claimNextJob({ signal }));
        failures = 0;
      } catch (error) {
        if (signal?.aborted) break;
        if (intervalMs === undefined || !(error instanceof ConnectorError) || isFinal(error)) throw error;
        this.#log(`claiming a job failed: ${error.message}`);
        failures += 1;
        await sleep(Math.max(Math.min(RETRY_MS * 2 ** failures, MAX_RETRY_MS), error.retryAfterMs ?? 0), signal);
        continue;
      }
      if (job === null) break;
      repeats = known.has(job.id) ? repeats + 1 : 0;
      known.add(job.id);
      await this.#process(job, claimedAt);
    }
    this.#total.unreported = (await this.#journal.unreported()).length;
    await this.#journal.forget();
  }

  async #process(job: ClaimedJob, claimedAt: number): Promise<void> {
    const result = await this.#journal.done(job.id);
    let report: Completion = { ok: true, claimToken: job.claimToken, ...(result && { result }) };
    if (result === undefined) {
      const deadline = deadlineOf(job, claimedAt);
      // Until the next claim: there is no time left for it.
      if (performance.now() >= deadline) return;
      report = await execute(job, {
        handler: this.#handler,
        journal: this.#journal,
        site: this.#options.site,
        deadline,
        graceMs: this.#options.graceMs ?? GRACE_MS,
        observe: (step) => this.#observe(step, job.id),
        isHeld: () => this.#lock.isHeld(),
      });
      this.#total[report.ok ? "succeeded" : "failed"] += 1;
    }
    this.#observe("journal", job.id);
    if (!(await this.#lock.isHeld())) throw new RunnerStopped();
    await this.#journal.recordExecuted(job.id, report);
    await this.#reportPending();
  }

  /** Sends all pending reports, each with its original key and claim token. */
  async #reportPending(): Promise<void> {
    for (const job of await this.#journal.unreported()) {
      this.#observe("report", job.id);
      try {
        await this.#options.client.completeJob(job.id, job.report);
      } catch (error) {
        if (!(error instanceof ConnectorError)) throw error;
        this.#log(`reporting the job ${printable(job.id)} failed: ${error.message}`);
        if (error.retryable) continue;
      }
      this.#observe("reported", job.id);
      await this.#journal.recordReported(job);
    }
  }

  #observe(step: string, job: string): void {
    this.#options.onStep?.(step, job);
  }
}
