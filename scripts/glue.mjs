// Gives everything that passes between the module and its glue a name of a letter or two. wasm-bindgen names an import
// after what it calls and a hash, once in the module and once in the glue, and a hash does not compress.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Renames the imports and exports of `chat_widget_bg.wasm` and `chat_widget.js` in `folder`, in place. */
export function shorten(folder, flags) {
  const module = join(folder, "chat_widget_bg.wasm");
  const args = [...flags, module, "--minify-imports-and-exports-and-modules", "-o", module];
  // It prints what it has renamed: `[module, name, short]` and `[name, short]`.
  const { imports, exports } = JSON.parse(execFileSync("wasm-opt", args, { encoding: "utf8" }));
  const imported = new Map(imports.map(([, name, short]) => [name, short]));
  const exported = new Map(exports);
  const glue = join(folder, "chat_widget.js");
  const text = readFileSync(glue, "utf8")
    .replace('"./chat_widget_bg.js": ', "a: ")
    .replace(/\b(\w+): function\(/g, (_, name) => `${imported.get(name) ?? name}: function(`)
    .replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${exported.get(name) ?? name}`)
    // Arrows are shorter, and nothing here asks for `this`.
    .replace(/: function\(\) \{ return handleError\(function \(([^)]*)\) \{/g, ": (...args) => { return handleError(($1) => {")
    .replace(/\}, arguments\)/g, "}, args)")
    .replace(/: function\(([^)]*)\) \{/g, ": ($1) => {");
  writeFileSync(glue, text);
}
