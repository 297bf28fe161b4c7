// Takes out of wasm-bindgen's output what does not compress: every import carries a hash in its name, once in the module
// and once in the glue. A counter of the same length tells them apart as well, and the module's sections keep theirs.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Renames the imports and exports of `chat_widget_bg.wasm` and `chat_widget.js` in `folder`, in place. */
export function shorten(folder) {
  const paths = [join(folder, "chat_widget_bg.wasm"), join(folder, "chat_widget.js")];
  const module = new WebAssembly.Module(readFileSync(paths[0]));
  const names = [...WebAssembly.Module.imports(module), ...WebAssembly.Module.exports(module)].map(({ name }) => name);
  const hashes = [...new Set(names.flatMap((name) => name.match(/[0-9a-f]{16,}/g) ?? []))];
  for (const path of paths) {
    let text = readFileSync(path, "latin1");
    hashes.forEach((hash, count) => (text = text.replaceAll(hash, String(count).padStart(hash.length, "z"))));
    writeFileSync(path, text, "latin1");
  }
}
