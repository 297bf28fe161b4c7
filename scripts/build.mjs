// Builds `dist/`: the loader, the ES module, the WebAssembly module, the themes, the languages, the types, and the
// descriptions for editors.
// `--dev` leaves out the optimisers and keeps names, for a quick loop and readable traces.

import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { buildConsole } from "./console.mjs";
import { makeFactory, shorten } from "./glue.mjs";
import { writeManifests } from "./manifests.mjs";
import { optionDefinitions } from "./options.mjs";
import { main, root, run, runBeside, say, setupBuild } from "./setup.mjs";
import { deferredStyles, launcher } from "./styles.mjs";
import { DEFERRED, assemble, deferredBy, disassemble, split } from "./split.mjs";
import { WASM_FEATURES, compileWasm } from "./wasm.mjs";

export const glue = join(root, "target", "glue");
/** The folder of the compiled modules. */
const compiled = join(root, "target", "module");
const dist = join(root, "dist");
const LOCALES = "src/text/locales";
/** The optimised module, with the names of its functions. */
export const NAMED = join(glue, "named.wasm");

/** An empty WebAssembly module. */
const EMPTY = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/**
 * Compiles the widget into `target/module/`: the module that the script tag loads first, its deferred functions, and for the
 * npm package the whole module. Its glue is in `target/glue/`.
 */
export async function buildModule({ dev = false } = {}) {
  say(`compiling the widget to WebAssembly (${dev ? "development" : "release"})`);
  mkdirSync(compiled, { recursive: true });
  const [first, deferred, whole] = ["chat-widget", "deferred", "whole"].map((name) => join(compiled, `${name}.wasm`));
  if (dev) {
    const bound = bindWasm(dev);
    for (const path of [first, whole]) copyFileSync(bound, path);
    return writeFileSync(deferred, EMPTY);
  }
  run("wasm-opt", [...FEATURES, ...OPTIMISE, ...OPTIMISE_ONCE, "-g", bindWasm(dev), "-o", NAMED]);
  run("wasm-opt", [...FEATURES, "--strip-debug", NAMED, "-o", whole]);
  const halves = split(disassemble(NAMED, FEATURES), deferredBy(join(root, DEFERRED)));
  const work = [
    [halves.first, first],
    [halves.second, deferred],
  ].map(([text, path]) => {
    const named = join(glue, basename(path));
    assemble(text, named, FEATURES);
    return runBeside("wasm-opt", [...FEATURES, ...OPTIMISE, named, "-o", path]);
  });
  await Promise.all(work);
}

/** Copies the compiled modules to their places in `dist/`. */
function copyModules() {
  mkdirSync(join(dist, "npm"), { recursive: true });
  for (const [from, to] of Object.entries({
    "chat-widget": "chat-widget.wasm",
    deferred: "deferred.wasm",
    whole: "npm/chat-widget.wasm",
  }))
    copyFileSync(join(compiled, `${from}.wasm`), join(dist, to));
}

export const FEATURES = WASM_FEATURES.map((name) => `--enable-${name}`);
/**
 * Functions with one caller are inlined only when they are small, because inlined code compresses less well. There is no data
 * below address 1,024, only the end of the stack, so an address plus a small offset never wraps around zero. The second round
 * optimises code that the control flow of the first one hid.
 */
export const OPTIMISE = ["-Oz", "-ocimfs", "22", "--low-memory-unused", "--converge", "--gufa", "-Oz"];
const OPTIMISE_ONCE = ["--flatten", "--rereloop", "-Oz", "--merge-similar-functions", "-Oz"];

/** Compiles the module and writes its glue. Returns the path of the module that fits the glue, with the names of functions. */
function bindWasm(dev) {
  const folder = compileWasm({
    target: ["--lib"],
    features: ["--features", dev ? "debug-panics,deferred-styles" : "small-allocator,deferred-styles"],
    dev,
  });
  const names = dev ? "--keep-debug" : "--remove-producers-section";
  const built = join(folder, "chat_widget.wasm");
  run("wasm-bindgen", ["--target", "web", "--omit-default-module-path", names, "--out-dir", glue, built]);
  if (!dev) shorten(glue, FEATURES);
  makeFactory(glue);
  return join(glue, "chat_widget_bg.wasm");
}

/** Returns texts with each form of a plural under the name `name.category`. */
function flat(texts) {
  const forms = ([name, text]) =>
    typeof text === "string"
      ? [[name, text]]
      : Object.entries(text).map(([category, form]) => [`${name}.${category}`, form]);
  return Object.fromEntries(Object.entries(texts).flatMap(forms));
}

/** Writes a module whose default export is the value. */
function writeModule(path, value) {
  writeFileSync(join(dist, path), `export default ${JSON.stringify(value)};\n`);
}

async function buildScripts(dev) {
  const esbuild = await import("esbuild");
  const common = { bundle: true, minify: !dev, target: "es2022", legalComments: "none", logLevel: "warning" };
  say("bundling the loader, the ES module, the themes and the languages");
  const locales = readdirSync(join(root, LOCALES));
  const define = {
    ...(await optionDefinitions()),
    LAZY_FILES: JSON.stringify(
      LAZY.filter((name) => !OF_THE_TAG.includes(name))
        .concat("styles")
        .join(" "),
    ),
    LANGUAGES: JSON.stringify(locales.map((file) => basename(file, ".json")).join(" ")),
    SOUND_KEY: JSON.stringify(readFileSync(join(root, "src/ui/menu.rs"), "utf8").match(/SOUND: &str = "([^"]+)"/)[1]),
  };
  await esbuild.build({
    ...common,
    entryPoints: [join(root, "www/loader.ts")],
    outfile: join(dist, "chat-widget.js"),
    format: "iife",
    // `"use strict"` would be 13 bytes, for a script that uses nothing of what it forbids.
    tsconfigRaw: { compilerOptions: { alwaysStrict: false } },
    define: { ...(await launcher(esbuild)), SITE_OPTIONS: define.SITE_OPTIONS },
  });
  await esbuild.build({
    ...common,
    entryPoints: [join(root, "www/tag-module.ts")],
    outfile: join(dist, "chat-widget.mjs"),
    format: "esm",
    define,
  });
  await esbuild.build({
    ...common,
    entryPoints: [join(root, "www/error-state-script.ts")],
    outfile: join(dist, "error-state.js"),
    format: "iife",
    define,
  });
  for (const name of LAZY) {
    await esbuild.build({
      ...common,
      entryPoints: [join(root, `www/${name}.ts`)],
      outfile: join(dist, `${name}.mjs`),
      format: "esm",
      define,
    });
  }
  await esbuild.build({
    ...common,
    entryPoints: [join(root, "www/element.ts")],
    outfile: join(dist, "element.mjs"),
    format: "esm",
    plugins: [
      {
        name: "the entry in the same folder",
        setup: (build) =>
          build.onResolve({ filter: /\/module\.js$/ }, () => ({ path: "./chat-widget.mjs", external: true })),
      },
    ],
  });
  await esbuild.build({
    ...common,
    entryPoints: [join(root, "www/client.ts")],
    outfile: join(dist, "client.mjs"),
    format: "esm",
  });
  await buildServer();
  mkdirSync(join(dist, "themes"));
  for (const file of readdirSync(join(root, "themes"))) {
    const css = readFileSync(join(root, "themes", file), "utf8");
    const { code } = await esbuild.transform(css, { loader: "css", minify: true });
    writeModule(`themes/${basename(file, ".css")}.mjs`, code.trim());
  }
  writeModule("styles.mjs", await deferredStyles(esbuild));
  mkdirSync(join(dist, "locales"));
  for (const file of locales) {
    const texts = JSON.parse(readFileSync(join(root, LOCALES, file), "utf8"));
    writeModule(`locales/${basename(file, ".json")}.mjs`, flat(texts));
  }
  await buildNpm(esbuild, common, define);
}

/** Writes `dist/server/`: the client, the proxy and the jobs for a site's server. It is not minified, for readable traces. */
export async function buildServer() {
  const esbuild = await import("esbuild");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  await esbuild.build({
    entryPoints: ["index", "files", "browser"].map((name) => join(root, `www/server/${name}.ts`)),
    outdir: join(dist, "server"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "neutral",
    external: ["node:*"],
    target: "es2022",
    logLevel: "warning",
    define: { VERSION: JSON.stringify(version) },
  });
}

/** The modules of `dist/` that are loaded on demand, except those that hold data. */
const LAZY = [
  "validate-options",
  "host-page",
  "page-listeners",
  "diagnose",
  "recover",
  "error-state",
  "update",
  "derive",
  "progress",
  "companion",
  "waiting",
  "mail-link",
];
/** Those that only the script tag needs. */
const OF_THE_TAG = ["progress", "companion", "waiting", "mail-link"];
/** The paths of the modules that a bundler includes. */
const LAZY_PATH = new RegExp(
  `^(?:(?:themes|locales)/.+|styles|${LAZY.filter((name) => !OF_THE_TAG.includes(name)).join("|")})\\.mjs$`,
);

/** Writes `dist/npm/`: the same sources for bundlers, which cannot follow addresses that are computed at run time. */
async function buildNpm(esbuild, common, define) {
  const out = join(dist, "npm");
  const entries = {
    widget: "www/module.ts",
    element: "www/element.ts",
    index: "www/npm/index.ts",
    react: "www/npm/react.ts",
    vue: "www/npm/vue.ts",
  };
  // Modules that several entries import stay external: two copies would be two widgets.
  const shared = { "client.js": "../client.mjs", "module.js": "./widget.mjs", "element.js": "./element.mjs" };
  const paths = readdirSync(dist, { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => LAZY_PATH.test(path))
    .sort();
  const files = paths.map((path) => `${JSON.stringify(path.replace(/\.mjs$/, ""))}: () => import("../${path}")`);
  const plugin = {
    name: "for bundlers",
    setup(build) {
      build.onResolve({ filter: /\/(client|module|element)\.js$/ }, ({ path }) => ({
        path: shared[basename(path)],
        external: true,
      }));
      build.onResolve({ filter: /^\.\/files\.js$/ }, () => ({ path: "files", namespace: "written" }));
      build.onResolve({ filter: /\.mjs$/, namespace: "written" }, ({ path }) => ({ path, external: true }));
      build.onLoad({ filter: /.*/, namespace: "written" }, () => ({
        contents: `export default {${files.join(",\n")}};`,
      }));
      build.onResolve({ filter: /\/load-chunk\.js$/ }, () => ({ path: join(root, "www/npm/load-chunk.ts") }));
    },
  };
  for (const [name, entry] of Object.entries(entries)) {
    await esbuild.build({
      ...common,
      entryPoints: [join(root, entry)],
      outfile: join(out, `${name}.mjs`),
      format: "esm",
      external: ["react", "vue"],
      // Marks the component for the client in frameworks with server components.
      banner: name === "react" ? { js: '"use client";' } : {},
      define,
      plugins: [plugin],
    });
  }
}

/** The modules of `www/` whose types the package contains. */
const TYPES = [
  "client",
  "client-error",
  "client-types",
  "controls",
  "element",
  "event-names",
  "load-chunk",
  "module",
  "option-names",
  "options",
  "script-tag",
  "visitor-profile",
  "visitor-token",
  "npm/index",
  "npm/jsx",
  "npm/markup",
  "npm/react",
  "npm/vue",
  "server/back-off",
  "server/client",
  "server/connector-error",
  "server/database-journal",
  "server/exchange",
  "server/file-journal",
  "server/files",
  "server/git-folder",
  "server/index",
  "server/job-handler",
  "server/journal-store",
  "server/node",
  "server/node-request",
  "server/overlay",
  "server/page-head",
  "server/page-heads",
  "server/proxy",
  "server/proxy-options",
  "server/public-page",
  "server/rate",
  "server/run-jobs",
  "server/runner-stopped",
  "server/sync",
  "server/sync-pages",
  "server/types",
  "server/visitor-token",
];

function buildTypes() {
  say("writing the types");
  run("tsc", [
    "-p",
    root,
    "--noEmit",
    "false",
    "--declaration",
    "--emitDeclarationOnly",
    "--outDir",
    join(root, "target", "types"),
  ]);
  for (const folder of ["npm", "server"]) mkdirSync(join(dist, "types", folder), { recursive: true });
  for (const name of TYPES) {
    writeFileSync(
      join(dist, "types", `${name}.d.ts`),
      readFileSync(join(root, "target", "types", "www", `${name}.d.ts`)),
    );
  }
  copyFileSync(join(root, "www/npm/wasm.d.ts"), join(dist, "types/npm/wasm.d.ts"));
  cpSync(join(root, "www/npm/jsx"), join(dist, "types/npm/jsx"), { recursive: true });
}

/** Writes the hash of each file, and the script tag for a site's owner to paste. */
function writeIntegrity() {
  const files = readdirSync(dist, { recursive: true })
    .filter((file) => /\.(js|mjs|wasm)$/.test(file) && !/^(console|server)[/\\]/.test(file))
    .sort();
  const hash = (file) =>
    `sha384-${createHash("sha384")
      .update(readFileSync(join(dist, file)))
      .digest("base64")}`;
  const integrity = Object.fromEntries(files.map((file) => [file, hash(file)]));
  writeFileSync(join(dist, "integrity.json"), `${JSON.stringify(integrity, null, 2)}\n`);
  // A browser can check only the file of the tag, which loads the others by itself.
  const tag = `<script async src="/chat-widget/chat-widget.js" integrity="${integrity["chat-widget.js"]}" crossorigin="anonymous" data-proxy="/connector"></script>`;
  writeFileSync(join(dist, "snippet.html"), `${tag}\n`);
}

/** Writes each file that browsers load a second time, compressed, for web servers that send such files as they are. */
function compress() {
  const files = readdirSync(dist, { recursive: true }).filter(
    (file) => /\.(js|mjs|wasm)$/.test(file) && !/^(console|npm|server)[/\\]/.test(file),
  );
  for (const file of files) {
    const bytes = readFileSync(join(dist, file));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(dist, `${file}.br`), brotliCompressSync(bytes, { params }));
  }
}

/** Builds `dist/`, except the console, from the compiled module. */
export async function buildDist({ dev = false } = {}) {
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(dist).filter((name) => !name.startsWith("console")))
    rmSync(join(dist, name), { recursive: true });
  copyModules();
  await buildScripts(dev);
  buildTypes();
  await writeManifests(dist);
  writeIntegrity();
  if (!dev) compress();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    setupBuild();
    const dev = process.argv.includes("--dev");
    await buildModule({ dev });
    await buildDist({ dev });
    await buildConsole({ dev });
    say(
      `dist/ is built. The script tag for a page, with the hash of the loader:\n${readFileSync(join(dist, "snippet.html"), "utf8").trim()}`,
    );
  });
}
