// The head of one page: its overlay as tags, in the source of a page, and for frameworks with metadata of their own.

import { type HeadElement, MARK, readHead } from "./head-elements.js";
import { hasContent, isWebAddress, type PageOverlay, safeJson, textsOf } from "./overlay.js";
import { decodeHtml, oneLine } from "./page-text.js";

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** The properties of Open Graph that Next has names for. It fails for a type that it does not know. */
const NEXT_NAMES: Record<string, string> = {
  title: "title",
  description: "description",
  site_name: "siteName",
  locale: "locale",
  url: "url",
  image: "images",
  video: "videos",
  audio: "audio",
};
const ADDRESSES = ["url", "image", "video", "audio"];
const NEXT_TYPES = ["website", "article", "book", "profile"];

/** The elements that the service has for the head of a page. Without an overlay, everything stays as the site has it. */
export class PageHead {
  constructor(
    /** The overlay of the page. */
    readonly overlay?: PageOverlay | undefined,
  ) {}

  /** The elements as HTML, for a template that has none of its own in their place. Values are escaped. */
  get tags(): string {
    if (this.overlay === undefined) return "";
    let tags = "";
    for (const [name, text] of textsOf(this.overlay)) {
      const value = escaped(text);
      if (name === "title") tags += `<title ${MARK}>${value}</title>`;
      else if (name === "canonical") tags += `<link ${MARK} rel="canonical" href="${value}">`;
      else tags += `<meta ${MARK} ${name.startsWith("og:") ? "property" : "name"}="${name}" content="${value}">`;
    }
    for (const data of this.jsonLd) tags += `<script ${MARK} type="application/ld+json">${data}</script>`;
    return tags;
  }

  /** The JSON-LD, as safe contents of `<script type="application/ld+json">`. */
  get jsonLd(): string[] {
    return (this.overlay?.structuredData ?? []).map(safeJson);
  }

  /** Returns a page with the overlay at the end of its head, in place of the page's own elements. A text without a head
   * stays as it is. */
  apply(html: string): string {
    const { overlay } = this;
    if (overlay === undefined || !hasContent(overlay)) return html;
    const { elements, end } = readHead(html);
    if (end < 0) return html;
    const texts = textsOf(overlay);
    let page = "";
    let at = 0;
    for (const element of elements.filter(({ name, isMarked }) => isMarked || texts.has(name))) {
      page += html.slice(at, element.start);
      at = element.end;
    }
    return page + html.slice(at, end) + this.tags + html.slice(end);
  }

  /**
   * Returns Next's metadata: that of the page with the overlay in its place. JSON-LD is no part of it: `jsonLd` has it.
   *
   * ```ts
   * export const generateMetadata = async () => (await heads.headFor("/mugs")).metadata<Metadata>({ title: "Mugs" });
   * ```
   */
  metadata<Metadata extends object>(own: Metadata = {} as Metadata): Metadata {
    const { overlay } = this;
    if (overlay === undefined) return own;
    const { title, description, robots, canonicalUrl: canonical } = overlay;
    const all = { ...own } as Record<string, unknown>;
    if (title !== undefined) all["title"] = { absolute: title };
    if (description !== undefined) all["description"] = description;
    if (robots !== undefined) all["robots"] = robots;
    if (canonical !== undefined) all["alternates"] = { ...Object(all["alternates"]), canonical };
    const openGraph: Record<string, unknown> = { ...Object(all["openGraph"]) };
    const other: Record<string, unknown> = { ...Object(all["other"]) };
    for (const [property, content] of Object.entries(overlay.openGraph)) {
      const name = property === "type" && NEXT_TYPES.includes(content) ? "type" : NEXT_NAMES[property];
      const isKnown = name !== undefined && (!ADDRESSES.includes(property) || isWebAddress(content));
      if (isKnown) openGraph[name] = content;
      else other[`og:${property}`] = content;
    }
    if (Object.keys(openGraph).length > 0) all["openGraph"] = openGraph;
    if (Object.keys(other).length > 0) all["other"] = other;
    return all as Metadata;
  }

  /** Returns the first difference between the head of a page and the overlay, for people; `undefined` if there is none. */
  difference(html: string): string | undefined {
    if (this.overlay === undefined) return undefined;
    const { elements } = readHead(html);
    if (!hasContent(this.overlay))
      return elements.some(({ isMarked }) => isMarked) ? "the page still has an earlier page head" : undefined;
    for (const [name, text] of textsOf(this.overlay)) {
      const found = elements.filter((element) => element.name === name);
      if (found.length !== 1) return `the page has ${name} ${found.length} times`;
      const shown = oneLine(decodeHtml(found[0]!.source));
      if (shown !== oneLine(text)) return `the page has another ${name}: ${shown}`;
    }
    if (this.overlay.structuredData.length === 0) return undefined;
    // Some frameworks write it into the body, where it counts as well.
    const shown = readHead(html, true)
      .elements.filter(({ name }) => name === "json-ld")
      .map(jsonOf);
    const isMissing = (data: object) => !shown.includes(JSON.stringify(data));
    return this.overlay.structuredData.some(isMissing) ? "the page lacks the structured data" : undefined;
  }
}

/** Returns the JSON of an element as it is compared. */
function jsonOf({ source }: HeadElement): string {
  try {
    return JSON.stringify(JSON.parse(source));
  } catch {
    return "";
  }
}
