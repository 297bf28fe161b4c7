// Builds the Leptos applications of `examples/`: the client-rendered one into `target/leptos-shop/` as Trunk does, without
// inline scripts, which the page's policy forbids; the server-rendered one into `target/leptos-ssr-shop/`, with its server
// in `target/leptos/debug/`.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main, root, run, say, setupBuild } from "./setup.mjs";

const SHOP = "leptos-shop";
const SSR_SHOP = "leptos-ssr-shop";
const source = join(root, "examples", "leptos");
/**
 * A folder of their own: with other features, the widget's library is another one, and cargo writes it to the same file that
 * Trunk would then take for its own.
 */
const PLACE = ["--target-dir", "target/leptos"];

/** The tags that replace Trunk's links. */
const IN_PLACE = [
  ['<link data-trunk rel="rust" />', '<script type="module" src="/start.mjs"></script>'],
  ['<link data-trunk rel="css" href="shop.css" />', '<link rel="stylesheet" href="/shop.css" />'],
];

/** Builds the module of a package, unoptimised, with its glue and a script that starts it. Returns the folder. */
function buildModule(name, file, flags = []) {
  const target = [...PLACE, "--target", "wasm32-unknown-unknown"];
  run("cargo", ["build", "--locked", "-p", name, ...flags, ...target, "--quiet"]);
  const built = join(root, "target", "leptos", "wasm32-unknown-unknown", "debug", `${file}.wasm`);
  const folder = join(root, "target", name);
  mkdirSync(folder, { recursive: true });
  run("wasm-bindgen", ["--target", "web", "--no-typescript", "--out-dir", folder, "--out-name", name, built]);
  writeFileSync(join(folder, "start.mjs"), `import start from "./${name}.js";\nawait start();\n`);
  return folder;
}

/** Builds the applications. Returns their folders. */
export function buildExamples() {
  const shop = buildModule(SHOP, SHOP);
  let page = readFileSync(join(source, "index.html"), "utf8");
  for (const [link, tag] of IN_PLACE) {
    if (!page.includes(link)) throw new Error(`examples/leptos/index.html has no ${link}`);
    page = page.replace(link, tag);
  }
  writeFileSync(join(shop, "index.html"), page);
  copyFileSync(join(source, "shop.css"), join(shop, "shop.css"));

  const rendered = buildModule(SSR_SHOP, SSR_SHOP.replaceAll("-", "_"), ["--lib", "--features", "hydrate"]);
  run("cargo", ["build", "--locked", "-p", SSR_SHOP, "--features", "ssr", ...PLACE, "--quiet"]);
  return [shop, rendered];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    setupBuild();
    say(`${buildExamples().join(" and ")} are built`);
  });
}
