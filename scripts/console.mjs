// Builds `dist/console/`: the operators' console, whose files the service contains. `--dev` leaves out the optimisers and
// explains panics.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { WASM_FEATURES, compileWasm } from "./wasm.mjs";
import { Advice, main, root, run, runBeside, say, setupBuild } from "./setup.mjs";

const source = join(root, "crates", "console");
const glue = join(root, "target", "console-glue");
const out = join(root, "dist", "console");

/** The style sheets, in their order. */
const STYLES = [
  "tokens",
  "base",
  "controls",
  "marks",
  "menus",
  "shell",
  "inbox",
  "row",
  "panes",
  "conversation",
  "markdown",
  "composer",
  "visitor",
  "palette",
  "forms",
  "modal",
  "rows",
  "settings",
  "hours",
  "studio",
  "publishing",
  "rules",
  "reports",
  "charts",
  "attention",
  "account",
];

/** Writes a file, and in a release build a compressed one beside it. */
function write(name, bytes, dev) {
  writeFileSync(join(`${out}.new`, name), bytes);
  if (dev) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(join(`${out}.new`, `${name}.br`), brotliCompressSync(bytes, { params }));
}

/** Writes a file under a name with the hash of its content, which browsers store forever. Returns the name. */
function writeHashed(name, extension, bytes, dev) {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const hashed = `${name}.${hash}.${extension}`;
  write(hashed, bytes, dev);
  return hashed;
}

/**
 * The programs of a build with their documents, by the name of their files. For development, one program has all pages: it is
 * linked once.
 */
const RELEASE = { inbox: ["chat-console-inbox", "index.html"], pages: ["chat-console-pages", "pages.html"] };
const DEVELOPMENT = { inbox: ["chat-console", "index.html", "pages.html"] };

/** Compiles programs of the crate. Returns the folder of their modules. */
function compile(programs, dev) {
  say(`compiling the console to WebAssembly (${dev ? "development" : "release"})`);
  return compileWasm({
    // cargo links the programs at the same time.
    target: ["--package", "chat-console", ...programs.flatMap((program) => ["--bin", program])],
    features: dev ? ["--features", "chat-console/debug-panics"] : [],
    flags: ["--cfg=erase_components"],
    dev,
  });
}

/** Returns the optimised module of a program, and the folder of its glue. */
async function bindModule(name, path, dev) {
  const folder = join(glue, name);
  const names = dev ? ["--keep-debug"] : ["--remove-name-section", "--remove-producers-section"];
  const file = ["--out-name", "chat-console", "--out-dir", folder];
  run("wasm-bindgen", ["--target", "web", "--no-typescript", ...names, ...file, path]);
  const bound = join(folder, "chat-console_bg.wasm");
  if (dev) return { module: readFileSync(bound), folder };
  const optimised = join(folder, "optimised.wasm");
  const enabled = WASM_FEATURES.map((name) => `--enable-${name}`);
  // As for the widget, without merging similar functions, which compresses worse.
  await runBeside("wasm-opt", [...enabled, "--flatten", "--rereloop", "-Oz", "-Oz", bound, "-o", optimised]);
  return { module: readFileSync(optimised), folder };
}

/** Bundles the generated glue with the line that starts the module. */
async function buildScript(esbuild, name, wasm, folder, dev) {
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents: `import init from "./chat-console.js"; init({ module_or_path: "/console/${wasm}" });`,
      resolveDir: folder,
    },
    bundle: true,
    write: false,
    minify: !dev,
    format: "esm",
    target: "es2022",
    logLevel: "error",
    // The default address of the module, which is not used.
    define: { "import.meta.url": '""' },
  });
  return writeHashed(name, "js", Buffer.from(outputFiles[0].contents), dev);
}

async function buildStyles(esbuild, dev) {
  const folder = join(source, "styles");
  const listed = STYLES.map((name) => `${name}.css`);
  const unlisted = readdirSync(folder).filter((sheet) => !listed.includes(sheet));
  if (unlisted.length > 0) throw new Advice(`add ${unlisted.join(", ")} to STYLES in scripts/console.mjs`);
  const css = listed.map((sheet) => readFileSync(join(folder, sheet), "utf8")).join("\n");
  const { code } = await esbuild.transform(css, { loader: "css", minify: !dev, target: "es2022" });
  return writeHashed("console", "css", Buffer.from(code), dev);
}

/** Writes the texts of each language but English, with each form of a plural under the name `name.category`. */
function buildTexts(dev) {
  mkdirSync(join(`${out}.new`, "texts"));
  for (const tag of readdirSync(join(source, "texts")).filter((tag) => tag !== "en")) {
    const all = {};
    for (const file of readdirSync(join(source, "texts", tag))) {
      const texts = JSON.parse(readFileSync(join(source, "texts", tag, file), "utf8"));
      for (const [key, text] of Object.entries(texts)) {
        const path = `${basename(file, ".json")}.${key}`;
        if (typeof text === "string") all[path] = text;
        else for (const [category, form] of Object.entries(text)) all[`${path}.${category}`] = form;
      }
    }
    write(`texts/${tag}.json`, Buffer.from(JSON.stringify(all)), dev);
  }
}

/** Builds the console. */
export async function buildConsole({ dev = false } = {}) {
  const esbuild = await import("esbuild");
  const fresh = `${out}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const styles = await buildStyles(esbuild, dev);
  const page = readFileSync(join(source, "index.html"), "utf8");
  const programs = Object.entries(dev ? DEVELOPMENT : RELEASE);
  const modules = compile(
    programs.map(([, [program]]) => program),
    dev,
  );
  const work = programs.map(async ([name, [program, ...documents]]) => {
    const { module, folder } = await bindModule(name, join(modules, `${program}.wasm`), dev);
    const wasm = writeHashed(name, "wasm", module, dev);
    const script = await buildScript(esbuild, name, wasm, folder, dev);
    const names = { wasm, script, styles };
    const html = Buffer.from(page.replace(/\{(wasm|script|styles)\}/g, (_, part) => names[part]));
    for (const document of documents) write(document, html, dev);
    const { size } = statSync(join(fresh, dev ? wasm : `${wasm}.br`));
    say(`${documents}: ${(size / 1000).toFixed(1)} KB WebAssembly${dev ? "" : " (brotli)"}`);
  });
  await Promise.all(work);
  buildTexts(dev);
  // Files that keep their names: the page's icon, and what a service worker needs.
  for (const file of readdirSync(join(source, "files"))) write(file, readFileSync(join(source, "files", file)), dev);
  rmSync(out, { recursive: true, force: true });
  renameSync(fresh, out);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    setupBuild();
    await buildConsole({ dev: process.argv.includes("--dev") });
  });
}
