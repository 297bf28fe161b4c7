// The service's changes to the head of one page, as far as they can be read.

import type { Overlay } from "./types.js";

/** An overlay whose values are of their types. All texts are still to be escaped where they are written. */
export interface PageOverlay extends Overlay {
  path: string;
  /** Contents by property, without `og:`. */
  openGraph: Record<string, string>;
  /** JSON-LD objects. */
  structuredData: object[];
}

/** Returns a text without control characters and lone surrogates, which no page shows. */
const clean = (text: string) =>
  text
    .replace(/\p{Cs}/gu, "\ufffd")
    .replace(/\p{Cc}+/gu, " ")
    .trim();

/** Returns whether a text is the full address of a page of the web. */
export function isWebAddress(text: string): boolean {
  try {
    return /^https?:\/\//.test(text) && new URL(text).href !== "";
  } catch {
    return false;
  }
}

/** Returns the objects that can be written as JSON. */
function objectsOf(value: unknown): object[] {
  return [value].flat().filter((one): one is object => {
    try {
      return typeof one === "object" && one !== null && !Array.isArray(one) && JSON.stringify(one) !== "{}";
    } catch {
      // Nested too deeply.
      return false;
    }
  });
}

/** Reads an overlay; `undefined` if it names no page. Parts that cannot be read are left out. */
export function readOverlay(data: unknown): PageOverlay | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const all = data as Record<string, unknown>;
  const text = (...names: string[]) => {
    const value = names.map((name) => all[name]).find((one) => one !== undefined && one !== null);
    return typeof value === "string" && clean(value) !== "" ? clean(value) : undefined;
  };
  const path = text("path", "pagePath");
  // A path that begins with two slashes is the address of another host.
  if (path === undefined || !/^\/(?![/\\])/.test(path)) return undefined;
  const overlay: PageOverlay = { path, openGraph: {}, structuredData: [] };
  const parts = {
    id: text("id", "overlayId"),
    locale: text("locale"),
    title: text("title", "metaTitle"),
    description: text("description", "metaDescription"),
    robots: text("robots"),
    updatedAt: text("updatedAt"),
    canonicalUrl: [text("canonicalUrl", "canonical")].find((url) => url !== undefined && isWebAddress(url)),
  };
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) Object.assign(overlay, { [name]: value });
  for (const [property, content] of Object.entries(Object(all["openGraph"]) as Record<string, unknown>)) {
    const name = property.toLowerCase().replace(/^og:/, "");
    if (typeof content === "string" && /^[a-z][a-z0-9_:]*$/.test(name)) overlay.openGraph[name] = clean(content);
  }
  overlay.structuredData = objectsOf(all["structuredData"] ?? all["jsonLd"]);
  return overlay;
}

/** Returns the texts of an overlay by the names of their elements: `title`, `canonical`, `description`, `og:title`. */
export function textsOf(overlay: PageOverlay): Map<string, string> {
  const { title, description, robots, canonicalUrl: canonical, openGraph } = overlay;
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries({ title, description, robots, canonical }))
    if (text !== undefined) texts.set(name, text);
  for (const [property, content] of Object.entries(openGraph)) texts.set(`og:${property}`, content);
  return texts;
}

/** Returns whether an overlay changes the head. */
export const hasContent = (overlay: PageOverlay) => textsOf(overlay).size > 0 || overlay.structuredData.length > 0;

/** Returns JSON-LD that can stand in a script element: in ASCII, and without the beginning of a tag. */
export const safeJson = (data: object) =>
  JSON.stringify(data).replace(
    /[<>&\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
