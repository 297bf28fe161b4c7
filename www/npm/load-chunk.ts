// Replaces `../load-chunk.ts` for bundlers: a table of imports that they can follow, and an address of the WebAssembly
// module that Vite and webpack recognise as an asset.

import files from "./files.js";

let wasm: URL | undefined;

/** Returns the default export of a module of `dist/`. `path` has no file ending. */
export async function loadChunk<Kind>(path: string): Promise<Kind> {
  const load = files[path];
  if (!load) throw new Error(`chat widget: unknown file "${path}"`);
  return (await load()).default as Kind;
}

/** Returns the address of the WebAssembly module: the page's own, or the one in this folder. */
export function wasmAt(address?: string | URL): URL {
  if (address !== undefined) wasm = new URL(address, document.baseURI);
  return (wasm ??= new URL("./chat-widget.wasm", import.meta.url));
}

/** Where `diagnose()` looks for the files: with a bundler, they have no folder in common. */
export const place = (): { base: string | URL; load?: typeof loadChunk } => ({ base: wasmAt(), load: loadChunk });

/** Not every bundler recognises a second file as an asset: the package contains the whole module. */
export const isSplit = false;
export const deferredAt = wasmAt;
