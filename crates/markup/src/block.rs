//! Blocks: paragraphs, headings, rules, code, lists, quotes and tables.

use super::Sink;
use super::inline::{Mode, inline};
use super::source::Source;

/// Maximum nesting of quotes and lists; deeper markers are text.
const DEPTH: usize = 8;
/// Minimum columns of indentation beyond its marker at which a line belongs to an item.
const INDENT: usize = 2;

/// An open quote, or an open list with its last item.
#[derive(Clone, Copy, Default)]
struct Container {
    /// `>`, or the marker of the list's items.
    kind: char,
    /// The column of the item's marker.
    column: usize,
}

/// Code between fences.
#[derive(Clone, Copy)]
struct Fence {
    byte: char,
    length: usize,
    column: usize,
}

struct Blocks<'a, S> {
    sink: &'a mut S,
    containers: [Container; DEPTH],
    /// The number of open containers.
    depth: usize,
    fence: Option<Fence>,
    /// The first word after the fence, which names the language of the code.
    language: String,
    /// Whether the lines are rows of a table.
    table: bool,
    /// The columns aligned to the end, and the centred ones: a bit for each of the first 32.
    ends: u32,
    centres: u32,
    /// The lines of the paragraph or the code.
    lines: String,
    /// The beginning of the last of them.
    last: usize,
}

/// Renders the blocks of a text.
pub(super) fn blocks<S: Sink>(text: &str, sink: &mut S) {
    let containers = [Container::default(); DEPTH];
    let mut blocks = Blocks {
        sink,
        containers,
        depth: 0,
        fence: None,
        language: String::new(),
        table: false,
        ends: 0,
        centres: 0,
        lines: String::new(),
        last: 0,
    };
    let text = Source(text);
    let mut from = 0;
    while from < text.len() {
        let end = text.find('\n', from);
        let mut to = end;
        while to > from && text.at(to - 1) <= ' ' {
            to -= 1;
        }
        blocks.line(Source(text.part(from, to)));
        from = end + 1;
    }
    blocks.close(0);
    blocks.end();
}

impl<S: Sink> Blocks<'_, S> {
    fn line(&mut self, line: Source) {
        // The beginning of the part whose columns count, and the current place.
        let mut begin = 0;
        let mut place = skip(line, 0);
        let mut depth = 0;
        while depth < self.depth {
            let container = self.container(depth);
            if container.kind == '>' {
                if line.at(place) != '>' {
                    break;
                }
                begin = place + 1;
                place = skip(line, begin);
            } else if place < line.len()
                && self.fence.is_none()
                && column(line, begin, place) < container.column + INDENT
            {
                break;
            }
            depth += 1;
        }
        if depth == self.depth
            && let Some(fence) = self.fence
        {
            let end = line.run(place);
            if line.at(place) == fence.byte && end >= place + fence.length && end == line.len() {
                self.end();
            } else {
                self.add(line.part(place.min(begin + fence.column), line.len()));
            }
            return;
        }
        if place == line.len() {
            self.close(depth);
            self.end();
            return;
        }
        loop {
            let rule = is_rule(line, place);
            let mut mark = place;
            while line.at(mark).is_ascii_digit() && mark < place + 9 {
                mark += 1;
            }
            let kind = line.at(mark);
            let is_item = !rule
                && line.at(mark + 1) <= ' '
                && if mark == place { matches!(kind, '-' | '*' | '+') } else { matches!(kind, '.' | ')') };
            let next_item = is_item && depth < self.depth && self.container(depth).kind == kind;
            self.close(depth + usize::from(next_item));
            if !is_item && line.at(place) != '>' || depth == DEPTH {
                return self.leaf(line, begin, place, rule);
            }
            self.end();
            let column = column(line, begin, place);
            if is_item {
                if next_item {
                    self.sink.close();
                } else if mark == place {
                    self.open("ul");
                } else {
                    self.sink.open("ol", line.part(place, mark));
                }
                self.open("li");
            } else {
                self.open("blockquote");
                begin = place + 1;
            }
            if let Some(container) = self.containers.get_mut(depth) {
                *container = Container { kind, column };
            }
            depth += 1;
            self.depth = depth;
            place = skip(line, mark + 1);
        }
    }

    fn container(&self, depth: usize) -> Container {
        self.containers.get(depth).copied().unwrap_or_default()
    }

    /// Handles the rest of a line, after the markers of its containers.
    fn leaf(&mut self, line: Source, begin: usize, place: usize, rule: bool) {
        let rest = Source(line.part(place, line.len()));
        let byte = rest.at(0);
        let length = rest.run(0);
        if rule {
            self.end();
            self.open("hr");
            self.sink.close();
        } else if length >= 3 && (byte == '~' || (byte == '`' && rest.find('`', length) == rest.len())) {
            self.end();
            self.fence = Some(Fence { byte, length, column: place - begin });
            let word = skip(rest, length);
            rest.part(word, rest.find(' ', word)).clone_into(&mut self.language);
        } else if byte == '#' && length <= 6 && rest.at(length) == ' ' {
            self.end();
            self.sink.open("p", "cw-heading");
            inline(rest.part(length + 1, rest.len()), Mode::Full, self.sink);
            self.sink.close();
        } else if rest.find('|', 0) == rest.len() {
            if self.table {
                self.end();
            }
            self.add(rest.0);
        } else if self.table {
            self.row(rest, "td");
        } else {
            self.perhaps_table(rest);
        }
    }

    /// Handles a line with bars. A line of dashes makes the previous line the head of a table.
    fn perhaps_table(&mut self, line: Source) {
        let dashes = line.0.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '));
        let lines = std::mem::take(&mut self.lines);
        let head = Source(&lines).part(self.last, lines.len());
        if dashes && !head.is_empty() && self.row(Source(head), "") == self.row(line, "") {
            self.paragraph(Source(&lines).part(0, self.last.saturating_sub(1)));
            self.table = true;
            self.sink.open("div", "cw-table");
            self.open("table");
            self.open("thead");
            self.row(Source(head), "th");
            self.sink.close();
            self.open("tbody");
        } else {
            self.lines = lines;
            self.add(line.0);
        }
    }

    /// Renders a row and returns the number of its cells. The outer bars are optional. Without a tag it only
    /// counts the cells, and reads the alignment of the columns.
    fn row(&mut self, row: Source, tag: &'static str) -> u32 {
        if tag.is_empty() {
            (self.ends, self.centres) = (0, 0);
        } else {
            self.open("tr");
        }
        let mut count = 0;
        let mut from = usize::from(row.at(0) == '|');
        while from < row.len() {
            let mut to = from;
            while to < row.len() && row.at(to) != '|' {
                to += if row.at(to) == '\\' { 2 } else { 1 };
            }
            let cell = row.part(from, to.min(row.len()));
            let column = 1_u32.checked_shl(count).unwrap_or(0);
            if tag.is_empty() {
                // Spaces in a line of dashes are around its cells.
                let begin = Source(cell).at(skip(Source(cell), 0));
                if cell.bytes().rev().find(|byte| *byte != b' ') == Some(b':') {
                    *(if begin == ':' { &mut self.centres } else { &mut self.ends }) |= column;
                }
            } else {
                let is = |columns| columns & column != 0;
                let place = if is(self.ends) {
                    "cw-end"
                } else if is(self.centres) {
                    "cw-centre"
                } else {
                    ""
                };
                self.sink.open(tag, place);
                inline(cell, Mode::Full, self.sink);
                self.sink.close();
            }
            count += 1;
            from = to + 1;
        }
        if !tag.is_empty() {
            self.sink.close();
        }
        count
    }

    fn open(&mut self, tag: &'static str) {
        self.sink.open(tag, "");
    }

    /// Adds a line to the paragraph or the code.
    fn add(&mut self, line: &str) {
        if !self.lines.is_empty() {
            self.lines.push('\n');
        }
        self.last = self.lines.len();
        self.lines.push_str(line);
    }

    /// Closes all deeper containers and their contents.
    fn close(&mut self, depth: usize) {
        while self.depth > depth {
            self.end();
            self.depth -= 1;
            if self.container(self.depth).kind != '>' {
                self.sink.close();
            }
            self.sink.close();
        }
    }

    /// Closes the paragraph, the code or the table.
    fn end(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if self.table {
            self.table = false;
            self.sink.close();
            self.sink.close();
            self.sink.close();
        } else if self.fence.take().is_some() {
            self.sink.open("div", "cw-code");
            let language = std::mem::take(&mut self.language);
            self.sink.open("pre", &language);
            self.open("code");
            if !lines.is_empty() {
                self.sink.text(&lines);
            }
            self.sink.close();
            self.sink.close();
            self.sink.close();
        } else {
            self.paragraph(&lines);
        }
    }

    fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.open("p");
            inline(text, Mode::Full, self.sink);
            self.sink.close();
        }
    }
}

/// Skips spaces and tabs.
fn skip(line: Source, from: usize) -> usize {
    let mut place = from;
    while matches!(line.at(place), ' ' | '\t') {
        place += 1;
    }
    place
}

/// Returns the column of a place. A tab is as wide as four spaces.
fn column(line: Source, begin: usize, place: usize) -> usize {
    let tabs = line.at(place.wrapping_sub(1)) == '\t';
    if tabs { 4 * (place - begin) } else { place - begin }
}

/// Returns whether a line is a rule: three or more equal characters, with optional spaces.
fn is_rule(line: Source, from: usize) -> bool {
    let byte = line.at(from);
    let mut count = 0;
    for place in from..line.len() {
        let next = line.at(place);
        if next == byte {
            count += 1;
        } else if next != ' ' {
            return false;
        }
    }
    count >= 3 && matches!(byte, '-' | '*' | '_')
}
