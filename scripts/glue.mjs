// Makes the glue between module and page small. What it leaves out is for browsers that are older than the widget's.
//
// Everything that passes between the module and its glue gets a name of a letter or two. wasm-bindgen names an import
// after what it calls and a hash, once in the module and once in the glue, and a hash does not compress.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Streams the module, from a server that says what it is. */
const LOAD = `async function __wbg_load(module, imports) {
    if (!module.ok) throw new Error("chat widget: no module, but " + module.status + " from " + module.url);
    if (module.headers.get("Content-Type") === "application/wasm") return WebAssembly.instantiateStreaming(module, imports);
    console.warn("chat widget: the server should send " + module.url + " as application/wasm");
    return WebAssembly.instantiate(await module.arrayBuffer(), imports);
}
`;

/** Replaces a part of the glue, which must be there. */
function replace(text, part, by) {
  if (!part.test(text)) throw new Error(`The glue of this wasm-bindgen has no ${part}`);
  return text.replace(part, by);
}

/** Renames the imports and exports of `chat_widget_bg.wasm` and `chat_widget.js` in `folder`, in place. */
export function shorten(folder, flags) {
  const module = join(folder, "chat_widget_bg.wasm");
  const args = [...flags, module, "--minify-imports-and-exports-and-modules", "-o", module];
  // It prints what it has renamed: `[module, name, short]` and `[name, short]`.
  const { imports, exports } = JSON.parse(execFileSync("wasm-opt", args, { encoding: "utf8" }));
  const imported = new Map(imports.map(([, name, short]) => [name, short]));
  const exported = new Map(exports);
  const glue = join(folder, "chat_widget.js");
  let text = readFileSync(glue, "utf8");
  text = replace(text, /\(typeof FinalizationRegistry === 'undefined'\)[^:]*:[^:]*:[^:]*:\s*(?=new)/g, "");
  text = replace(text, /if \(!\('encodeInto' in cachedTextEncoder\)\) \{[^]*?\n\}\n/, "");
  text = replace(text, /if \(module_or_path !== undefined\) \{[^]*?\n    \}\n/, "({ module_or_path } = module_or_path);\n");
  text = replace(text, /if \(typeof module_or_path === 'string' \|\|.*\{\s*(.*)\s*\}/, "$1");
  text = replace(text, /async function __wbg_load\([^]*?\n\}\n/, LOAD);
  text = text
    .replace('"./chat_widget_bg.js": ', "a: ")
    .replace(/\b(\w+): function\(/g, (_, name) => `${imported.get(name) ?? name}: function(`)
    .replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${exported.get(name) ?? name}`)
    // Arrows are shorter, and nothing here asks for `this`.
    .replace(/: function\(\) \{ return handleError\(function \(([^)]*)\) \{/g, ": (...args) => { return handleError(($1) => {")
    .replace(/\}, arguments\)/g, "}, args)")
    .replace(/: function\(([^)]*)\) \{/g, ": ($1) => {");
  writeFileSync(glue, text);
}
