// Texts of HTML pages, for comparisons: what a reader sees, however a template or an editor has written it.

import { indexOfTag, readAttributes } from "./html-tags.js";

/** Named characters that are not letters with an accent. Others are no letters, or stay unknown. */
const NAMED: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  szlig: "ß",
  aelig: "æ",
  AElig: "Æ",
  oelig: "œ",
  OElig: "Œ",
  oslash: "ø",
  Oslash: "Ø",
  eth: "ð",
  ETH: "Ð",
  thorn: "þ",
  THORN: "Þ",
};
/** The combining characters of accents by their names. */
const ACCENTS: Record<string, string> = {
  grave: "\u0300",
  acute: "\u0301",
  circ: "\u0302",
  tilde: "\u0303",
  uml: "\u0308",
  ring: "\u030a",
  caron: "\u030c",
  cedil: "\u0327",
};

/** Decodes the character references of HTML. An unknown name becomes a NUL, which is no letter. */
export function decodeHtml(html: string): string {
  return html.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/g,
    (_, decimal, hex, name) => {
      if (name !== undefined) {
        const [, letter, accent] = /^([A-Za-z])(grave|acute|circ|tilde|uml|ring|caron|cedil)$/.exec(name) ?? [];
        if (letter !== undefined) return (letter + ACCENTS[accent!]).normalize("NFC");
        return NAMED[name] ?? "\0";
      }
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

/** Returns text as one line of at most 500 characters. */
export const oneLine = (text: string) =>
  text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, 500);

/** Returns the text of HTML, without tags, scripts, styles and comments. */
function textOf(html: string): string {
  let text = "";
  const tag = /<(\/?)([a-z!?][^\s/>]*)/iy;
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    text += html.slice(at, open < 0 ? undefined : open);
    if (open < 0) break;
    tag.lastIndex = open;
    const [, slash, name = ""] = tag.exec(html) ?? [];
    if (slash === undefined) {
      // A sign such as in `3 < 4`.
      at = open + 1;
    } else if (html.startsWith("<!--", open)) {
      const end = html.indexOf("-->", open + 4);
      at = end < 0 ? html.length : end + 3;
    } else {
      const [, end] = readAttributes(html, tag.lastIndex);
      const close = /^(?:script|style)$/i.test(name) && slash === "" ? indexOfTag(html, `</${name}`, end) : end;
      at = end < 0 || close < 0 ? html.length : close;
    }
  }
  return text;
}

/**
 * Returns the letters and digits of HTML as a reader sees them, in the parts between characters that are unknown. Elements
 * within a word do not end it.
 */
export const lettersOf = (html: string): string[] =>
  decodeHtml(textOf(html))
    .normalize("NFC")
    .split("\0")
    .map((part) => part.replace(/[^\p{L}\p{N}]+/gu, ""));

/** Letters at the beginning and at the end of a text that a page must show. */
const COMPARED = 300;

/** Returns whether a page shows a text: its beginning and its end. */
export function showsText(page: string, html: string): boolean {
  const shown = lettersOf(page).join("");
  return lettersOf(html).every(
    (part) => shown.includes(part.slice(0, COMPARED)) && shown.includes(part.slice(-COMPARED)),
  );
}
