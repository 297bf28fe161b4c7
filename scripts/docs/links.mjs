// Where the links of the docs lead within the site, and whether each target exists.

import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { root } from "../setup.mjs";
import { relative } from "./layout.mjs";
import { codeBlock, escapeHtml } from "./markdown.mjs";
import { addressOf, HOME } from "./navigation.mjs";

/** Folders of builds, which may be beside the sources. */
const BUILT = ["dist", "node_modules", "pkg", "target"];
/** Languages by the ending of a file's name. */
const LANGUAGES = { html: "xml", js: "javascript", mjs: "javascript", php: "php", rs: "rust", sh: "bash", toml: "ini" };

/** Collects the files and pictures that the pages link to, beside the pages themselves. */
export class Links {
  /** `pages` are the paths of the Markdown with a page of its own. */
  constructor(pages) {
    this.pages = new Set(pages);
    this.sources = new Set();
    this.pictures = new Set();
    /** Links that lead nowhere, each as one line. */
    this.problems = [];
  }

  /** Returns the functions that `render` needs for the Markdown at `path`. */
  of(path) {
    const from = addressOf(path);
    const within = (target) => posix.join(posix.dirname(path), target);
    return {
      link: (href) => {
        if (/^[a-z]+:/.test(href) || href.startsWith("#")) return href;
        const [target, anchor] = href.split("#");
        const address = this.address(within(target), `${path}: ${href}`);
        return relative(from, anchor === undefined ? address : `${address}#${anchor}`);
      },
      title: (href) => this.titleOf(within(href.split("#")[0])),
      image: (src) => {
        return relative(from, this.address(within(src), `${path}: ${src}`));
      },
    };
  }

  /** Returns the address of a path of the repository. `where` is for the error. */
  address(path, where) {
    const clean = path.replace(/\/$/, "");
    if (!existsSync(join(root, clean))) return this.fails(`${where} is missing`);
    if (this.pages.has(clean)) return addressOf(clean);
    if (this.pages.has(`${clean}/README.md`)) return addressOf(`${clean}/README.md`);
    if (clean.endsWith(".md")) return this.fails(`${where} is not in scripts/docs/navigation.mjs`);
    if (/\.(png|svg|jpg)$/.test(clean)) {
      this.pictures.add(clean);
      return pictureAddress(clean);
    }
    this.sources.add(clean);
    return sourceAddress(clean);
  }

  /** Returns the heading of a page, or undefined if the path has none in the site. */
  titleOf(path) {
    return this.pages.has(path) ? heading(readFileSync(join(root, path), "utf8")) : undefined;
  }

  fails(problem) {
    this.problems.push(problem);
    return addressOf(HOME);
  }

  /** Returns the pages of the linked source files, as `{ address, title, html }`. A folder's page lists its files. */
  sourcePages() {
    return [...this.sources].flatMap((path) => (isFolder(path) ? folderPages(path) : [filePage(path)]));
  }
}

/** Returns the first heading of Markdown, without markup. */
const heading = (markdown) => markdown.match(/^# (.*)$/m)[1].replaceAll("`", "");

export const pictureAddress = (path) => `pictures/${basename(path)}`;

const isFolder = (path) => statSync(join(root, path)).isDirectory();

const sourceAddress = (path) => `source/${path}${isFolder(path) ? "/index" : ""}.html`;

/** Returns the files in a folder of the repository, with those in its folders. */
function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !BUILT.includes(name) && !name.startsWith("."))
    .flatMap((entry) => (entry.isDirectory() ? filesIn(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`]))
    .sort();
}

function folderPages(folder) {
  const address = sourceAddress(folder);
  const files = filesIn(folder).filter((path) => !/\.(png|jpg|wasm|ico)$/.test(path));
  const items = files.map((path) => {
    const link = relative(address, sourceAddress(path));
    return `<li><a href="${link}"><code>${escapeHtml(posix.relative(folder, path))}</code></a></li>`;
  });
  const html = `<h1><code>${escapeHtml(folder)}</code></h1>\n<ul>${items.join("\n")}</ul>`;
  return [{ address, title: folder, html }, ...files.map(filePage)];
}

function filePage(path) {
  const language = LANGUAGES[path.split(".").at(-1)] ?? (path.endsWith("nginx.conf") ? "nginx" : "");
  const code = codeBlock(readFileSync(join(root, path), "utf8"), language, path);
  return { address: sourceAddress(path), title: path, html: `<h1><code>${escapeHtml(path)}</code></h1>\n${code}` };
}
