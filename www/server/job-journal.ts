// The journal of jobs: which were begun, what their steps returned, which reports are pending, and which jobs were done.

import { type JournalStore, keyOf, readJson } from "./journal-store.js";
import type { Completion } from "./types.js";

/** Maximum jobs that are remembered; the oldest are forgotten first. */
const MAX_REMEMBERED = 10_000;
/** The number of jobs beyond the maximum at which the oldest are forgotten. */
const MAX_SURPLUS = 1000;
/** A job that was begun is forgotten after this time without a report, in milliseconds. */
const FORGOTTEN_MS = 30 * 24 * 60 * 60 * 1000;

type Result = NonNullable<Extract<Completion, { ok: true }>["result"]>;

/** A step of a job: begun, and ended with what it returned. */
export interface StepRecord {
  isDone: boolean;
  value?: unknown;
}

/** A job that was begun and not reported yet, or that failed. */
export interface OpenJob {
  id: string;
  steps: Record<string, StepRecord>;
  /** The pending report. */
  report?: Completion;
  /** In milliseconds since 1970. */
  at: number;
}

/** A job that was done, with what was reported. */
interface DoneJob {
  id: string;
  result: Result;
  at: number;
}

const byTime = <Entry extends { at: number }>(one: Entry, other: Entry) => one.at - other.at;

/**
 * The jobs in a store. `open/…` has the jobs in progress, and `done/…` those that succeeded: an entry of the second kind is
 * written before that of the first kind is deleted, so that a job is always in one of them.
 */
export class JobJournal {
  readonly #store: JournalStore;

  constructor(store: JournalStore) {
    this.#store = store;
  }

  /** Returns the result of a job that succeeded. */
  async done(id: string): Promise<Result | undefined> {
    const key = await keyOf(id);
    const done = await readJson<DoneJob>(this.#store, `done/${key}`);
    if (done) return done.result;
    const open = await readJson<OpenJob>(this.#store, `open/${key}`);
    return open?.report?.ok ? (open.report.result ?? {}) : undefined;
  }

  /** Returns a job that is about to be executed, with the steps of earlier runs. */
  async open(id: string): Promise<OpenJob> {
    const known = await readJson<OpenJob>(this.#store, `open/${await keyOf(id)}`);
    return { id, steps: { ...known?.steps }, at: Date.now() };
  }

  /** Writes a job: before and after each step, and with its report. */
  async write(job: OpenJob): Promise<void> {
    await this.#store.set(`open/${await keyOf(job.id)}`, JSON.stringify(job));
  }

  /** Records the outcome of a job, before it is reported. */
  async recordExecuted(id: string, report: Completion): Promise<void> {
    await this.write({ ...(await this.open(id)), report });
  }

  /** Returns the jobs with pending reports, oldest first. */
  async unreported(): Promise<(OpenJob & { report: Completion })[]> {
    const jobs = await this.#read<OpenJob>("open/");
    return jobs.filter((job): job is OpenJob & { report: Completion } => job.report !== undefined).sort(byTime);
  }

  /** Records that the service has accepted a report, or has refused it for good. */
  async recordReported({ id, report, ...job }: OpenJob): Promise<void> {
    const key = await keyOf(id);
    if (report?.ok) {
      const done: DoneJob = { id, result: report.result ?? {}, at: Date.now() };
      await this.#store.set(`done/${key}`, JSON.stringify(done));
    }
    // The next attempt of a failed job does not repeat its finished steps.
    if (report?.ok || Object.keys(job.steps).length === 0) await this.#store.delete(`open/${key}`);
    else await this.write({ id, ...job });
  }

  /** Forgets the oldest jobs if there are too many. */
  async forget(): Promise<void> {
    const done = Array.from(await this.#store.list("done/"));
    if (done.length > MAX_REMEMBERED + MAX_SURPLUS) {
      const oldest = (await this.#read<DoneJob>("done/")).sort(byTime).slice(0, done.length - MAX_REMEMBERED);
      for (const { id } of oldest) await this.#store.delete(`done/${await keyOf(id)}`);
    }
    for (const { id, report, at } of await this.#read<OpenJob>("open/"))
      if (report === undefined && at < Date.now() - FORGOTTEN_MS) await this.#store.delete(`open/${await keyOf(id)}`);
  }

  async #read<Entry>(prefix: string): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (const key of await this.#store.list(prefix)) {
      const entry = await readJson<Entry>(this.#store, key);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }
}
