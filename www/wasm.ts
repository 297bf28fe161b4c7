// Loads the WebAssembly module once for all widgets, and replaces one that has broken.

import glue from "../target/glue/chat_widget.js";
import { deferredAt, isSplit, loadChunk, wasmAt } from "./load-chunk.js";
import type recover from "./recover.js";
import type { Broken, Revivable } from "./recover.js";

export type Module = Awaited<ReturnType<typeof glue>>;

let loading: Promise<Module> | undefined;
/** Whether a module has broken. The next one starts with all its functions: some may have been what it lacked. */
let hasBroken = false;

/** The widgets on the page. It also keeps one to which the page holds no reference from being collected. */
export const mounted = new Map<Revivable, Broken>();

/**
 * Loads the module, or returns the one that is loading. `wasm` is its address, where a bundler has moved it, or its response
 * if it was requested already.
 */
export function loadModule(wasm?: string | URL | Promise<Response>): Promise<unknown> {
  if (loading) return loading;
  const response = isUnderWay(wasm) ? wasm : fetch(wasmAt(wasm));
  const needsAll = expectsConversation() || hasBroken;
  return (loading = glue(response, deferredAt, isSplit && needsAll, onBroken)
    .then(pause)
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/**
 * Whether the visitor may have a conversation, or a first message that is not delivered yet, on any widget of the site. To
 * show one takes many of the deferred functions, and such a visitor's browser has all files in its cache. It also takes the
 * format of a time: the browser's first one needs longer than the module's start, and is made here while the module is on
 * its way.
 */
function expectsConversation(): boolean {
  try {
    return (
      Object.keys(localStorage).some((key) => /^chat-widget:(outbox:|.*conversation)/.test(key)) &&
      !!new Intl.DateTimeFormat()
    );
  } catch {
    return false;
  }
}

/** Not by `instanceof`: a page may have replaced `Promise`. */
const isUnderWay = (wasm: unknown): wasm is Promise<Response> =>
  typeof (wasm as Promise<Response>)?.then === "function";

/** Ends the current task, so that the page stays responsive: the following code runs as a separate, short task. */
export function pause<Kind>(value?: Kind): Promise<Kind> {
  return new Promise((resolve) => setTimeout(resolve, 0, value));
}

/** The next `loadModule()` starts a new module. */
function onBroken(error: unknown): void {
  loading = undefined;
  hasBroken = true;
  loadChunk<typeof recover>("recover").then((recover) => recover(mounted, error, loadChunk), console.error);
}
