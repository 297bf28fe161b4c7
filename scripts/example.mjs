// Builds the Leptos application of `examples/leptos/` into `target/leptos-shop/`, as Trunk would, but for a page whose
// policy lets no script of its own text through.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main, root, run, say, setupBuild } from "./setup.mjs";

const NAME = "leptos-shop";
const source = join(root, "examples", "leptos");

const shop = join(root, "target", NAME);

/** What Trunk puts in the place of its own links. */
const IN_PLACE = [
  ['<link data-trunk rel="rust" />', '<script type="module" src="/start.mjs"></script>'],
  ['<link data-trunk rel="css" href="shop.css" />', '<link rel="stylesheet" href="/shop.css" />'],
];

/** Builds the application, unoptimised. */
export function buildExample() {
  // In the profile of the tests in the browser, which have compiled nearly all of it.
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
