// The errors with which a run ends.

import { printable } from "./connector-error.js";

/** The runner must stop: another one has taken over. */
export class RunnerStopped extends Error {
  override readonly name = "RunnerStopped";

  constructor() {
    super("Another runner has taken over.");
  }
}

/** A handler did not stop at the end of its lease: the process must end, or two handlers would work at once. */
export class HandlerStuck extends Error {
  override readonly name = "HandlerStuck";

  constructor(job: string) {
    super(`the handler of the job ${printable(job)} did not stop at the end of its lease: end this process`);
  }
}
