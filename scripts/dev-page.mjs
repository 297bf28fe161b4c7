// Builds the development page of `www/dev/` into `target/dev-page/` as `trunk serve` does, for a test that needs no Trunk,
// and checks the types of its script against the module's glue.

import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { main, root, run, say, setupBuild } from "./setup.mjs";

const NAME = "chat-widget";
const source = join(root, "www", "dev");
const out = join(root, "target", "dev-page");

/** The start of the module that Trunk writes into a page. */
const START = `import start, * as bindings from "./${NAME}.js";
const wasm = await start();
window.wasmBindings = bindings;
dispatchEvent(new CustomEvent("TrunkApplicationStarted", { detail: { wasm } }));
`;

/** Compiles the module without optimisation and writes its glue with types. */
function buildModule({ "data-target-name": library, "data-cargo-features": features }) {
  const target = ["--target-dir", "target", "--target", "wasm32-unknown-unknown"];
  run("cargo", ["build", "--locked", "--lib", "--features", features, ...target, "--quiet"]);
  const built = join(root, "target", "wasm32-unknown-unknown", "debug", `${library}.wasm`);
  run("wasm-bindgen", ["--target", "web", "--out-dir", out, "--out-name", NAME, built]);
  writeFileSync(join(out, "start.mjs"), START);
  return '<script type="module" src="/start.mjs"></script>';
}

/** Trunk's kinds of links: each takes the attributes, writes files, and returns the HTML that replaces the link. */
const ASSETS = {
  rust: buildModule,
  "copy-file": ({ href }) => {
    copyFileSync(join(source, href), join(out, basename(href)));
    return "";
  },
  "copy-dir": ({ href }) => {
    cpSync(join(source, href), join(out, basename(href)), { recursive: true });
    return "";
  },
};

/** Builds the page. Throws for a kind of link that is not implemented here. */
export function buildDevPage() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const page = readFileSync(join(source, "index.html"), "utf8").replace(/<link data-trunk ([^>]*?)\/?>/g, (_, text) => {
    const { rel, ...attributes } = Object.fromEntries(
      [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    if (!ASSETS[rel]) throw new Error(`unknown Trunk asset: expected ${Object.keys(ASSETS).join(", ")}, got ${rel}`);
    return ASSETS[rel](attributes);
  });
  writeFileSync(join(out, "index.html"), page);
  run("tsc", ["-p", source]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    setupBuild();
    buildDevPage();
    say(`${out} is built`);
  });
}
