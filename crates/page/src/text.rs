//! The text of a page, with its structure: a line for each heading, paragraph, item and row.

use crate::document::{Document, Id, Step};
use crate::elements::{BLOCKS, level};
use crate::head::plain_text;
use crate::left_out::{Strictness, is_left_out};
use crate::lines::{Line, LineKind, Zone};
use crate::table;
use crate::zone::zone;

/// Maximum bytes of all lines. Headers of tables are repeated, so that a text may be longer than its page.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The separators between the links of a menu in one line.
const SEPARATORS: [&str; 6] = [" > ", " » ", " › ", " | ", " · ", " → "];
/// Maximum options of a list that are read; longer ones are those of countries and years.
const MAX_OPTIONS: usize = 20;
/// Maximum letters of a list that is joined with its lead-in to one line.
const MAX_JOINED_LENGTH: usize = 300;

/// Reads the lines of the elements `roots`.
pub(crate) fn read(document: &Document, roots: &[Id], strictness: Strictness) -> Vec<Line> {
    let mut reader = Reader::new(document, strictness);
    for root in roots {
        document.walk(*root, |step| match step {
            Step::Enter(id) => reader.enter(id),
            Step::Leave(id) => {
                reader.leave(id);
                false
            }
        });
        reader.end_line();
        reader.end_term();
    }
    reader.lines
}

/// A list that is being read.
#[derive(Debug)]
struct List {
    id: Id,
    /// The line of the first item.
    first: usize,
    /// Whether the line before the list introduces it.
    has_lead_in: bool,
}

#[derive(Debug)]
struct Reader<'a> {
    document: &'a Document,
    strictness: Strictness,
    lines: Vec<Line>,
    bytes: usize,
    line: String,
    /// The letters of the line, and those of them in links.
    letters: usize,
    linked: usize,
    /// Whether white space stands between the line and the next text, and whether a line of the source ends
    /// in it.
    has_space: bool,
    has_break: bool,
    link: Option<Id>,
    pre: Option<Id>,
    heading: Option<(Id, u8)>,
    zones: Vec<(Id, Zone)>,
    lists: Vec<List>,
    /// Whether the line is the first of an item.
    is_item: bool,
    /// A term or a question, until its definition or answer is read.
    term: Option<(String, bool)>,
    /// The elements whose line becomes the term.
    defines: Option<Id>,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Document, strictness: Strictness) -> Self {
        Self {
            document,
            strictness,
            lines: Vec::new(),
            bytes: 0,
            line: String::new(),
            letters: 0,
            linked: 0,
            has_space: false,
            has_break: false,
            link: None,
            pre: None,
            heading: None,
            zones: Vec::new(),
            lists: Vec::new(),
            is_item: false,
            term: None,
            defines: None,
        }
    }

    /// Returns whether to read what is in a node.
    fn enter(&mut self, id: Id) -> bool {
        if let Some(text) = self.document.text(id) {
            self.read_text(text);
            return false;
        }
        if is_left_out(self.document, id, self.strictness) {
            return false;
        }
        let name = self.document.name(id);
        if let Some(level) = level(name).filter(|_| self.heading.is_none()) {
            self.end_line();
            self.heading = Some((id, level));
        } else if BLOCKS.contains(&name) {
            self.end_block();
        } else if self.is_apart(id, name) {
            self.has_space = true;
        }
        if let Some(zone) = zone(self.document, id, name) {
            self.zones.push((id, zone));
        }
        match name {
            "a" if self.document.attribute(id, "href").is_some() => self.link = self.link.or(Some(id)),
            "pre" | "listing" | "xmp" => self.pre = self.pre.or(Some(id)),
            "dl" => self.end_term(),
            "dt" | "summary" => {
                self.end_term();
                self.defines = Some(id);
            }
            "ul" | "ol" | "menu" | "dir" => {
                if let Some((term, _)) = self.term.take() {
                    self.push(LineKind::Text, defined(&term, ""), false);
                }
                let before = self.lines.last().filter(|line| line.kind == LineKind::Text);
                let has_lead_in = before.is_some_and(|line| line.text.ends_with([':', '：']));
                self.lists.push(List { id, first: self.lines.len(), has_lead_in });
            }
            "li" => self.is_item = true,
            "sup" if is_power(self.document, id, &self.line) => self.line.push('^'),
            "select" => {
                self.read_options(id);
                return false;
            }
            "table" => {
                if let Some(rows) = table::rows(self.document, id, self.strictness) {
                    self.end_term();
                    for row in rows {
                        self.push(LineKind::Row, row.text, row.is_link);
                    }
                    self.leave(id);
                    return false;
                }
            }
            _ => {}
        }
        true
    }

    fn leave(&mut self, id: Id) {
        let name = self.document.name(id);
        if self.heading.is_some_and(|(heading, _)| heading == id) {
            self.end_line();
            self.heading = None;
        } else if BLOCKS.contains(&name) {
            self.end_block();
        } else if name.contains('-') || name == "option" {
            self.has_space = true;
        }
        if self.link == Some(id) {
            self.link = None;
        }
        if self.pre == Some(id) {
            self.pre = None;
        }
        if self.defines == Some(id) {
            self.defines = None;
        }
        if name == "dl" || name == "details" {
            self.end_term();
        }
        self.zones.pop_if(|(of, _)| *of == id);
        if let Some(list) = self.lists.pop_if(|list| list.id == id) {
            self.join(&list);
        }
        if name == "li" {
            self.is_item = false;
        }
    }

    /// Appends text to the line, with single spaces.
    fn read_text(&mut self, text: &str) {
        for letter in text.chars() {
            if self.pre.is_some() && letter == '\n' {
                self.end_line();
            } else if letter.is_whitespace() {
                self.has_space = true;
                self.has_break |= letter == '\n';
            } else if !letter.is_control() && !matches!(letter, '\u{ad}' | '\u{feff}') {
                let before = self.line.chars().next_back();
                // Languages without spaces have none where a line of the source ends.
                let is_joined = self.has_break && before.is_some_and(is_wide) && is_wide(letter);
                if self.has_space && before.is_some() && !is_joined {
                    self.line.push(' ');
                }
                (self.has_space, self.has_break) = (false, false);
                self.line.push(letter);
                if letter.is_alphanumeric() {
                    self.letters += 1;
                    self.linked += usize::from(self.link.is_some());
                }
            }
        }
    }

    /// Returns whether an element is told from the one before it by more than white space, as links and
    /// columns are.
    fn is_apart(&self, id: Id, name: &str) -> bool {
        if name.contains('-') {
            return true;
        }
        let Some(previous) =
            self.document.previous(id).filter(|previous| self.document.is_element(*previous))
        else {
            return false;
        };
        let is_control =
            |name: &str| matches!(name, "a" | "button" | "label" | "input" | "select" | "option");
        if is_control(name) && is_control(self.document.name(previous)) {
            // An anchor that is not a link is often not closed, and has the text before the next link.
            let has = |attribute| self.document.attribute(previous, attribute).is_some();
            let is_anchor = !has("href") && (has("id") || has("name"));
            return self.document.children(previous).next().is_some() && !is_anchor;
        }
        let is_inline =
            |name: &str| matches!(name, "span" | "b" | "strong" | "em" | "i" | "small" | "time" | "data");
        // Letters may stand in an element each, for a decoration.
        let is_word = |id: Id| {
            let inner = std::iter::successors(Some(id), |id| self.document.children(*id).next()).last();
            let text = inner.and_then(|inner| self.document.text(inner)).unwrap_or_default();
            text.trim().chars().nth(1).is_some()
        };
        self.pre.is_none()
            && self.line.ends_with(char::is_alphanumeric)
            && is_inline(name)
            && is_inline(self.document.name(previous))
            && is_word(previous)
            && is_word(id)
    }

    /// Reads the options of a list, without the one that stands for none.
    fn read_options(&mut self, id: Id) {
        let mut options = Vec::new();
        self.document.walk(id, |step| {
            if let Step::Enter(id) = step
                && self.document.name(id) == "option"
                && self.document.attribute(id, "value") != Some("")
            {
                options.push(plain_text(self.document, id));
            }
            true
        });
        options.retain(|option| !option.is_empty());
        self.has_space = true;
        if options.len() <= MAX_OPTIONS {
            self.read_text(&options.join(", "));
        }
        self.has_space = true;
    }

    /// Ends the line at the edge of a block. A heading is one line, whatever is in it.
    fn end_block(&mut self) {
        if self.heading.is_some() {
            self.has_space = true;
        } else {
            self.end_line();
        }
    }

    /// Ends the line. A term waits for its definition.
    fn end_line(&mut self) {
        (self.has_space, self.has_break) = (false, false);
        if self.line.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.line);
        let is_link = self.linked > 0 && self.linked == self.letters;
        (self.letters, self.linked) = (0, 0);
        if let Some((_, level)) = self.heading {
            self.end_term();
            return self.push(LineKind::Heading(level), text, is_link);
        }
        if self.defines.is_some() {
            // Several names of one thing, such as "-a" and "--all".
            self.term = match self.term.take() {
                Some((term, was_link)) => Some((format!("{term}, {text}"), is_link && was_link)),
                None => Some((text, is_link)),
            };
            return;
        }
        let text = match self.term.take() {
            Some((term, _)) => defined(&term, &text),
            None => text,
        };
        let kind = if self.is_item && self.pre.is_none() { LineKind::Item } else { LineKind::Text };
        self.is_item = false;
        self.push(kind, text, is_link);
    }

    /// Writes a term that has no definition.
    fn end_term(&mut self) {
        if let Some((term, is_link)) = self.term.take() {
            self.push(LineKind::Text, term, is_link);
        }
    }

    fn push(&mut self, kind: LineKind, text: String, is_link: bool) {
        self.bytes += text.len();
        if self.bytes > MAX_BYTES {
            return;
        }
        let zone = self.zones.last().map(|(_, zone)| *zone).unwrap_or_default();
        let is_menu = is_link && SEPARATORS.iter().any(|separator| text.contains(separator));
        let zone = if is_menu { Zone::Menu } else { zone };
        self.lines.push(Line { kind, text, zone, is_link });
    }

    /// Joins a short list with the line that introduces it: "You need: clay; water".
    fn join(&mut self, list: &List) {
        if !list.has_lead_in || self.lines.len() <= list.first {
            return;
        }
        let items = &self.lines[list.first..];
        let length: usize = items.iter().map(|item| item.text.len()).sum();
        let is_simple = items.iter().all(|item| item.kind == LineKind::Item && !item.text.contains(';'));
        if !is_simple || length > MAX_JOINED_LENGTH {
            return;
        }
        let texts: Vec<String> = self.lines.drain(list.first..).map(|item| item.text).collect();
        if let Some(lead_in) = self.lines.last_mut() {
            lead_in.text.push(' ');
            lead_in.text.push_str(&texts.join("; "));
        }
    }
}

/// Returns whether a character is of a script that is written without spaces.
fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether a number stands high behind another one: 2³¹ must not become 231.
pub(crate) fn is_power(document: &Document, id: Id, before: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let text = document.children(id).find_map(|child| document.text(child));
    before.ends_with(is_digit) && text.is_some_and(|text| text.starts_with(is_digit))
}

/// Returns a term with its definition, or a question with its answer.
pub(crate) fn defined(term: &str, text: &str) -> String {
    let is_closed = term.ends_with([':', '：', '?', '？', '!', '.', '。', '؟']);
    format!("{term}{} {text}", if is_closed { "" } else { ":" }).trim_end().to_owned()
}
