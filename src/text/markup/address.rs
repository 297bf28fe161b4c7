//! Addresses: where they end in a text, which of them may be linked, and what host they lead to.

use super::source::{Source, is_word};

/// Whether a text begins as an address that may be linked. Nothing else ever is.
pub(super) fn has_scheme(text: Source) -> bool {
    ["https://", "http://", "mailto:", "tel:"].iter().any(|scheme| begins(text, scheme))
}

/// Whether a text begins like this, with something behind it. With another character there, a browser would look for
/// the host further on.
pub(super) fn begins(text: Source, with: &str) -> bool {
    let next = text.at(with.len());
    text.part(0, with.len()).eq_ignore_ascii_case(with) && (next == '+' || next >= '\u{80}' || is_word(next))
}

/// What an address is made of. A browser drops some of the rest, and reads `\` as `/`.
pub(super) fn is_plain(byte: char) -> bool {
    byte > ' ' && !matches!(byte, '"' | '<' | '>' | '\\' | '`' | '\u{7F}')
}

/// Where an address in running text ends: punctuation behind it is not part of it.
pub(super) fn end(text: Source, from: usize) -> usize {
    let mut to = from;
    let mut open = 0;
    loop {
        let byte = text.at(to);
        // What is not ASCII may be a letter, but these begin spaces, quotes, dashes and full stops.
        let foreign = matches!(byte, '\u{C2}' | '\u{E2}' | '\u{EF}')
            || (byte == '\u{E3}' && text.at(to + 1) == '\u{80}');
        if !is_plain(byte) || foreign || (byte == ']' && text.at(to + 1) == '(') {
            break;
        }
        open += i32::from(byte == '(') - i32::from(byte == ')');
        to += 1;
    }
    loop {
        let byte = text.at(to - 1);
        if byte == ')' && open < 0 {
            open += 1;
        } else if !matches!(byte, '!' | '\'' | '*' | ',' | '.' | ':' | ';' | '?' | ']' | '_' | '~') {
            return to;
        }
        to -= 1;
    }
}

/// The host behind a link whose text looks like an address, and like that of another host.
pub(super) fn belied<'a>(address: &'a str, text: &str) -> Option<&'a str> {
    let mut last = 0;
    let mut looks = false;
    for byte in text.bytes() {
        last = (last << 8 | u32::from(byte)) & 0xFF_FFFF;
        // The large numbers are full stops of other scripts.
        looks |= byte == b'@'
            || (last >> 8 & 0xFF == u32::from(b'.') && byte > b' ')
            || matches!(last, 0xE2_80A4 | 0xE3_8082 | 0xEF_BC8E | 0xEF_BDA1);
    }
    let to = host(Source(address));
    // A name before the host may look like one itself.
    let named = Source(text).find('@', 0) < text.len() && matches!(Source(address).at(0), 'h' | 'H');
    (looks && (named || !to.eq_ignore_ascii_case(host(Source(text))))).then_some(to)
}

/// What stands between the scheme and the path, without the name of a user.
fn host(address: Source<'_>) -> &str {
    let mut from = 0;
    let mut to = 0;
    while to < address.len() {
        match address.at(to) {
            ':' if from == 0 => {
                if address.at(to + 1) == '/' {
                    to += 2;
                }
                from = to + 1;
            }
            '@' => from = to + 1,
            '/' | '?' | '#' => break,
            _ => {}
        }
        to += 1;
    }
    address.part(from, to)
}
