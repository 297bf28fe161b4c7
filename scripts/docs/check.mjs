// Checks a built documentation site: each address in a page leads to a file of the site, and each anchor to an element.

import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, posix } from "node:path";

/** Returns the pages of the site, without the reference of the crates, which rustdoc checks itself. */
export function builtPages(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".html") && !path.startsWith("rustdoc/"));
}

/** Returns the addresses that a page loads or links to, without the characters that HTML escapes. */
const addresses = (html) =>
  [...html.matchAll(/<[a-z]+\b[^>]*?\s(?:href|src)="([^"]*)"/g)].map(([, address]) => address.replaceAll("&amp;", "&"));

/** Returns the problems of the site in a folder, each as one line. */
export function problems(folder) {
  const pages = new Map(builtPages(folder).map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  const anchors = (html) => new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id));
  const found = [];
  for (const [path, html] of pages) {
    for (const address of addresses(html)) {
      if (/^(https?|mailto):/.test(address)) continue;
      const [target, anchor] = address.split("#");
      const file = target === "" ? path : posix.join(posix.dirname(path), target.split("?")[0]);
      if (/^[a-z]+:|^\//.test(address)) found.push(`${path}: ${address} is not relative`);
      else if (file.startsWith("..")) found.push(`${path}: ${address} leaves the site`);
      else if (!existsSync(join(folder, file)) || statSync(join(folder, file)).isDirectory())
        found.push(`${path}: ${address} is missing`);
      else if (anchor && pages.has(file) && !anchors(pages.get(file)).has(decodeURIComponent(anchor)))
        found.push(`${path}: ${address} has no such anchor`);
    }
  }
  return found;
}
