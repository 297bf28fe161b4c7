//! Inline markup: emphasis, code, links.
//!
//! A marker counts if its partner is found further on. The search is bounded for each text, which makes the
//! running time linear. Beyond the bound, markers are text.

use super::Sink;
use super::address;
use super::source::{Source, is_word};

/// Maximum bytes of lookahead for each byte of a text.
const MAX_LOOKAHEAD: usize = 16;
/// Maximum nesting of emphasis.
const MAX_DEPTH: usize = 16;

/// The markup that is recognized.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// Everything.
    Full,
    /// Everything but links, inside the text of a link.
    Link,
    /// Only addresses.
    Plain,
}

struct Inline<'a, S> {
    sink: &'a mut S,
    ahead: usize,
    depth: usize,
}

/// Renders the inline markup of a text.
pub(super) fn inline<S: Sink>(text: &str, mode: Mode, sink: &mut S) {
    Inline { sink, ahead: MAX_LOOKAHEAD * text.len(), depth: 0 }.span(Source(text), mode);
}

impl<S: Sink> Inline<'_, S> {
    fn span(&mut self, text: Source, mode: Mode) {
        // The text before this place is rendered.
        let mut shown = 0;
        let mut place = 0;
        while place < text.len() {
            let byte = text.at(place);
            let before = text.at(place.wrapping_sub(1));
            let mut next = place + 1;
            match byte {
                '\\' if mode != Mode::Plain && text.at(next).is_ascii_punctuation() => {
                    self.emit_text(text, shown, place);
                    shown = next;
                    next += 1;
                }
                '`' | '*' | '_' | '~' if mode != Mode::Plain => {
                    next = text.run(place);
                    let length = next - place;
                    let end = if self.depth < MAX_DEPTH { self.partner(text, place) } else { None };
                    if let Some(end) = end {
                        self.emit_text(text, shown, place);
                        self.render_marked(byte, length, Source(text.part(next, end)), mode);
                        next = end + length;
                        shown = next;
                    }
                }
                '[' if mode == Mode::Full => {
                    if let Some((end, stop, to)) = self.link(text, place) {
                        // An image becomes a link.
                        self.emit_text(text, shown, place - usize::from(before == '!'));
                        self.render_link("", text.part(end + 2, stop), text.part(next, end));
                        next = to + 1;
                        shown = next;
                    }
                }
                '@' if mode != Mode::Link && is_word(text.at(next)) => {
                    let mut from = place;
                    while from > shown && is_mail_byte(text.at(from - 1)) {
                        from -= 1;
                    }
                    while from < place && !is_word(text.at(from)) {
                        from += 1;
                    }
                    let mut to = next;
                    let mut dotted = false;
                    while is_mail_byte(text.at(to)) {
                        dotted |= text.at(to) == '.';
                        to += 1;
                    }
                    while !is_word(text.at(to - 1)) {
                        to -= 1;
                    }
                    if from < place && dotted {
                        self.emit_text(text, shown, from);
                        self.render_link("mailto:", text.part(from, to), "");
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
                    // An address without a host, such as `https://\u{2026}`, is text.
                    let cut = Source(text.part(place, to));
                    if address::begins(cut, "www.") || address::has_scheme(cut) {
                        // The angle brackets around it are not shown.
                        let around = usize::from(mode == Mode::Full && before == '<' && text.at(to) == '>');
                        self.emit_text(text, shown, place - around);
                        self.render_link(scheme, text.part(place, to), "");
                        next = to + around;
                        shown = next;
                    }
                }
                _ => {}
            }
            place = next;
        }
        self.emit_text(text, shown, text.len());
    }

    fn emit_text(&mut self, text: Source, from: usize, to: usize) {
        if from < to {
            self.sink.text(text.part(from, to));
        }
    }

    /// Renders the text between two markers.
    fn render_marked(&mut self, marker: char, length: usize, inner: Source, mode: Mode) {
        let tag = match (marker, length) {
            ('`', _) => "code",
            ('~', _) => "s",
            (_, 2) => "strong",
            _ => "em",
        };
        self.sink.open(tag, "");
        if marker == '`' {
            // A space on each side allows code that begins or ends with a backtick.
            let end = inner.len() - 1;
            let spaced = usize::from(end > 1 && inner.at(0) == ' ' && inner.at(end) == ' ');
            self.emit_text(inner, spaced, end + 1 - spaced);
        } else if length == 3 {
            self.render_marked(marker, 2, inner, mode);
        } else {
            self.depth += 1;
            self.span(inner, mode);
            self.depth -= 1;
        }
        self.sink.close();
    }

    /// Returns the beginning of a marker's partner, which has the same length.
    fn partner(&mut self, text: Source, from: usize) -> Option<usize> {
        let byte = text.at(from);
        let mut place = text.run(from);
        let length = place - from;
        let is_code = byte == '`';
        // Single markers do not count inside words, as in snake_case and 2*3*4. Some languages have no spaces
        // between words.
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

    /// Returns the ends of the text, of the address, and of the whole of the link that begins at a place.
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
        // The title of the link may follow the address.
        let ends = stop == to || text.at(stop) <= ' ';
        (ends && address::has_scheme(Source(text.part(end + 2, stop)))).then_some((end, stop, to))
    }

    /// Returns the place of the bracket that closes the one at a place.
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

    /// Renders a link with a text, or with its address if the text is empty.
    fn render_link(&mut self, scheme: &str, address: &str, text: &str) {
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
        if let Some(host) = address::hidden_host(&whole, shown) {
            self.sink.text(" (");
            self.sink.open("bdi", "cw-host");
            self.emit_text(Source(host), 0, host.len());
            self.sink.close();
            self.sink.text(")");
        }
    }
}

/// Returns whether a byte may be part of the user or the domain of an e-mail address.
fn is_mail_byte(byte: char) -> bool {
    is_word(byte) || matches!(byte, '.' | '_' | '+' | '-')
}
