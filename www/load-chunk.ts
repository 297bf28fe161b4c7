// Loads the files of `dist/` that are not part of the entry, when a page or a visitor needs them. The npm build replaces this
// file by `npm/load-chunk.ts`.

let wasm: string | URL | undefined;

/** Returns the default export of a module in the folder of this one. `path` has no file ending. */
export async function loadChunk<Kind>(path: string): Promise<Kind> {
  const url = new URL(`./${path}.mjs`, import.meta.url).href;
  return ((await import(/* @vite-ignore */ /* webpackIgnore: true */ url)) as { default: Kind }).default;
}

/** Returns the address of the WebAssembly module: the page's own, which is remembered, or the one in this folder. */
export function wasmAt(address?: string | URL): string | URL {
  return (wasm = address ?? wasm ?? new URL("./chat-widget.wasm", import.meta.url));
}

/** Where `diagnose()` looks for the files. */
export const place = (): { base: string | URL; load?: typeof loadChunk } => ({ base: import.meta.url });

/** Returns the address of the module's deferred functions: beside the module, with the same query. */
export function deferredAt(): URL {
  const url = new URL(wasmAt(), document.baseURI);
  url.pathname = url.pathname.replace(/[^/]*$/, "deferred.wasm");
  return url;
}

/** Whether the module is split in two. */
export const isSplit = true;
