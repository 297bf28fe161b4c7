// The Markdown of assistants and operators as nodes, by the rules of the widget: paragraphs, headings, rules, code,
// lists, quotes and tables. HTML is text, and an image is a link. There is no way from a text into the page but
// `createElement` and `createTextNode`.

import { at, endOfRun, isLinkable, writeInline } from "./inline.js";

/** Maximum nesting of quotes and lists. What would go deeper is text. */
const MAX_DEPTH = 8;
/** Columns by which a line is indented from its item's marker to belong to the item. */
const INDENT = 2;

/** Returns what an assistant or an operator wrote. */
export function markdown(text) {
  const nodes = new Nodes({ hasBlocks: true });
  new Blocks(nodes).write(text);
  return nodes.root;
}

/** Returns what a visitor wrote: as it is, but for addresses, which become links. */
export function plainText(text) {
  const nodes = new Nodes({ hasBlocks: false });
  writeInline(text, "plain", nodes);
  return nodes.root;
}

/** Takes elements and text in order, and makes nodes of them. */
class Nodes {
  root = document.createDocumentFragment();
  #parent = this.root;
  #hasBlocks;

  constructor({ hasBlocks }) {
    this.#hasBlocks = hasBlocks;
  }

  /** Begins an element. `value` is where an `a` leads, the first number of an `ol`, and the class of anything else. */
  open(tag, value = "") {
    const element = document.createElement(tag);
    if (tag === "a") {
      if (isLinkable(value)) element.href = value;
      element.rel = "noopener noreferrer";
      element.target = "_blank";
    } else if (tag === "ol") {
      element.start = Number(value);
    } else if (value) {
      element.className = value;
    }
    // Each block has a direction of its own.
    if (this.#hasBlocks && this.#parent === this.root) element.dir = "auto";
    // What is wide scrolls in its box, by the keyboard as well.
    if (tag === "pre" || value === "table") element.tabIndex = 0;
    this.#parent.append(element);
    this.#parent = element;
  }

  close() {
    this.#parent = this.#parent.parentNode;
  }

  text(text) {
    this.#parent.append(document.createTextNode(text));
  }
}

/** Reads a text line by line. */
class Blocks {
  #sink;
  /** Open quotes and lists: `kind` is `>` or the character that marks items, `column` where the marker stands. */
  #containers = [];
  /** The fence of the code that is being read. */
  #fence;
  /** The alignments of the table that is being read. */
  #table;
  /** Lines of the paragraph or the code. */
  #lines = [];

  constructor(sink) {
    this.#sink = sink;
  }

  write(text) {
    for (const line of text.split("\n")) {
      let end = line.length;
      while (end > 0 && line[end - 1] <= " ") end -= 1;
      this.#line(line.slice(0, end));
    }
    this.#close(0);
    this.#end();
  }

  #line(line) {
    // Where the part of the line begins whose columns count, and where it goes on.
    let begin = 0;
    let place = skipSpace(line, 0);
    let depth = 0;
    for (; depth < this.#containers.length; depth += 1) {
      const { kind, column } = this.#containers[depth];
      if (kind === ">") {
        if (at(line, place) !== ">") break;
        begin = place + 1;
        place = skipSpace(line, begin);
      } else if (place < line.length && !this.#fence && columnOf(line, begin, place) < column + INDENT) {
        break;
      }
    }
    if (depth === this.#containers.length && this.#fence) {
      const { marker, length, column } = this.#fence;
      const end = endOfRun(line, place);
      if (at(line, place) === marker && end >= place + length && end === line.length) this.#end();
      else this.#add(line.slice(Math.min(place, begin + column)));
      return;
    }
    if (place === line.length) {
      this.#close(depth);
      this.#end();
      return;
    }
    for (;;) {
      const rule = isRule(line, place);
      const number = /^\d{0,9}/.exec(line.slice(place, place + 9))[0];
      const mark = place + number.length;
      const kind = at(line, mark);
      const isItem = !rule && at(line, mark + 1) <= " " && (number ? ".)" : "-*+").includes(kind);
      const isNextItem = isItem && this.#containers[depth]?.kind === kind;
      this.#close(depth + (isNextItem ? 1 : 0));
      if ((!isItem && at(line, place) !== ">") || depth === MAX_DEPTH) {
        this.#leaf(line, begin, place, rule);
        return;
      }
      this.#end();
      const column = columnOf(line, begin, place);
      if (isItem) {
        if (isNextItem) this.#sink.close();
        else if (number) this.#sink.open("ol", number);
        else this.#sink.open("ul");
        this.#sink.open("li");
      } else {
        this.#sink.open("blockquote");
        begin = place + 1;
      }
      this.#containers[depth] = { kind, column };
      depth += 1;
      place = skipSpace(line, mark + 1);
    }
  }

  /** Reads the rest of a line, behind the marks of its quotes and items. */
  #leaf(line, begin, place, rule) {
    const rest = line.slice(place);
    const marker = at(rest, 0);
    const length = endOfRun(rest, 0);
    if (rule) {
      this.#end();
      this.#sink.open("hr");
      this.#sink.close();
    } else if (length >= 3 && (marker === "~" || (marker === "`" && !rest.includes("`", length)))) {
      this.#end();
      this.#fence = { marker, length, column: place - begin };
    } else if (marker === "#" && length <= 6 && at(rest, length) === " ") {
      this.#end();
      this.#element("p", "heading", rest.slice(length + 1));
    } else if (!rest.includes("|")) {
      if (this.#table) this.#end();
      this.#add(rest);
    } else if (this.#table) {
      this.#row(cellsOf(rest), "td");
    } else if (!this.#beginTable(rest)) {
      this.#add(rest);
    }
  }

  /** Adds a line to the paragraph or the code, which begin with one that is not empty. */
  #add(line) {
    if (line || this.#lines.length > 0) this.#lines.push(line);
  }

  /** Begins a table when a line is one of dashes, and the line above it has as many cells. */
  #beginTable(line) {
    const head = this.#lines.at(-1);
    if (!head || !/^[-|: ]*$/.test(line)) return false;
    const [names, dashes] = [cellsOf(head), cellsOf(line)];
    if (names.length !== dashes.length) return false;
    this.#paragraph(this.#lines.slice(0, -1));
    this.#lines = [];
    this.#table = dashes.map((cell) => alignmentOf(cell.trim()));
    this.#sink.open("div", "table");
    this.#sink.open("table");
    this.#sink.open("thead");
    this.#row(names, "th");
    this.#sink.close();
    this.#sink.open("tbody");
    return true;
  }

  #row(cells, tag) {
    this.#sink.open("tr");
    cells.forEach((cell, index) => this.#element(tag, this.#table[index], cell));
    this.#sink.close();
  }

  #element(tag, value, text) {
    this.#sink.open(tag, value);
    writeInline(text, "full", this.#sink);
    this.#sink.close();
  }

  /** Ends the containers below a depth, and what is in them. */
  #close(depth) {
    while (this.#containers.length > depth) {
      this.#end();
      if (this.#containers.pop().kind !== ">") this.#sink.close();
      this.#sink.close();
    }
  }

  /** Ends the paragraph, the code or the table. */
  #end() {
    const lines = this.#lines;
    this.#lines = [];
    if (this.#table) {
      this.#table = undefined;
      for (const _ of ["tbody", "table", "div"]) this.#sink.close();
    } else if (this.#fence) {
      this.#fence = undefined;
      this.#sink.open("pre");
      this.#sink.open("code");
      this.#sink.text(lines.join("\n"));
      this.#sink.close();
      this.#sink.close();
    } else {
      this.#paragraph(lines);
    }
  }

  #paragraph(lines) {
    if (lines.length > 0) this.#element("p", "", lines.join("\n"));
  }
}

/** The cells of a table's row, whose outer bars may be left out. */
function cellsOf(row) {
  const cells = [];
  let from = at(row, 0) === "|" ? 1 : 0;
  while (from < row.length) {
    let to = from;
    while (to < row.length && row[to] !== "|") to += row[to] === "\\" ? 2 : 1;
    cells.push(row.slice(from, to));
    from = to + 1;
  }
  return cells;
}

/** The class of a table's column, by its dashes: `:--`, `--:` or `:-:`. */
function alignmentOf(dashes) {
  if (!dashes.endsWith(":")) return "";
  return dashes.startsWith(":") ? "center" : "end";
}

function skipSpace(line, from) {
  let place = from;
  while (at(line, place) === " " || at(line, place) === "\t") place += 1;
  return place;
}

/** The column of a place. A tab is as wide as four spaces. */
const columnOf = (line, begin, place) => (at(line, place - 1) === "\t" ? 4 : 1) * (place - begin);

/** Returns whether a line is three or more of the same, with nothing else but spaces between. */
function isRule(line, from) {
  const rest = line.slice(from).replaceAll(" ", "");
  return rest.length >= 3 && "-*_".includes(rest[0]) && endOfRun(rest, 0) === rest.length;
}
