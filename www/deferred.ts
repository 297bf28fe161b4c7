// The second WebAssembly module: functions that no window needs at first, written into the table of the first one.

import { nullProto } from "./null-proto.js";

/** Delays before the attempts to load it in the background, in milliseconds. */
const ATTEMPTS_MS = [0, 2000, 8000, 32_000];

/** Its imports: those of the first module, and the exports of the first module. */
interface Given {
  a: WebAssembly.ModuleImports;
  b: Record<string, WebAssembly.ExportValue>;
}

/** Loads it at once. The first module calls this for a deferred function, unless `begin()` was quicker. */
export function load(address: string | URL, given: Given): void {
  // The module waits for the return, so nothing asynchronous helps. The browser may have the file already.
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  request.overrideMimeType("text/plain;charset=x-user-defined");
  request.send();
  const bytes = Uint8Array.from(request.responseText, (character) => character.charCodeAt(0));
  new WebAssembly.Instance(new WebAssembly.Module(bytes), nullProto(given) as object as WebAssembly.Imports);
}

/** Requests it in the background. */
export const request = (address: string | URL): Promise<Response> =>
  fetch(address, nullProto({ priority: "low" }) as RequestInit);

/**
 * Loads it in the background, in several attempts, if the first module is one that was split. `response` is that of the first
 * attempt, if it was requested already.
 */
export async function begin(address: string | URL, given: Given, response?: Promise<Response>): Promise<void> {
  const isLoaded = given.b["0"] as WebAssembly.Global | undefined;
  if (!isLoaded) return;
  let failure: unknown;
  for (const delay of ATTEMPTS_MS) {
    if (delay) await new Promise((resolve) => setTimeout(resolve, delay));
    try {
      const module = await WebAssembly.compile(await (await (response ?? request(address))).arrayBuffer());
      if (!isLoaded.value) await WebAssembly.instantiate(module, nullProto(given) as object as WebAssembly.Imports);
      return;
    } catch (error) {
      failure = error;
      response = undefined;
    }
    if (isLoaded.value) return;
  }
  throw failure;
}
