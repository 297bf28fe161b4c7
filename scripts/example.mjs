// Builds the Leptos application of `examples/leptos/` into `target/leptos-shop/` as Trunk does, but without inline scripts,
// which the page's policy forbids.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main, root, run, say, setupBuild } from "./setup.mjs";

const NAME = "leptos-shop";
const source = join(root, "examples", "leptos");

const shop = join(root, "target", NAME);

/** The links of Trunk and the tags that replace them. */
const IN_PLACE = [
  ['<link data-trunk rel="rust" />', '<script type="module" src="/start.mjs"></script>'],
  ['<link data-trunk rel="css" href="shop.css" />', '<link rel="stylesheet" href="/shop.css" />'],
];

/** Builds the application, unoptimised. */
export function buildExample() {
  // The tests in the browser have compiled nearly all of it in the same profile.
  const target = ["--target-dir", "target", "--target", "wasm32-unknown-unknown"];
  run("cargo", ["build", "--locked", "-p", NAME, ...target, "--quiet"]);
  const built = join(root, "target", "wasm32-unknown-unknown", "debug", `${NAME}.wasm`);
  mkdirSync(shop, { recursive: true });
  run("wasm-bindgen", ["--target", "web", "--no-typescript", "--out-dir", shop, "--out-name", NAME, built]);
  let page = readFileSync(join(source, "index.html"), "utf8");
  for (const [link, tag] of IN_PLACE) {
    if (!page.includes(link)) throw new Error(`examples/leptos/index.html has no ${link}`);
    page = page.replace(link, tag);
  }
  writeFileSync(join(shop, "index.html"), page);
  writeFileSync(join(shop, "start.mjs"), `import start from "./${NAME}.js";\nawait start();\n`);
  copyFileSync(join(source, "shop.css"), join(shop, "shop.css"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => {
    setupBuild();
    buildExample();
    say(`${shop} is built`);
  });
}
