// Renders the Markdown of assistants and operators, by the rules of the widget: paragraphs, headings, rules, code,
// lists, quotes and tables. HTML is shown as text, an image as a link. Text gets into the page only through
// `createElement` and `createTextNode`.

import { at, endOfRun, isLinkable, writeInline } from "./inline.js";

/** Maximum nesting of quotes and lists. Deeper markers are text. */
const MAX_DEPTH = 8;
/** Minimum indentation of an item's further lines from its marker, in columns. */
const INDENT = 2;

/** Renders a message of an assistant or an operator. */
export function markdown(text) {
  const nodes = new Nodes({ hasBlocks: true });
  new Blocks(nodes).write(text);
  return nodes.root;
}

/** Renders a visitor's message: plain text, in which addresses become links. */
export function plainText(text) {
  const nodes = new Nodes({ hasBlocks: false });
  writeInline(text, "plain", nodes);
  return nodes.root;
}

/** Builds nodes from a sequence of elements and text. */
class Nodes {
  root = document.createDocumentFragment();
  #parent = this.root;
  #hasBlocks;

  constructor({ hasBlocks }) {
    this.#hasBlocks = hasBlocks;
  }

  /** Opens an element. `value` is the target of an `a`, the first number of an `ol`, or else the class. */
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
    // Each block has its own text direction.
    if (this.#hasBlocks && this.#parent === this.root) element.dir = "auto";
    // Wide blocks scroll, also by keyboard.
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

/** Parses the blocks of a text line by line. */
class Blocks {
  #sink;
  /** The open quotes and lists: `kind` is `>` or the marker of the items, `column` the marker's column. */
  #containers = [];
  /** The fence of the open code block. */
  #fence;
  /** The alignments of the open table. */
  #table;
  /** The lines of the open paragraph or code block. */
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
    // The index from which columns are counted, and the index of the next character.
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

  /** Parses the rest of a line, after the markers of its quotes and items. */
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

  /** Appends a line to the paragraph or the code block. Leading empty lines are dropped. */
  #add(line) {
    if (line || this.#lines.length > 0) this.#lines.push(line);
  }

  /** Begins a table if a line consists of dashes, and the line above it has the same number of cells. */
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

  /** Closes the containers below a depth, with their content. */
  #close(depth) {
    while (this.#containers.length > depth) {
      this.#end();
      if (this.#containers.pop().kind !== ">") this.#sink.close();
      this.#sink.close();
    }
  }

  /** Closes the paragraph, the code block or the table. */
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

/** Returns the cells of a table's row. The outer bars are optional. */
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

/** Returns the class of a table's column for its dashes: `:--`, `--:` or `:-:`. */
function alignmentOf(dashes) {
  if (!dashes.endsWith(":")) return "";
  return dashes.startsWith(":") ? "center" : "end";
}

function skipSpace(line, from) {
  let place = from;
  while (at(line, place) === " " || at(line, place) === "\t") place += 1;
  return place;
}

/** Returns the column of an index. A tab is four columns wide. */
const columnOf = (line, begin, place) => (at(line, place - 1) === "\t" ? 4 : 1) * (place - begin);

/** Returns whether a line consists of three or more of the same character, and spaces. */
function isRule(line, from) {
  const rest = line.slice(from).replaceAll(" ", "");
  return rest.length >= 3 && "-*_".includes(rest[0]) && endOfRun(rest, 0) === rest.length;
}
