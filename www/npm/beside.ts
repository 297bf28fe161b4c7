// What `../beside.ts` is to the script tag, for bundlers: a table of imports that they can follow, and an address of the
// WebAssembly module that Vite and webpack take for a file of the page.

import files from "./files.js";

let wasm: URL | undefined;

/** What a module of `dist/` has to say, by its path without the ending. */
export async function beside<Kind>(path: string): Promise<Kind> {
  const load = files[path];
  if (!load) throw new Error(`chat widget: there is no ${path}`);
  return (await load()).default as Kind;
}

/** Where the WebAssembly module is: where the page says that it has it, else beside this file. */
export function wasmAt(address?: string | URL): URL {
  if (address !== undefined) wasm = new URL(address, document.baseURI);
  return (wasm ??= new URL("../chat-widget.wasm", import.meta.url));
}
