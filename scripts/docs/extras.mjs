// The parts of the site that are not Markdown: the live widget, the reference of the crates, and the files of every page.

import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../setup.mjs";
import { escapeHtml } from "./markdown.mjs";
import { LIVE } from "./navigation.mjs";

/** The files of the demo that gallery and playground consist of. */
const DEMO = ["gallery", "gallery.html", "icon.svg", "playground-frame.html", "playground.html", "shop.css"];
/** The files of dist/ that a page loads. */
const FOR_PAGES = /^(locales|themes|.*\.(js|mjs|wasm))$/;

const hasWidget = () => existsSync(join(root, "dist/chat-widget.js"));

/** Copies gallery, playground and the built widget to `live/`. Returns whether the widget was there. */
export function copyLive(folder) {
  const live = join(folder, "live");
  for (const name of DEMO) cpSync(join(root, "www/demo", name), join(live, name), { recursive: true });
  const playground = join(live, "playground.html");
  const page = readFileSync(playground, "utf8");
  if (!page.includes(" data-service>")) throw new Error("www/demo/playground.html has no data-service");
  // A folder of static files has no service, so the playground must not offer one.
  writeFileSync(playground, page.replace(" data-service>", ">"));
  if (!hasWidget()) return false;
  const files = readdirSync(join(root, "dist")).filter((name) => FOR_PAGES.test(name));
  for (const name of files) cpSync(join(root, "dist", name), join(live, "chat-widget", name), { recursive: true });
  return true;
}

/** Returns the content of a live page. */
export function livePage(name) {
  const { title, text } = LIVE[name];
  const frame = hasWidget()
    ? `<iframe class="live ${name}" src="live/${name}.html" title="${escapeHtml(title)}"></iframe>`
    : "<p><strong>The widget was not built when this page was.</strong> Run <code>npm run build</code>, and then <code>npm run docs</code>.</p>";
  return `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)} <a href="live/${name}.html">Open it as a page of its own</a>.</p>
<p>This is the real widget. It needs no service here: the page itself answers in its place, and nothing that you write leaves your browser. The page needs a web server, because browsers do not load modules from files, and a browser that can run the widget. To chat with a service, run <code>npm start</code>.</p>
${frame}`;
}

/** Returns the crates with a reference: name, description, and the folder of rustdoc. */
function crates() {
  const manifests = ["Cargo.toml", ...["protocol", "session", "connector", "service", "console"].map(inCrates)];
  return manifests.map((path) => {
    const manifest = readFileSync(join(root, path), "utf8").split("[package]\n")[1];
    const field = (name) => manifest.match(new RegExp(`^${name} = "([^"]*)"`, "m"))[1];
    return { name: field("name"), description: field("description"), folder: field("name").replaceAll("-", "_") };
  });
}

const inCrates = (name) => `crates/${name}/Cargo.toml`;

/** Copies the output of rustdoc to `rustdoc/`, as far as there is one. Returns the crates, each with `isThere`. */
export function copyRustdoc(folder) {
  const made = join(root, "target/doc");
  const found = crates().map((crate) => ({ ...crate, isThere: existsSync(join(made, crate.folder, "index.html")) }));
  if (found.some(({ isThere }) => isThere)) cpSync(made, join(folder, "rustdoc"), { recursive: true });
  return found;
}

/** Returns the content of the page that lists the crates. */
export function cratesPage(found) {
  const rows = found.map(({ name, description, folder: own, isThere }) => {
    const title = isThere ? `<a href="rustdoc/${own}/index.html">${name}</a>` : name;
    return `<li><strong>${title}</strong>: ${escapeHtml(description)}</li>`;
  });
  const missing = found.every(({ isThere }) => isThere)
    ? ""
    : "<p>The reference of the crates without a link was not built. Run <code>npm run docs -- --rustdoc</code>.</p>";
  return `<h1>Crates</h1>
<p>The reference of the Rust crates, made by rustdoc. How they belong together: <a href="architecture.html">Architecture</a>.</p>
<ul>${rows.join("\n")}</ul>
${missing}`;
}

/** Bundles the scripts and copies the style sheet of every page. */
export async function writeAssets(folder) {
  const assets = join(folder, "assets");
  mkdirSync(assets, { recursive: true });
  await build({
    entryPoints: [join(root, "www/docs/docs.js"), join(root, "www/docs/scheme.js"), join(root, "www/docs/docs.css")],
    outdir: assets,
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    logLevel: "warning",
  });
}
