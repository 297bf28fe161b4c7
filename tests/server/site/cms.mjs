// A small CMS in a folder: posts with versions, and the site's own pages. Two processes use it: the site's server and the
// runner of jobs.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const page = (title, body) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

export class Cms {
  constructor(home) {
    this.home = home;
    for (const folder of ["posts", "own"]) mkdirSync(join(home, folder), { recursive: true });
  }

  #write(file, text) {
    const path = join(this.home, file);
    writeFileSync(`${path}.${process.pid}`, text);
    renameSync(`${path}.${process.pid}`, path);
  }

  posts() {
    const files = readdirSync(join(this.home, "posts")).filter((name) => name.endsWith(".json"));
    return files.map((name) => JSON.parse(readFileSync(join(this.home, "posts", name), "utf8")));
  }

  find = (contentId) => this.posts().find((post) => post.contentId === contentId);
  post = (id) => this.posts().find((post) => post.id === id);
  save = (post) => this.#write(`posts/${post.id}.json`, JSON.stringify(post));

  /** Adds a post: each call adds another one. Returns its id. */
  insert(contentId) {
    const post = { id: crypto.randomUUID(), contentId, isPublished: false, versions: [], jobs: [] };
    this.save(post);
    return post.id;
  }

  #fileOf = (path) => `own/${encodeURIComponent(path)}.html`;

  /** Returns the HTML that the site has at a path. */
  html(path) {
    const post = this.posts().find(({ isPublished, versions }) => isPublished && versions.at(-1).path === path);
    const { title, content, edited } = post?.versions.at(-1) ?? {};
    if (post) return edited ?? page(escaped(title), `<h1>${escaped(title)}</h1>${content}`);
    return this.own(path);
  }

  own(path) {
    const file = join(this.home, this.#fileOf(path));
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  }

  /** Edits a page by hand. */
  edit(path, html) {
    const post = this.posts().find(({ isPublished, versions }) => isPublished && versions.at(-1).path === path);
    if (!post) return this.#write(this.#fileOf(path), html);
    post.versions.at(-1).edited = html;
    this.save(post);
  }

  /** Returns the site's pages for a sync. */
  pages() {
    const paths = this.posts()
      .filter(({ isPublished }) => isPublished)
      .map(({ id, versions }) => [id, versions.at(-1).path]);
    const own = readdirSync(join(this.home, "own")).map((name) => decodeURIComponent(name.slice(0, -5)));
    return [...paths, ...own.map((path) => [path, path])].map(([externalId, path]) => ({
      externalId,
      type: "page",
      path,
      content: this.html(path),
    }));
  }
}
