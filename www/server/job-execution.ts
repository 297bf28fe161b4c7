// One execution of a job: its steps, its deadline, and the look at what visitors see.

import { ConnectorError, printable } from "./connector-error.js";
import { type HandlerResult, handle, JobFailure, type JobHandler, readWork } from "./job-handler.js";
import type { JobJournal } from "./job-journal.js";
import { type PublicSite, requirePage, verify } from "./public-page.js";
import { HandlerStuck, RunnerStopped } from "./runner-stopped.js";
import type { ClaimedJob, Completion, JobResult } from "./types.js";

/** Maximum size of what the steps of a job return, and of its result, as JSON, in characters. Some databases keep no more. */
const MAX_JSON = 32 * 1024;
/** Maximum delay of a timer in milliseconds; a longer one would end at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** What an execution needs of its runner. */
export interface Execution {
  handler: JobHandler;
  journal: JobJournal;
  site: PublicSite | undefined;
  /** On the clock of `performance.now()`. */
  deadline: number;
  /** The time that the handler has to stop after the deadline, in milliseconds. */
  graceMs: number;
  /** Is called before each step, for logs and tests. */
  observe: (step: string) => void;
  /** Returns whether this runner may go on. */
  isHeld: () => Promise<boolean>;
}

/** Returns the report of a failure. */
function failed(claimToken: string, error: unknown): Completion {
  const { name, message, permanent } = Object(error) as Error & { permanent?: boolean };
  // By name: a handler may come from another bundle of this library.
  const isReadable = name === "JobFailure" || error instanceof ConnectorError;
  const reason = isReadable ? message : `The connector failed: ${message ?? error}`;
  return { ok: false, claimToken, error: printable(reason), ...(permanent === true && { permanent }) };
}

/** Returns a value as the journal keeps it. Fails if that is too large. */
function asJson(value: unknown) {
  const json = JSON.stringify(value);
  if (json === undefined) return undefined;
  if (json.length > MAX_JSON) throw new Error(`a result has more than ${MAX_JSON} characters`);
  return JSON.parse(json);
}

/** Returns the members of a result that are reported. */
function reported({ externalId, url, path, status, message, data }: HandlerResult): JobResult {
  const members = Object.entries({ externalId, url, path, status, message, data });
  return asJson(Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== null)));
}

/** Executes a job, and returns its report. Rejects if this runner must stop. */
export async function execute(job: ClaimedJob, execution: Execution): Promise<Completion> {
  const { claimToken } = job;
  const late = new AbortController();
  const left = Math.min(Math.max(0, execution.deadline - performance.now()), MAX_DELAY_MS);
  const timer = setTimeout(() => late.abort(new JobFailure("The job took longer than its lease.")), left);
  let grace: ReturnType<typeof setTimeout> | undefined;
  const stuck = new Promise<never>((_, reject) => {
    late.signal.addEventListener("abort", () => {
      grace = setTimeout(() => reject(new HandlerStuck(job.id)), execution.graceMs);
    });
  });
  try {
    const result = await Promise.race([perform(job, execution, late.signal), stuck]);
    return { ok: true, claimToken, result: reported(result) };
  } catch (error) {
    if (error instanceof RunnerStopped || error instanceof HandlerStuck) throw error;
    return failed(claimToken, error);
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
  }
}

async function perform(job: ClaimedJob, execution: Execution, signal: AbortSignal): Promise<HandlerResult> {
  const { handler, site, observe, isHeld } = execution;
  const work = readWork(job);
  const entry = await execution.journal.open(job.id);
  const used = new Set<string>();
  const goOn = async (step: string) => {
    observe(step);
    if (!(await isHeld())) throw new RunnerStopped();
    signal.throwIfAborted();
  };
  const step = async <Data>(name: string, work: (step: { wasBegun: boolean }) => Data | Promise<Data>) => {
    if (used.has(name)) throw new Error(`the step ${name} is there twice`);
    used.add(name);
    await goOn(name);
    const known = Object.hasOwn(entry.steps, name) ? entry.steps[name] : undefined;
    if (known?.isDone) return known.value as Data;
    entry.steps[name] = { isDone: false };
    await execution.journal.write(entry);
    observe(`${name}: begun`);
    const value = await work({ wasBegun: known !== undefined });
    observe(`${name}: done`);
    entry.steps[name] = { isDone: true, value: asJson(value) };
    entry.steps = asJson(entry.steps);
    await execution.journal.write(entry);
    return entry.steps[name]?.value as Data;
  };
  await goOn("begin");
  if (site !== undefined && work.kind === "overlay") await requirePage(site, work.overlay.path, signal);
  const result = await handle(handler, work, { job, signal, step });
  if (site === undefined) return result;
  try {
    await goOn("verify");
    const url = await verify(site, work, result, signal);
    return url === undefined ? result : { url, path: new URL(url).pathname, ...result };
  } catch (error) {
    observe("undo");
    // Also at the end of the lease: the change would stay without a success.
    if (await isHeld()) await result.undo?.();
    throw error;
  }
}
