// Builds the documentation site: every page of the navigation, the linked sources, the pictures and the search.

import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Advice, root } from "../setup.mjs";
import { problems } from "./check.mjs";
import { copyLive, copyRustdoc, cratesPage, livePage, writeAssets } from "./extras.mjs";
import { layout } from "./layout.mjs";
import { Links, pictureAddress } from "./links.mjs";
import { render } from "./markdown.mjs";
import { addressOf, allPages, CRATES, LIVE, NAMES, SECTIONS } from "./navigation.mjs";

/** Returns the pages of docs/ that are in no section. */
export function missingPages() {
  const isListed = new Set(allPages());
  return ["docs", "docs/decisions"]
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith(".md") && !isListed.has(path));
}

/** Returns a page's address, title and content. */
function contentOf(page, reference, links) {
  const address = addressOf(page);
  if (page in LIVE) return { address, title: LIVE[page].title, html: livePage(page), isWide: true };
  if (page === CRATES) return { address, title: "Crates", html: cratesPage(reference) };
  return { address, ...render(readFileSync(join(root, page), "utf8"), links.of(page)) };
}

/** Returns the entries of the search: page, heading, address and text of each section. */
const searchEntries = (contents) =>
  contents.flatMap(({ address, title, sections = [] }) =>
    sections.map(({ level, id, text, body }) => [title, text, level === 1 ? address : `${address}#${id}`, body]),
  );

/**
 * Writes the site into a new folder. Returns the problems of its links, whether it has the live widget, and the crates
 * without reference.
 */
export async function buildSite(folder) {
  const missing = missingPages();
  if (missing.length > 0) throw new Advice(`add to scripts/docs/navigation.mjs: ${missing.join(", ")}`);
  mkdirSync(folder, { recursive: true });
  const hasWidget = copyLive(folder);
  const reference = copyRustdoc(folder);
  await writeAssets(folder);

  const pages = allPages();
  const links = new Links(pages.filter((page) => page.endsWith(".md")));
  const contents = pages.map((page) => contentOf(page, reference, links));
  const titles = new Map(pages.map((page, index) => [page, contents[index].title]));
  const sections = SECTIONS.map((section) => ({
    ...section,
    entries: section.pages.map((page) => ({ address: addressOf(page), title: NAMES[page] ?? titles.get(page) })),
  }));
  for (const content of [...contents, ...links.sourcePages()]) {
    const path = join(folder, content.address);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, layout({ ...content, sections }));
  }
  for (const picture of links.pictures) cpSync(join(root, picture), join(folder, pictureAddress(picture)));
  writeFileSync(join(folder, "search.json"), JSON.stringify(searchEntries(contents)));
  const withoutReference = reference.filter(({ isThere }) => !isThere).map(({ name }) => name);
  return { problems: [...links.problems, ...problems(folder)], hasWidget, withoutReference };
}
