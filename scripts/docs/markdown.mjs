// Markdown as HTML: headings with anchors, highlighted code, tables that scroll by themselves, and the texts for the search.

import hljs from "highlight.js/lib/common";
import http from "highlight.js/lib/languages/http";
import nginx from "highlight.js/lib/languages/nginx";
import MarkdownIt from "markdown-it";

hljs.registerLanguage("nginx", nginx);
hljs.registerLanguage("http", http);
/** Languages of the docs by the name that highlight.js has for them. */
const ALIASES = {
  vue: "xml",
  svelte: "xml",
  astro: "xml",
  tsx: "typescript",
  jsx: "javascript",
  mjs: "javascript",
  conf: "nginx",
};

/** Returns text as HTML. */
export const escapeHtml = (text) =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

/** Returns the anchor of a heading, as hosts of Markdown make it. */
const slug = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");

/** Returns code as HTML, highlighted if the language is known. */
export function highlight(code, language = "") {
  const name = ALIASES[language] ?? language;
  return hljs.getLanguage(name) ? hljs.highlight(code, { language: name }).value : escapeHtml(code);
}

/** Returns a block of code that can be copied and reached by the keyboard. */
export const codeBlock = (code, language, label) =>
  `<div class="code"><pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${highlight(code, language)}</code></pre></div>\n`;

/** Returns the text of an inline token without its markup. */
const plain = (token) =>
  (token.children ?? [])
    .map(({ type, content }) => (type === "softbreak" ? " " : type === "html_inline" ? "" : content))
    .join("");

/** Gives each heading its anchor, and returns the headings. */
function nameHeadings(tokens) {
  const used = new Map();
  const headings = [];
  tokens.forEach((token, index) => {
    if (token.type !== "heading_open") return;
    const text = plain(tokens[index + 1]);
    const base = slug(text);
    const count = used.get(base) ?? 0;
    used.set(base, count + 1);
    const id = count === 0 ? base : `${base}-${count}`;
    token.attrSet("id", id);
    headings.push({ level: Number(token.tag[1]), id, text });
  });
  return headings;
}

/** Returns the texts below each heading of the first three levels, for the search. */
function sections(tokens, headings) {
  const found = [];
  let next = 0;
  tokens.forEach((token, index) => {
    if (token.type === "heading_open") {
      const heading = headings[next++];
      if (heading.level <= 3) found.push({ ...heading, text: heading.text, body: [] });
    } else if (tokens[index - 1]?.type !== "heading_open") {
      if (token.type === "inline") found.at(-1)?.body.push(plain(token));
      if (token.type === "fence") found.at(-1)?.body.push(token.content);
    }
  });
  return found.map(({ level, id, text, body }) => ({ level, id, text, body: body.join(" ").replace(/\s+/g, " ") }));
}

/**
 * Returns a page's HTML, its title, its headings and its texts for the search. `link` and `image` return the address for a
 * target in the Markdown, and `title` the heading of a page.
 */
export function render(markdown, { link, image, title }) {
  const parser = new MarkdownIt({ html: true });
  const { rules } = parser.renderer;
  let heading = "";
  rules.fence = (tokens, index) => {
    const [language] = tokens[index].info.split(/[ ,]/);
    return codeBlock(tokens[index].content, language, `Code: ${heading}`);
  };
  rules.table_open = () =>
    `<div class="table" tabindex="0" role="group" aria-label="${escapeHtml(`Table: ${heading}`)}"><table>\n`;
  rules.table_close = () => "</table></div>\n";
  // Comments mark generated parts of the docs. Other HTML would be text on some hosts and not on others.
  rules.html_block = (tokens, index) => {
    const rest = tokens[index].content.replace(/<!--[^]*?-->/g, "").trim();
    if (rest) throw new Error(`HTML in Markdown: ${rest}`);
    return "";
  };
  rules.heading_open = (tokens, index, options, _, self) => {
    heading = plain(tokens[index + 1]);
    return self.renderToken(tokens, index, options);
  };
  rules.heading_close = (tokens, index) => {
    const { tag } = tokens[index];
    const id = tokens[index - 2].attrGet("id");
    const anchor = `<a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(heading)}”">#</a>`;
    return `${tag === "h1" ? "" : anchor}</${tag}>\n`;
  };

  const tokens = parser.parse(markdown, {});
  const headings = nameHeadings(tokens);
  for (const { children } of tokens)
    for (const [index, child] of (children ?? []).entries()) {
      if (child.type === "link_open") {
        const href = child.attrGet("href");
        // A file's name says little to a reader who sees no files.
        const text = children[index + 1];
        if (/^[\w/-]+\.md$/.test(text.content)) text.content = title(href) ?? text.content;
        child.attrSet("href", link(href));
      }
      if (child.type === "image") child.attrSet("src", image(child.attrGet("src")));
    }
  // Policies without inline styles block the attribute `style` of aligned cells.
  for (const token of tokens) {
    const aligned = token.attrGet("style")?.match(/^text-align:(\w+)$/);
    if (aligned) token.attrs = [["class", `at-${aligned[1]}`]];
  }
  const html = parser.renderer.render(tokens, parser.options, {});
  return { html, headings, title: headings[0]?.text ?? "", sections: sections(tokens, headings) };
}
