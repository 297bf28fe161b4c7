// A project with the packed package and the files of docs/frameworks.md, and a site that serves what is built from them.

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { errorsOf } from "../e2e/chat.mjs";
import { launch, startDemo } from "../e2e/demo.mjs";
import { Sandbox } from "../e2e/sandbox.mjs";
import { files, RUN_BY } from "../docs-snippets.mjs";
import { packPackage } from "../../scripts/npm-package.mjs";
import { serveSite } from "../../scripts/static-site.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const DOCS = "docs/frameworks.md";
/** The other packages of the project. */
const INSTALLED = ["react", "react-dom", "vue", "@types/react", "@types/react-dom"];
/** The timeout of a wait, in milliseconds. */
const WAIT_TIMEOUT_MS = 20_000;

/** Packs the package and installs it into a new project with the docs' files. */
export function project(name) {
  const folder = join(root, "target", "npm", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  const tarball = packPackage(join(folder, "packed"));
  execFileSync(
    "npm",
    ["install", "--ignore-scripts", "--offline", "--no-audit", "--no-fund", "--loglevel=error", tarball],
    { cwd: folder },
  );
  for (const name of INSTALLED) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  const ours = Object.entries(RUN_BY[DOCS]).filter(([, by]) => by.startsWith("tests/npm/"));
  const names = ours.map(([name]) => name);
  for (const [file, text] of files(DOCS, (name) => names.includes(name))) writeFileSync(join(folder, file), text);
  const write = (file, text) => writeFileSync(join(folder, file), text);
  return { folder, tarball, write };
}

const closing = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

let begun;

/** Starts the demo and a browser once. */
export function begin() {
  begun ??= (async () => {
    const demo = await startDemo();
    closing.push(demo.stop);
    const browser = await launch();
    closing.push(() => browser.close());
    return { demo, browser, server: new Sandbox(demo.sandbox) };
  })();
  return begun;
}

/** Serves a folder, with `html` at `/` and the proxy behind `/connector`. Returns its address. */
export async function serve(folder, html) {
  const { demo } = await begin();
  const { server, site } = await serveSite(folder, html, demo.site);
  closing.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return site;
}

/** Returns the address of the demo's site, for servers that forward by themselves. */
export const proxied = async () => (await begin()).demo.site;

let last;

/** Opens a page as a new visitor of a service without data. */
export async function visit(address) {
  const { browser, server } = await begin();
  // The previous visitor would still report events.
  await last?.close();
  await server.reset();
  const context = (last = await browser.newContext({ reducedMotion: "reduce" }));
  context.setDefaultTimeout(WAIT_TIMEOUT_MS);
  const page = await context.newPage();
  const wrong = errorsOf(page);
  await page.goto(address);
  return { page, server, wrong };
}
