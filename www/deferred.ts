// The second WebAssembly module: functions that no window needs at first, written into the table of the first one.

import { nullProto } from "./null-proto.js";

/** Delays before further attempts to load it in the background, in milliseconds. */
const RETRIES_MS = [2000, 8000, 32_000];
/** The time limit of an attempt, in milliseconds. */
const ATTEMPT_TIMEOUT_MS = 30_000;
/** The age of a pending request at which the page no longer stands still for another one, in milliseconds. */
const STALLED_AFTER_MS = 5000;

/** Its imports: those of the first module, and the exports of the first module. */
export interface Given {
  a: WebAssembly.ModuleImports;
  b: Record<string, WebAssembly.ExportValue>;
}

/** The second module of one instance of the first. */
export interface Deferred {
  /** Loads it at once. The first module calls this for a deferred function, unless `begin()` was quicker. */
  load(): void;
  /** Returns whether `load()` waits for its response. */
  isWaiting(): boolean;
  /** Loads it in the background, in several attempts. Returns a promise that is fulfilled after the first one. */
  begin(given: Given): Promise<void>;
  /** Ends the attempts. */
  stop(): void;
  /** Fulfilled when it is loaded, or no longer needed. Rejects with the failure of the last attempt. */
  loaded?: Promise<void>;
}

/** Returns the second module at an address. With `isUrgent`, it is requested now: the first module waits for it. */
export function defer(address: string | URL, isUrgent: boolean): Deferred {
  let given: Given;
  let isStopped = false;
  let isWaiting = false;
  /** The time of the pending request. */
  let since = Infinity;

  async function request(init?: object): Promise<WebAssembly.Module> {
    since = performance.now();
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    const response = await fetch(address, nullProto({ signal, ...init }) as RequestInit);
    if (!response.ok) throw new Error(`the deferred functions did not load: status ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
  }

  const early = isUrgent ? request() : undefined;
  early?.catch(() => {});

  const isNeeded = () => !isStopped && (given.b["0"] as WebAssembly.Global).value === 0;
  const imports = () => nullProto(given) as object as WebAssembly.Imports;

  async function attempt(requested: Promise<WebAssembly.Module>): Promise<void> {
    try {
      const module = await requested;
      if (isNeeded()) await WebAssembly.instantiate(module, imports());
    } finally {
      since = Infinity;
    }
  }

  async function repeat(failure: unknown): Promise<void> {
    for (const delay of RETRIES_MS) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (!isNeeded()) return;
      try {
        // A cached file may be of another build, which does not fit.
        return await attempt(request({ cache: "reload" }));
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  return {
    async begin(exported) {
      given = exported;
      // A module that was not split has no such export.
      const first = given.b["0"] ? attempt(early ?? request({ priority: "low" })) : Promise.resolve();
      this.loaded = first.catch(repeat);
      this.loaded.catch(() => {});
      await first.catch(() => {});
    },
    load() {
      if (performance.now() - since > STALLED_AFTER_MS)
        throw new Error("the deferred functions did not load: no response");
      // The module waits for the return, so nothing asynchronous helps. The browser may have the file already.
      const request = new XMLHttpRequest();
      request.open("GET", address, false);
      request.overrideMimeType("text/plain;charset=x-user-defined");
      isWaiting = true;
      try {
        request.send();
      } finally {
        isWaiting = false;
      }
      const bytes = Uint8Array.from(request.responseText, (character) => character.charCodeAt(0));
      new WebAssembly.Instance(new WebAssembly.Module(bytes), imports());
    },
    isWaiting: () => isWaiting,
    stop() {
      isStopped = true;
    },
  };
}
