// The elements of a page's head that an overlay may set, found in one pass over the source.

import { type Attributes, indexOfTag, readAttributes } from "./html-tags.js";

/** An element of a head. */
export interface HeadElement {
  /** `title`, `canonical`, `description`, `robots`, `og:…` or `json-ld`; empty for any other. */
  name: string;
  /** The text of a title or a script, or the content of a meta element or a link, as it is in the source. */
  source: string;
  /** Whether an overlay has written it. */
  isMarked: boolean;
  start: number;
  end: number;
}

/** The head of a page. */
export interface Head {
  elements: HeadElement[];
  /** The position of the end of the head; -1 if the source has none. */
  end: number;
}

/** The attribute of the elements that an overlay adds, the same as that of `site-connector`. */
export const MARK = "data-seo-overlay";

/** Elements whose content is text, or a page of its own. */
const CLOSED = /^(?:title|script|style|noscript|template|svg|textarea)$/;

function nameOf(tag: string, attributes: Attributes): string {
  const words = (attribute: string) => (attributes.get(attribute) ?? "").toLowerCase().split(/\s+/);
  if (tag === "title") return "title";
  if (tag === "script") return words("type").includes("application/ld+json") ? "json-ld" : "";
  if (tag === "link") return words("rel").includes("canonical") ? "canonical" : "";
  if (tag !== "meta") return "";
  const named = [...words("name"), ...words("property")];
  const [name = ""] = named.filter((word) => word === "description" || word === "robots" || word.startsWith("og:"));
  return name;
}

/** Finds the elements of a head, up to `</head>` or `<body>`, or those of the whole page. */
export function readHead(html: string, isWhole = false): Head {
  const elements: HeadElement[] = [];
  const opening = /<(\/?)([a-z][^\s/>]*)/iy;
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at)) {
    if (html.startsWith("<!--", at)) {
      const end = html.indexOf("-->", at + 4);
      if (end < 0) break;
      at = end + 3;
      continue;
    }
    opening.lastIndex = at;
    const found = opening.exec(html);
    if (found === null) {
      at += 1;
      continue;
    }
    const tag = found[2]!.toLowerCase();
    if (!isWhole && (tag === "body" || (tag === "head" && found[1] === "/"))) return { elements, end: at };
    const [attributes, tagEnd] = readAttributes(html, opening.lastIndex);
    if (tagEnd < 0) break;
    let end = tagEnd;
    let source = attributes.get(tag === "link" ? "href" : "content") ?? "";
    if (CLOSED.test(tag) && found[1] === "") {
      const close = indexOfTag(html, `</${tag}`, tagEnd);
      const closed = close < 0 ? -1 : html.indexOf(">", close);
      if (closed < 0) break;
      source = html.slice(tagEnd, close);
      end = closed + 1;
    }
    const name = found[1] === "" ? nameOf(tag, attributes) : "";
    if (name !== "") elements.push({ name, source, isMarked: attributes.has(MARK), start: at, end });
    at = end;
  }
  return { elements, end: -1 };
}
