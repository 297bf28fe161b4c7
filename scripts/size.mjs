// Compares the sizes of `dist/` with the budgets of `size-budget.json`, and fails if one is exceeded. With `--by-crate`, it also
// prints where the bytes of the WebAssembly modules come from.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { Advice, main, npmPackages, root, say } from "./setup.mjs";

const dist = join(root, "dist");
const kb = (bytes) => (bytes / 1000).toFixed(1).padStart(7);

function weigh(file) {
  const bytes = readFileSync(join(dist, file));
  const quality = {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  };
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, quality).length,
  };
}

/** Prints the table and returns the exceeded budgets. */
export function size() {
  if (!existsSync(dist)) throw new Advice("dist/ is missing: run `npm run build` first");
  const files = readdirSync(dist, { recursive: true })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.(js|mjs|wasm)$|^console\/.*\.css$/.test(file) && statSync(join(dist, file)).isFile())
    .sort();
  const weights = new Map(files.map((file) => [file, weigh(file)]));
  console.log(`${"KB".padEnd(32)}    raw    gzip  brotli`);
  for (const [file, { raw, gzip, brotli }] of weights)
    console.log(`${file.padEnd(32)}${kb(raw)} ${kb(gzip)} ${kb(brotli)}`);
  const exceeded = [];
  const { budgets } = JSON.parse(readFileSync(join(root, "size-budget.json"), "utf8"));
  const weight = (file) => {
    if (!weights.has(file)) throw new Advice(`invalid size-budget.json: dist/ has no ${file}`);
    return weights.get(file).brotli;
  };
  for (const { name, files = [], eachIn, allIn, brotli: budget } of budgets) {
    // A budget may include the largest file of a folder.
    const heaviest = eachIn
      ? Math.max(...[...weights.keys()].filter((file) => file.startsWith(eachIn)).map(weight))
      : 0;
    // The names of some files contain the hash of their content.
    for (const start of allIn ?? []) files.push(...[...weights.keys()].filter((file) => file.startsWith(start)));
    const bytes = files.reduce((sum, file) => sum + weight(file), heaviest);
    const within = bytes <= budget;
    console.log(`${within ? "within " : "OVER   "} ${name}: ${kb(bytes).trim()} of ${kb(budget).trim()} KB brotli`);
    if (!within) exceeded.push(name);
  }
  return exceeded;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const exceeded = size();
    if (process.argv.includes("--by-crate")) {
      npmPackages();
      (await import("./attribution.mjs")).printAttribution();
    }
    if (exceeded.length > 0) throw new Advice(`over budget: ${exceeded.join(", ")}`);
    say("all sizes are within their budgets");
  });
}
