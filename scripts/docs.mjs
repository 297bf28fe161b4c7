// `npm run docs`: builds the documentation into one folder of static files, target/docs-site/. `--rustdoc` builds the
// reference of the crates first; without it, the site has the reference that is already there.

import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Advice, main, npmPackages, root, run, say } from "./setup.mjs";

const out = join(root, "target/docs-site");
/** The folders that the site is made of. */
const FOLDERS = ["docs", "www/docs", "www/demo", "scripts/docs", "examples"];

/** Returns the time of the newest source of the site, in milliseconds. */
function newestSource() {
  const files = ["package-lock.json", "dist/chat-widget.js", "target/doc", ...FOLDERS];
  files.push(...readdirSync(root).filter((name) => name.endsWith(".md")));
  // A folder changes when a file in it is added or removed.
  for (const folder of FOLDERS)
    for (const entry of readdirSync(join(root, folder), { recursive: true })) files.push(join(folder, entry));
  const times = files.map((file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(...times);
}

/**
 * Builds the site into a folder. Fails if a page is in no section, or a link leads nowhere; with `rustdoc` also if the
 * reference of a crate is missing.
 */
export async function buildDocs({ folder = out, rustdoc = false } = {}) {
  // Imported late, because npm's packages may be missing when this module is loaded.
  const { buildSite } = await import("./docs/site.mjs");
  const newest = newestSource();
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const { problems, hasWidget, withoutReference } = await buildSite(fresh);
  if (rustdoc && withoutReference.length > 0)
    throw new Advice(`target/doc has no reference of ${withoutReference.join(", ")}. Run: npm run docs -- --rustdoc`);
  if (problems.length > 0) throw new Advice(`the documentation has broken links:\n${problems.join("\n")}`);
  writeFileSync(join(fresh, ".built"), newest.toString());
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  if (!hasWidget) say("the documentation shows no widget, because dist/ is not built. Run: npm run build");
}

/** Builds the site, unless it is the one of the current sources. */
export async function buildDocsIfStale() {
  const stamp = join(out, ".built");
  if (existsSync(stamp) && Number(readFileSync(stamp, "utf8")) === newestSource()) return;
  say("building the documentation");
  await buildDocs();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    npmPackages();
    const rustdoc = process.argv.includes("--rustdoc");
    if (rustdoc) run("cargo", ["doc", "--locked", "--workspace", "--no-deps"]);
    await buildDocs({ rustdoc });
    say("the documentation is in target/docs-site/. Serve that folder with any web server, at any path");
  });
}
