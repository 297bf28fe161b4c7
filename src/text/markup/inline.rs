//! What stands within a line: emphasis, code, links.
//!
//! A marker is given when its partner is found further on. All this looking ahead has a bound for each text, so that none
//! takes longer than its length says; past it, markers are text.

use super::Sink;
use super::address;
use super::source::{Source, is_word};

/// So many bytes for each of the text's may be looked ahead at.
const AHEAD: usize = 16;
/// Emphasis nests so deep.
const DEPTH: usize = 16;

/// What is looked for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// Everything.
    Full,
    /// Everything but links, within the text of one.
    Link,
    /// Only addresses.
    Plain,
}

struct Inline<'a, S> {
    sink: &'a mut S,
    ahead: usize,
    depth: usize,
}

/// Gives a text with what is marked in it.
pub(super) fn inline<S: Sink>(text: &str, mode: Mode, sink: &mut S) {
    Inline { sink, ahead: AHEAD * text.len(), depth: 0 }.span(Source(text), mode);
}

impl<S: Sink> Inline<'_, S> {
    fn span(&mut self, text: Source, mode: Mode) {
        // What is before this was given.
        let mut shown = 0;
        let mut place = 0;
        while place < text.len() {
            let byte = text.at(place);
            let before = text.at(place.wrapping_sub(1));
            let mut next = place + 1;
            match byte {
                '\\' if mode != Mode::Plain && text.at(next).is_ascii_punctuation() => {
                    self.say(text, shown, place);
                    shown = next;
                    next += 1;
                }
                '`' | '*' | '_' | '~' if mode != Mode::Plain => {
                    next = text.run(place);
                    let length = next - place;
                    let end = if self.depth < DEPTH { self.partner(text, place) } else { None };
                    if let Some(end) = end {
                        self.say(text, shown, place);
                        self.marked(byte, length, Source(text.part(next, end)), mode);
                        next = end + length;
                        shown = next;
                    }
                }
                '[' if mode == Mode::Full => {
                    if let Some((end, stop, to)) = self.link(text, place) {
                        // An image is a link as well.
                        self.say(text, shown, place - usize::from(before == '!'));
                        self.give_link("", text.part(end + 2, stop), text.part(next, end));
                        next = to + 1;
                        shown = next;
                    }
                }
                '@' if mode != Mode::Link && is_word(text.at(next)) => {
                    let mut from = place;
                    while from > shown && is_of_name(text.at(from - 1)) {
                        from -= 1;
                    }
                    while from < place && !is_word(text.at(from)) {
                        from += 1;
                    }
                    let mut to = next;
                    let mut dotted = false;
                    while is_of_name(text.at(to)) {
                        dotted |= text.at(to) == '.';
                        to += 1;
                    }
                    while !is_word(text.at(to - 1)) {
                        to -= 1;
                    }
                    if from < place && dotted {
                        self.say(text, shown, from);
                        self.give_link("mailto:", text.part(from, to), "");
                        next = to;
                        shown = to;
                    }
                }
                _ if mode != Mode::Link && byte.is_ascii_alphabetic() && !is_word(before) => {
                    let rest = Source(text.part(place, text.len()));
                    let scheme = if address::begins(rest, "www.") { "https://" } else { "" };
                    let to = if !scheme.is_empty() || address::has_scheme(rest) {
                        address::end(text, place)
                    } else {
                        place
                    };
                    // One that ends where it begins, as `https://\u{2026}` does, leads nowhere.
                    let cut = Source(text.part(place, to));
                    if address::begins(cut, "www.") || address::has_scheme(cut) {
                        // The brackets around it are not shown.
                        let around = usize::from(mode == Mode::Full && before == '<' && text.at(to) == '>');
                        self.say(text, shown, place - around);
                        self.give_link(scheme, text.part(place, to), "");
                        next = to + around;
                        shown = next;
                    }
                }
                _ => {}
            }
            place = next;
        }
        self.say(text, shown, text.len());
    }

    fn say(&mut self, text: Source, from: usize, to: usize) {
        if from < to {
            self.sink.text(text.part(from, to));
        }
    }

    /// What stands between two markers.
    fn marked(&mut self, marker: char, length: usize, inner: Source, mode: Mode) {
        let tag = match (marker, length) {
            ('`', _) => "code",
            ('~', _) => "s",
            (_, 2) => "strong",
            _ => "em",
        };
        self.sink.open(tag, "");
        if marker == '`' {
            // A space on either side is for code that begins or ends with a backtick.
            let end = inner.len() - 1;
            let spaced = usize::from(end > 1 && inner.at(0) == ' ' && inner.at(end) == ' ');
            self.say(inner, spaced, end + 1 - spaced);
        } else if length == 3 {
            self.marked(marker, 2, inner, mode);
        } else {
            self.depth += 1;
            self.span(inner, mode);
            self.depth -= 1;
        }
        self.sink.close();
    }

    /// Where the partner of a marker begins: as many of the same.
    fn partner(&mut self, text: Source, from: usize) -> Option<usize> {
        let byte = text.at(from);
        let mut place = text.run(from);
        let length = place - from;
        let is_code = byte == '`';
        // Not within a word, as in snake_case and 2*3*4; some languages put no spaces between theirs.
        let anywhere = length > 1 && byte != '_';
        let within = |next: char| !anywhere && (is_word(next) || (byte == '_' && next >= '\u{80}'));
        let begins = text.at(place) > ' '
            && !within(text.at(from.wrapping_sub(1)))
            && if byte == '~' { length == 2 } else { length < 4 };
        if !is_code && !begins {
            return None;
        }
        while place < text.len() {
            let next = text.at(place);
            let end = if next == byte || next == '`' { text.run(place) } else { place + 1 };
            self.ahead = self.ahead.checked_sub(end - place)?;
            if next == byte {
                let ends = if is_code {
                    end - place == length
                } else {
                    (end - place == length || end - place == 3)
                        && text.at(place - 1) > ' '
                        && !within(text.at(end))
                };
                if ends {
                    return Some(end - length);
                }
                place = end;
            } else if next == '`' {
                place = self.partner(text, place).unwrap_or(place) + end - place;
            } else {
                place += if next == '\\' && !is_code { 2 } else { 1 };
            }
        }
        None
    }

    /// Where the text of the link that begins at a place ends, where its address does, and where the whole does.
    fn link(&mut self, text: Source, from: usize) -> Option<(usize, usize, usize)> {
        let end = self.closing(text, from, '[', ']')?;
        if text.at(end + 1) != '(' {
            return None;
        }
        let to = self.closing(text, end + 1, '(', ')')?;
        let mut stop = end + 2;
        while stop < to && address::is_plain(text.at(stop)) {
            stop += 1;
        }
        // What is behind the address is its title.
        let ends = stop == to || text.at(stop) <= ' ';
        (ends && address::has_scheme(Source(text.part(end + 2, stop)))).then_some((end, stop, to))
    }

    /// Where what is opened at a place is closed.
    fn closing(&mut self, text: Source, from: usize, open: char, close: char) -> Option<usize> {
        let mut place = from;
        let mut depth = 0;
        while place < text.len() {
            self.ahead = self.ahead.checked_sub(1)?;
            let byte = text.at(place);
            if byte == open {
                depth += 1;
            } else if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Some(place);
                }
            } else if byte == '\\' {
                place += 1;
            }
            place += 1;
        }
        None
    }

    /// A link with its text, or with its address for one.
    fn give_link(&mut self, scheme: &str, address: &str, text: &str) {
        let mut whole = scheme.to_owned();
        whole.push_str(address);
        self.sink.open("a", &whole);
        let shown = if text.is_empty() { address } else { text };
        if text.is_empty() {
            self.sink.text(address);
        } else {
            self.span(Source(text), Mode::Link);
        }
        self.sink.close();
        if let Some(host) = address::belied(&whole, shown) {
            self.sink.text(" (");
            self.sink.open("bdi", "cw-host");
            self.say(Source(host), 0, host.len());
            self.sink.close();
            self.sink.text(")");
        }
    }
}

/// What the name before the @ of an address is made of, and the domain behind it.
fn is_of_name(byte: char) -> bool {
    is_word(byte) || matches!(byte, '.' | '_' | '+' | '-')
}
