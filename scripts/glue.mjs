// Shrinks the glue between module and page. It removes code for browsers that the widget does not support.
//
// All imports and exports of the module get names of one or two letters. wasm-bindgen names an import after the called
// function and a hash, once in the module and once in the glue, and hashes do not compress.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Streams the module if the server sends it as `application/wasm`. */
const LOAD = `async function __wbg_load(module, imports) {
    if (!module.ok) throw new Error("chat widget: no module, but " + module.status + " from " + module.url);
    if (module.headers.get("Content-Type") === "application/wasm") return WebAssembly.instantiateStreaming(module, imports);
    console.warn("chat widget: the server should send " + module.url + " as application/wasm");
    return WebAssembly.instantiate(await module.arrayBuffer(), imports);
}
`;

/** Writes the pointer and the length of a string to an address in the module's memory, or zero for none. */
const GIVES_STRING =
  /(?:var|const) (ptr\d) = (?:isLikeNone\(\w+\) \? 0 : )?passStringToWasm0\((\w+)\);\s*(?:var|const) (len\d) = WASM_VECTOR_LEN;\s*getDataViewMemory0\(\)\.setInt32\(\((\w+) >>> 0\) \+ 4 \* 1, \3, true\);\s*getDataViewMemory0\(\)\.setInt32\(\(\4 >>> 0\) \+ 4 \* 0, \1, true\);/g;

const GIVE = `
function giveObject(ret) {
    return isLikeNone(ret) ? 0 : addToExternrefTable0(ret);
}

function giveString(at, ret) {
    const ptr = isLikeNone(ret) ? 0 : passStringToWasm0(ret);
    getDataViewMemory0().setInt32(at + 4, WASM_VECTOR_LEN, true);
    getDataViewMemory0().setInt32(at, ptr, true);
}
`;

/** Replaces a part of the glue; throws if it does not exist. */
function replace(text, part, by) {
  if (!part.test(text)) throw new Error(`unexpected glue of wasm-bindgen: it has no ${part}`);
  return text.replace(part, by);
}

/** Renames the imports and exports of `chat_widget_bg.wasm` and `chat_widget.js` in `folder`, in place. */
export function shorten(folder, flags) {
  const module = join(folder, "chat_widget_bg.wasm");
  const args = [...flags, module, "-g", "--minify-imports-and-exports-and-modules", "-o", module];
  // The output lists the renamed ones: `[module, name, short]` and `[name, short]`.
  const { imports, exports } = JSON.parse(execFileSync("wasm-opt", args, { encoding: "utf8" }));
  const imported = new Map(imports.map(([, name, short]) => [name, short]));
  const exported = new Map(exports);
  const glue = join(folder, "chat_widget.js");
  let text = readFileSync(glue, "utf8");
  text = replace(text, /\(typeof FinalizationRegistry === 'undefined'\)[^:]*:[^:]*:[^:]*:\s*(?=new)/g, "");
  text = replace(text, /if \(!\('encodeInto' in cachedTextEncoder\)\) \{[^]*?\n\}\n/, "");
  text = replace(text, /async function __wbg_load\([^]*?\n\}\n/, LOAD);
  text = text
    .replace('"./chat_widget_bg.js": ', "a: ")
    .replace(/\b(\w+): function\(/g, (_, name) => `${imported.get(name) ?? name}: function(`)
    .replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${exported.get(name) ?? name}`)
    // Arrow functions are shorter, and nothing here uses `this`.
    .replace(/: function\(\) \{ return handleError\(function \(([^)]*)\) \{/g, ": handleError(($1) => {")
    .replace(/\}, arguments\); \}/g, "})")
    .replace(/: function\(([^)]*)\) \{/g, ": ($1) => {");
  text = replace(
    text,
    /function handleError\(f, args\) \{([^]*?)f\.apply\(this, args\)([^]*?)\n\}\n/,
    "function handleError(f) { return (...args) => {$1f(...args)$2\n}; }\n",
  );
  // Strings and objects are passed to the module in the same way each time.
  text = text.replace(/isLikeNone\(ret\) \? 0 : addToExternrefTable0\(ret\)/g, "giveObject(ret)");
  const [, malloc, realloc] = text.match(/passStringToWasm0\(\w+, (wasm\.[\w$]+), (wasm\.[\w$]+)\)/);
  text = text.replaceAll(`, ${malloc}, ${realloc})`, ")");
  text = replace(
    text,
    /passStringToWasm0\(arg, malloc, realloc\)/,
    () => `passStringToWasm0(arg, malloc = ${malloc}, realloc = ${realloc})`,
  );
  text = text.replace(GIVES_STRING, "giveString($4, $2);");
  text = replace(text, /function isLikeNone/, `${GIVE}$&`);
  // The string allocators always exist, handles are freed explicitly, and no text has 2 GB.
  text = replace(text, / {4}if \(realloc === undefined\) \{[^]*?\n {4}\}\n/, "");
  text = replace(text, /const HandleFinalization = .*\n/, "").replace(/ *HandleFinalization\..*\n/g, "");
  text = replace(text, /const MAX_SAFARI[^]*?(?=function decodeText)/, "");
  text = replace(text, /function decodeText\([^]*?\n\}\n/, "").replace("decodeText(", "cachedTextDecoder.decode(");
  text = replace(text, /cachedTextDecoder\.decode\(\);\n/, "");
  // Growing the memory replaces its buffer, and it stays below 2 GB.
  text = replace(
    text,
    /cachedDataViewMemory0 === null \|\| .* !== (wasm\.[\w$]+\.buffer)\)\) \{/,
    "cachedDataViewMemory0?.buffer !== $1) {",
  );
  text = replace(text, /ptr = ptr >>> 0;/, "")
    .replace(/ptr = ptr >>> 0;/g, "")
    .replaceAll("ptr / 1", "ptr");
  text = replace(text, /if \(Symbol\.dispose\).*\n/, "");
  text = replace(text, / {4}__destroy_into_raw\(\) \{[^]*?\n {4}\}\n/, "");
  text = replace(text, /const ptr = this\.__destroy_into_raw\(\);\s*(wasm\.[\w$]+\()ptr/, "$1this.__wbg_ptr");
  // `globalThis` exists in all supported browsers, so the fallbacks are removed.
  text = replace(
    text,
    /const ret = typeof globalThis === 'undefined' .*\s*.*/,
    "return addToExternrefTable0(globalThis);",
  );
  text = replace(text, /const ret = typeof global === 'undefined' .*\s*.*/, "return 0;");
  text = replace(text, /const ret = typeof self === 'undefined' .*\s*.*/, "return 0;");
  text = replace(text, /const ret = typeof window === 'undefined' .*\s*.*/, "return 0;");
  writeFileSync(glue, text);
}

/**
 * Turns `chat_widget.js` in `folder` into a function, so that a new module, independent of the old one, can replace a
 * crashed one. Guards the calls into the module. The module's deferred functions are loaded from `address()`: in the
 * background or, with `isWhole`, before the module is used.
 */
export function makeFactory(folder) {
  const glue = join(folder, "chat_widget.js");
  let text = readFileSync(glue, "utf8").replace(/^export (?=class|function)/gm, "");
  // The initializers of the glue accept any source of a module; here it is a response that may be under way already.
  const begun = text.match(/wasm = instance\.exports;[^]*?(wasm\.[\w$]+\(\);)\n/)[1];
  text = replace(text, /let wasmModule, wasmInstance, wasm;\nfunction __wbg_finalize_init\([^]*?\n\}\n/, "let wasm;\n");
  text = replace(
    text,
    /function initSync\([^]*$/,
    `
const imports = __wbg_get_imports();
const own = imports.a ?? imports["./chat_widget_bg.js"];
const deferred = defer(address(), isWhole);
own.load = deferred.load;
const { instance } = await __wbg_load(await response, imports);
const tried = deferred.begin({ a: own, b: instance.exports });
if (isWhole) await tried;
wasm = guard(instance.exports, (error) => {
    deferred.stop();
    onBroken(error);
}, deferred.isWaiting);
${begun}
return { Handle, deferred: deferred.loaded };
`,
  );
  writeFileSync(
    glue,
    `import { defer } from "../../www/deferred.js";\nimport { guard } from "../../www/guard.js";\n\nexport default async function glue(response, address, isWhole, onBroken) {\n${text}}\n`,
  );
  const types = join(folder, "chat_widget.d.ts");
  const handle = replace(readFileSync(types, "utf8"), /export class Handle \{[^]*?\n\}\n/, "$&").match(
    /export class Handle \{[^]*?\n\}\n/,
  )[0];
  const factory =
    "export default function glue(response: Promise<Response>, address: () => string | URL, isWhole: boolean, onBroken: (error: unknown) => void): Promise<{ Handle: typeof Handle; deferred: Promise<void> }>;\n";
  writeFileSync(types, handle.replace(/^export/, "export declare") + factory);
}
