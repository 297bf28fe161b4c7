// Inline Markdown: emphasis, code and links, by the rules of the widget.
//
// A marker takes effect if its partner follows. The total distance of these searches is limited for each text, so that
// parsing takes linear time; past the limit, markers are text.

/** Maximum searched characters, for each character of the text. */
const MAX_LOOKAHEAD = 16;
/** Maximum nesting of emphasis. */
const MAX_DEPTH = 16;

const SCHEMES = ["https://", "http://", "mailto:", "tel:"];

/** Returns the character at an index, and a line feed outside of the text. */
export const at = (text, place) => text[place] ?? "\n";
const isWord = (character) => /^[0-9A-Za-z]$/.test(character);
const isOfName = (character) => /^[\w.+-]$/.test(character);
const isPunctuation = (character) => /^[!-/:-@[-`{-~]$/.test(character);

/** Returns the end of the run of equal characters that begins at an index. */
export function endOfRun(text, place) {
  let to = place + 1;
  while (to < text.length && text[to] === text[place]) to += 1;
  return to;
}

/** Returns whether a text begins with this scheme, followed by a host, an address or a number. */
function begins(text, start) {
  const next = at(text, start.length);
  return text.slice(0, start.length).toLowerCase() === start && (next === "+" || next >= "\u0080" || isWord(next));
}

/** Returns whether a link may lead to an address. */
export const isLinkable = (text) => SCHEMES.some((scheme) => begins(text, scheme));

/** Returns whether an address may contain the character. Browsers drop some of the others, and read `\` as `/`. */
const isOfAddress = (character) => character > " " && !'"<>\\`\u007f'.includes(character);
/** Spaces, quotes, dashes and full stops outside of ASCII. They end an address in running text. */
const isForeignPunctuation = (character) => /^[\u0080-\u00bf\u2000-\u303f\uf000-\uffff]$/.test(character);

/** Returns the end of an address in running text, without the punctuation that follows it. */
function endOfAddress(text, from) {
  let to = from;
  let open = 0;
  for (; to < text.length; to += 1) {
    const next = text[to];
    if (!isOfAddress(next) || isForeignPunctuation(next) || (next === "]" && at(text, to + 1) === "(")) break;
    open += (next === "(") - (next === ")");
  }
  for (; to > from; to -= 1) {
    const last = text[to - 1];
    if (last === ")" && open < 0) open += 1;
    else if (!"!'*,.:;?]_~".includes(last)) break;
  }
  return to;
}

/** Returns the host of an address, without the user name before it. */
function hostOf(address) {
  let from = 0;
  let to = 0;
  for (; to < address.length; to += 1) {
    const next = address[to];
    if (next === ":" && from === 0) {
      if (at(address, to + 1) === "/") to += 2;
      from = to + 1;
    } else if (next === "@") {
      from = to + 1;
    } else if ("/?#".includes(next)) {
      break;
    }
  }
  return address.slice(from, to);
}

// `toLowerCase` maps some other characters to ASCII letters.
const foldCase = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Returns the host of a link whose text looks like an address of another host. */
function misrepresentedHost(address, text) {
  const looksLikeAddress = /@|\.[^\0- ]|[\u2024\u3002\uff0e\uff61]/.test(text);
  const host = hostOf(address);
  // A user name before the host may look like a host.
  const hasUser = text.includes("@") && /^h/i.test(address);
  return looksLikeAddress && (hasUser || foldCase(host) !== foldCase(hostOf(text))) ? host : "";
}

class Inline {
  #sink;
  #lookahead;
  #depth = 0;

  constructor(text, sink) {
    this.#sink = sink;
    this.#lookahead = MAX_LOOKAHEAD * text.length;
  }

  span(text, mode) {
    let written = 0;
    let place = 0;
    const write = (to) => this.#write(text.slice(written, to));
    while (place < text.length) {
      const character = text[place];
      const before = at(text, place - 1);
      let next = place + 1;
      if (character === "\\" && mode !== "plain" && isPunctuation(at(text, next))) {
        write(place);
        written = next;
        next += 1;
      } else if ("`*_~".includes(character) && mode !== "plain") {
        next = endOfRun(text, place);
        const length = next - place;
        const end = this.#depth < MAX_DEPTH ? this.#partner(text, place) : undefined;
        if (end !== undefined) {
          write(place);
          this.#marked(character, length, text.slice(next, end), mode);
          next = written = end + length;
        }
      } else if (character === "[" && mode === "full") {
        const link = this.#link(text, place);
        if (link) {
          // An image is shown as a link.
          write(place - (before === "!" ? 1 : 0));
          this.#addLink("", link.address, link.text);
          next = written = link.end;
        }
      } else if (character === "@" && mode !== "link" && isWord(at(text, next))) {
        const { from, to, hasDot } = mailAddress(text, place, written);
        if (from < place && hasDot) {
          write(from);
          this.#addLink("mailto:", text.slice(from, to), "");
          next = written = to;
        }
      } else if (mode !== "link" && /^[A-Za-z]$/.test(character) && !isWord(before)) {
        const rest = text.slice(place, place + 10);
        const scheme = begins(rest, "www.") ? "https://" : "";
        const to = scheme || isLinkable(rest) ? endOfAddress(text, place) : place;
        const address = text.slice(place, to);
        if (begins(address, "www.") || isLinkable(address)) {
          // The angle brackets around an address are not shown.
          const around = mode === "full" && before === "<" && at(text, to) === ">" ? 1 : 0;
          write(place - around);
          this.#addLink(scheme, address, "");
          next = written = to + around;
        }
      }
      place = next;
    }
    write(text.length);
  }

  #write(text) {
    if (text) this.#sink.text(text);
  }

  #marked(marker, length, inner, mode) {
    const tag = { "`": "code", "~": "s" }[marker] ?? (length === 2 ? "strong" : "em");
    this.#sink.open(tag);
    if (marker === "`") {
      // One space on each side allows code that begins or ends with a backtick.
      this.#write(inner.length > 2 && inner.startsWith(" ") && inner.endsWith(" ") ? inner.slice(1, -1) : inner);
    } else if (length === 3) {
      this.#marked(marker, 2, inner, mode);
    } else {
      this.#depth += 1;
      this.span(inner, mode);
      this.#depth -= 1;
    }
    this.#sink.close();
  }

  /** Spends a part of the lookahead. Returns false when none is left. */
  #spend(characters) {
    if (characters > this.#lookahead) return false;
    this.#lookahead -= characters;
    return true;
  }

  /** Returns the start of a marker's partner: a run of the same length and character. */
  #partner(text, from) {
    const marker = text[from];
    const start = endOfRun(text, from);
    const length = start - from;
    const isCode = marker === "`";
    // Not within a word, as in snake_case and 2*3*4, except in languages without spaces between words.
    const isWithinWord = (next) =>
      (length === 1 || marker === "_") && (isWord(next) || (marker === "_" && next >= "\u0080"));
    const mayBegin =
      at(text, start) > " " && !isWithinWord(at(text, from - 1)) && (marker === "~" ? length === 2 : length < 4);
    if (!isCode && !mayBegin) return undefined;
    let place = start;
    while (place < text.length) {
      const next = text[place];
      const end = next === marker || next === "`" ? endOfRun(text, place) : place + 1;
      if (!this.#spend(end - place)) return undefined;
      if (next === marker) {
        const isPartner = isCode
          ? end - place === length
          : (end - place === length || end - place === 3) && at(text, place - 1) > " " && !isWithinWord(at(text, end));
        if (isPartner) return end - length;
        place = end;
      } else if (next === "`") {
        place = (this.#partner(text, place) ?? place) + end - place;
      } else {
        place += next === "\\" && !isCode ? 2 : 1;
      }
    }
    return undefined;
  }

  /** Returns the link `[text](address "title")` that begins at an index. */
  #link(text, from) {
    const end = this.#closing(text, from, "[", "]");
    if (end === undefined || at(text, end + 1) !== "(") return undefined;
    const to = this.#closing(text, end + 1, "(", ")");
    if (to === undefined) return undefined;
    let stop = end + 2;
    while (stop < to && isOfAddress(text[stop])) stop += 1;
    const address = text.slice(end + 2, stop);
    const isWhole = stop === to || text[stop] <= " ";
    return isWhole && isLinkable(address) ? { text: text.slice(from + 1, end), address, end: to + 1 } : undefined;
  }

  /** Returns the index of the bracket that closes the one at an index. */
  #closing(text, from, open, close) {
    let depth = 0;
    for (let place = from; place < text.length; place += 1) {
      if (!this.#spend(1)) return undefined;
      const next = text[place];
      if (next === open) depth += 1;
      else if (next === close) depth -= 1;
      else if (next === "\\") place += 1;
      if (next === close && depth === 0) return place;
    }
    return undefined;
  }

  /** Writes a link with its text, or with its address as the text. */
  #addLink(scheme, address, text) {
    const whole = scheme + address;
    this.#sink.open("a", whole);
    if (text) this.span(text, "link");
    else this.#sink.text(address);
    this.#sink.close();
    const host = misrepresentedHost(whole, text || address);
    if (!host) return;
    this.#sink.text(" (");
    this.#sink.open("bdi", "host");
    this.#sink.text(host);
    this.#sink.close();
    this.#sink.text(")");
  }
}

/** Returns the start and end of the mail address around an `@`, and whether a dot follows the `@`. */
function mailAddress(text, place, earliest) {
  let from = place;
  while (from > earliest && isOfName(text[from - 1])) from -= 1;
  while (from < place && !isWord(text[from])) from += 1;
  let to = place + 1;
  while (isOfName(at(text, to))) to += 1;
  const hasDot = text.slice(place, to).includes(".");
  while (!isWord(text[to - 1])) to -= 1;
  return { from, to, hasDot };
}

/**
 * Writes a text to a sink. `mode` is "full", "plain" for a text in which only addresses are marked up, or "link" for the
 * text of a link.
 */
export const writeInline = (text, mode, sink) => new Inline(text, sink).span(text, mode);
