// The package: its files, its types, its import on a server, and the size of partial bundles.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import webpack from "webpack";
import { packedFiles } from "../../scripts/npm-package.mjs";
import { project, root } from "./fixture.mjs";

const NAME = "@site-connector/chat-widget";
const THEMES = "amber blue emerald light_amber light_blue light_rose light_teal rose slate teal violet".split(" ");
const LOCALES = "ar de es fr he hi id it ja ko nl pl pt-BR ru th tr vi zh-CN zh-TW".split(" ");
const SERVER_TYPES = [
  ..."back-off client connector-error database-journal exchange file-journal files git-folder index job-handler".split(
    " ",
  ),
  ..."journal-store node node-request overlay page-head page-heads proxy proxy-options public-page rate".split(" "),
  ..."run-jobs runner-stopped sync sync-pages types visitor-token".split(" "),
];
const FILES = [
  "LICENSE-APACHE",
  "LICENSE-MIT",
  "README.md",
  "package.json",
  ...[
    "chat-widget.js",
    "chat-widget.mjs",
    "chat-widget.wasm",
    "client.mjs",
    "companion.mjs",
    "custom-elements.json",
    "deferred.wasm",
    "derive.mjs",
    "diagnose.mjs",
    "element.mjs",
    "error-state.js",
    "error-state.mjs",
    "host-page.mjs",
    "integrity.json",
    "mail-link.mjs",
    "page-listeners.mjs",
    "progress.mjs",
    "recover.mjs",
    "snippet.html",
    "styles.mjs",
    "update.mjs",
    "validate-options.mjs",
    "vscode.html-custom-data.json",
    "waiting.mjs",
    "web-types.json",
  ].map((file) => `dist/${file}`),
  ...["element", "index", "react", "vue", "widget"].map((name) => `dist/npm/${name}.mjs`),
  "dist/npm/chat-widget.wasm",
  "dist/server/browser.mjs",
  "dist/server/files.mjs",
  "dist/server/index.mjs",
  ...LOCALES.map((name) => `dist/locales/${name}.mjs`),
  ...THEMES.map((name) => `dist/themes/${name}.mjs`),
  ...[
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
    "npm/index",
    "npm/jsx",
    "npm/jsx/preact",
    "npm/jsx/react",
    "npm/jsx/solid",
    "npm/jsx/svelte",
    "npm/markup",
    "npm/react",
    "npm/vue",
    "npm/wasm",
    ...SERVER_TYPES.map((name) => `server/${name}`),
    "visitor-profile",
    "visitor-token",
  ].map((name) => `dist/types/${name}.d.ts`),
];

const { folder, tarball, write } = project("package");

/** Runs a program of `node_modules`, and fails with its output. */
function run(program, args, cwd = folder) {
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin", program), args, {
    cwd,
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test("The package contains exactly the files that pages and bundlers use", () => {
  assert.deepEqual(packedFiles(join(folder, "packed", "package")), FILES.sort());
});

test("The package has its own README, and nothing of the project's commands", () => {
  const installed = (file) => readFileSync(join(folder, "node_modules", NAME, file), "utf8");
  assert.equal(installed("README.md"), readFileSync(join(root, "www/npm/README.md"), "utf8"));
  const { scripts, devDependencies, ...kept } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.deepEqual(JSON.parse(installed("package.json")), kept);
});

test("Every file that package.json names is in the package", () => {
  const { types, customElements, unpkg, jsdelivr, "web-types": webTypes, typesVersions } = manifest;
  const paths = [types, customElements, unpkg, jsdelivr, webTypes, ...Object.values(typesVersions["*"]).flat()];
  const packed = packedFiles(join(folder, "packed", "package")).map((file) => `./${file}`);
  for (const path of paths) {
    const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replace("*", "\\w+")}$`);
    assert.ok(
      packed.some((file) => pattern.test(file)),
      path,
    );
  }
});

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { exports } = manifest;

test("Every export can be imported on a server without side effects", () => {
  // The loader is a classic script, and the others are files: none can be imported.
  const paths = Object.keys(exports).filter((path) => !/^\.\/(script|wasm|jsx\/.*)$|\.json$/.test(path));
  for (const path of paths) {
    write(
      "imports.mjs",
      `await Promise.all([import("react"), import("vue")]);\nconst before = Object.keys(globalThis).join();\nconst module = await import("${NAME}${path.slice(1)}");\n` +
        "console.log(JSON.stringify([Object.keys(module).sort(), Object.keys(globalThis).join() === before]));\n",
    );
    const [names, untouched] = JSON.parse(execFileSync("node", ["imports.mjs"], { cwd: folder, encoding: "utf8" }));
    const own = {
      ".": ["BrowserWidgetClient", "ChatWidget", "ChatWidgetError", "load"],
      "./client": ["BrowserWidgetClient", "ChatWidgetError"],
      "./element": ["ChatWidgetElement"],
      "./server": [
        "ConnectorError",
        "HandlerStuck",
        "JobFailure",
        "PageHead",
        "PageHeads",
        "RunnerStopped",
        "ServerConnectorClient",
        "SyncStoppedError",
        "connectorProxy",
        "databaseJournal",
        "keyValueJournal",
        "runJobs",
        "signVisitorToken",
        "syncPages",
        "toNodeHandler",
      ],
      "./server/files": ["fileJournal", "gitFolder"],
    };
    assert.deepEqual([path, names, untouched], [path, own[path] ?? ["ChatWidget"], true]);
  }
  for (const path of ["script", "wasm"]) {
    write("finds.mjs", `process.stdout.write(import.meta.resolve("${NAME}/${path}"));`);
    assert.match(
      execFileSync("node", ["finds.mjs"], { cwd: folder, encoding: "utf8" }),
      path === "script" ? /\/chat-widget\.js$/ : /\/chat-widget\.wasm$/,
    );
  }
});

test("The React component is marked as a client component", () => {
  assert.match(readFileSync(join(folder, "node_modules", NAME, "dist/npm/react.mjs"), "utf8"), /^"use client";/);
});

test("publint reports nothing", async () => {
  const { publint } = await import("publint");
  const data = readFileSync(tarball);
  const { messages } = await publint({
    pack: { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.length) },
    strict: true,
  });
  assert.deepEqual(messages, []);
});

test("The types of every export resolve for every importer, also by its path without exports", () => {
  run("attw", [
    tarball,
    // A CommonJS module of a newer Node may require an ES module.
    "--ignore-rules",
    "cjs-resolves-to-esm",
    "--no-color",
    "--exclude-entrypoints",
    "./script",
    "./wasm",
    ...Object.keys(exports).filter((path) => path.endsWith(".json")),
  ]);
});

test("The files of docs/frameworks.md and typical TypeScript code compile against the types", () => {
  write("usage.tsx", readFileSync(join(root, "tests/npm/usage.tsx")));
  write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        module: "ES2022",
        moduleResolution: "bundler",
        lib: ["ES2022", "ESNext.Disposable", "DOM", "DOM.Iterable"],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: false,
        noUncheckedIndexedAccess: true,
        jsx: "react-jsx",
        noEmit: true,
        skipLibCheck: false,
        preserveSymlinks: true,
      },
      include: [
        "usage.tsx",
        "page.ts",
        "page-esbuild.ts",
        "Help.tsx",
        "hydrate.tsx",
        "Help.vue.ts",
        "element.ts",
        "own.ts",
      ],
    }),
  );
  run("tsc", ["-p", folder]);
});

test("A site's server compiles against the types of Node alone", () => {
  write("server-usage.ts", readFileSync(join(root, "tests/npm/server-usage.ts")));
  write(
    "tsconfig.server.json",
    JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        module: "NodeNext",
        moduleResolution: "NodeNext",
        lib: ["ES2022"],
        types: ["node"],
        typeRoots: [join(root, "node_modules/@types")],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: false,
      },
      include: ["server-usage.ts"],
    }),
  );
  run("tsc", ["-p", join(folder, "tsconfig.server.json")]);
});

test("A bundle for a page that imports the server library fails, in every bundler", async () => {
  write("server-page.js", `import { connectorProxy } from "${NAME}/server";\nconsole.log(connectorProxy);\n`);
  const entry = join(folder, "server-page.js");
  const bundlers = {
    esbuild: () => esbuild({ entryPoints: [entry], bundle: true, write: false, logLevel: "silent" }),
    vite: () =>
      vite({
        root: folder,
        configFile: false,
        logLevel: "silent",
        build: { write: false, rollupOptions: { input: entry } },
      }),
    webpack: () =>
      new Promise((resolve, reject) =>
        webpack(
          { mode: "production", target: "web", context: folder, entry, output: { path: folder } },
          (error, stats) => (error || stats.hasErrors() ? reject(error ?? new Error(String(stats))) : resolve()),
        ),
      ),
  };
  for (const [name, bundle] of Object.entries(bundlers)) {
    await assert.rejects(bundle, /connectorProxy/, name);
  }
  const name = `${NAME}/server`;
  const options = { bundle: true, platform: "browser", format: "esm", write: false };
  const { outputFiles: forPage } = await esbuild({
    ...options,
    stdin: { contents: `import "${name}"`, resolveDir: folder },
  });
  assert.match(forPage[0].text, /throw new Error\(/);
  assert.doesNotMatch(forPage[0].text, /Bearer/);
  // A bundle for a server has it.
  const { outputFiles: forServer } = await esbuild({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
  });
  assert.match(forServer[0].text, /Bearer/);
});

/** Returns the files of a folder with their bytes. */
const filesOf = (out) =>
  readdirSync(join(folder, out), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath, path }) => [name, readFileSync(join(parentPath ?? path, name))]);

for (const from of [NAME, `${NAME}/client`]) {
  test(`A bundle that imports only BrowserWidgetClient from ${from} is below 2.4 KB and has no WebAssembly in it`, async () => {
    const name = from === NAME ? "whole" : "part";
    write(
      `${name}.js`,
      `import { BrowserWidgetClient } from "${from}";\nconsole.log(new BrowserWidgetClient({ proxy: "/connector" }));\n`,
    );
    const common = { bundle: true, minify: true, format: "esm", loader: { ".wasm": "file" } };
    await esbuild({ ...common, entryPoints: [join(folder, `${name}.js`)], outdir: join(folder, name, "esbuild") });
    const input = join(folder, `${name}.js`);
    // Without Vite's polyfill for module preload.
    await vite({
      root: folder,
      configFile: false,
      logLevel: "warn",
      build: { outDir: `${name}/vite`, rollupOptions: { input }, modulePreload: { polyfill: false }, target: "es2022" },
    });
    await new Promise((resolve, reject) =>
      webpack(
        {
          mode: "production",
          target: ["web", "es2022"],
          context: folder,
          entry: input,
          output: { path: join(folder, name, "webpack") },
        },
        (error, stats) => (error || stats.hasErrors() ? reject(error ?? new Error(String(stats))) : resolve()),
      ),
    );
    for (const bundler of ["esbuild", "vite", "webpack"]) {
      // Vite copies assets before it removes the unused module that refers to them. No page loads the copy.
      const isCopied = ([file]) => bundler === "vite" && from === NAME && file.endsWith(".wasm");
      const files = filesOf(join(name, bundler)).filter((file) => !isCopied(file));
      assert.deepEqual(
        files.map(([file]) => file.match(/\.\w+$/)[0]),
        [".js"],
        bundler,
      );
      const [[, bytes]] = files;
      assert.ok(brotliCompressSync(bytes).length < 2400, `${bundler}: ${brotliCompressSync(bytes).length} bytes`);
      assert.doesNotMatch(bytes.toString(), /WebAssembly|\.wasm/, bundler);
    }
  });
}
