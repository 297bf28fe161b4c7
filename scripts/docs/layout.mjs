// The frame of every page of the documentation site. All addresses are relative, and nothing is inline: the site works in
// any folder, and under a policy with `script-src 'self'` and `style-src 'self'`.

import { posix } from "node:path";
import { escapeHtml } from "./markdown.mjs";

/** Returns the address of `to` as a page at `from` writes it. */
export function relative(from, to) {
  const [path, anchor] = to.split("#");
  const short = posix.relative(posix.dirname(from), path) || posix.basename(path);
  return anchor === undefined ? short : `${short}#${anchor}`;
}

/** Returns the navigation of a page at `address`. `sections` have a title and entries of `{ address, title }`. */
function navigation(sections, address) {
  const item = (entry) => {
    const current = entry.address === address ? ' aria-current="page"' : "";
    return `<li><a href="${relative(address, entry.address)}"${current}>${escapeHtml(entry.title)}</a></li>`;
  };
  return sections
    .map(({ title, entries, folded }) => {
      const list = `<ul>${entries.map(item).join("")}</ul>`;
      if (!folded) return `<h2>${escapeHtml(title)}</h2>${list}`;
      const isOpen = entries.some((entry) => entry.address === address);
      return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(title)}</summary>${list}</details>`;
    })
    .join("\n");
}

/** Returns the list of a page's own headings, if it has more than two. */
function outline(headings) {
  const own = headings.filter(({ level }) => level === 2);
  if (own.length < 3) return "";
  const items = own.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join("");
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items}</ul></nav>`;
}

/** Returns the links to the page before and the page after. */
function neighbours(sections, address) {
  const entries = sections.flatMap((section) => section.entries);
  const place = entries.findIndex((entry) => entry.address === address);
  if (place < 0) return "";
  const link = (entry, label) =>
    entry
      ? `<a href="${relative(address, entry.address)}"><span>${label}</span> ${escapeHtml(entry.title)}</a>`
      : "<span></span>";
  return `<nav class="neighbours" aria-label="Next and previous page">${link(entries[place - 1], "Previous")}${link(entries[place + 1], "Next")}</nav>`;
}

/** Returns a whole page. `isWide` leaves out the outline and gives the content the whole width. */
export function layout({ address, title, html, headings = [], sections, isWide = false }) {
  const to = (target) => relative(address, target);
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escapeHtml(title)} · Chat widget</title>
  <link rel="icon" href="${to("live/icon.svg")}" type="image/svg+xml">
  <link rel="stylesheet" href="${to("assets/docs.css")}">
  <script src="${to("assets/scheme.js")}"></script>
  <script src="${to("assets/docs.js")}" type="module"></script>
</head>
<body data-root="${to("index.html").replace(/index\.html$/, "")}">
  <a class="skip" href="#content">Skip to the content</a>
  <header class="top">
    <a class="brand" href="${to("index.html")}">Chat widget</a>
    <div class="search" role="search" hidden>
      <input type="search" id="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
      <p class="status" role="status"></p>
      <ol class="results" aria-label="Results" hidden></ol>
    </div>
    <button class="scheme" type="button" hidden>Dark</button>
    <button class="menu" type="button" aria-expanded="false" aria-controls="pages" hidden>Pages</button>
  </header>
  <div class="columns${isWide ? " wide" : ""}">
    <nav class="pages" id="pages" aria-label="Pages">
${navigation(sections, address)}
    </nav>
    <main id="content" tabindex="-1">
${html}
${neighbours(sections, address)}
    </main>
    ${isWide ? "" : outline(headings)}
  </div>
</body>
</html>
`;
}
