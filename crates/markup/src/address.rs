//! Addresses: their end in a text, the schemes that may be linked, and their hosts.

use super::source::{Source, is_word};

/// Returns whether a text begins with a scheme that may be linked. No other address becomes a link.
pub(super) fn has_scheme(text: Source) -> bool {
    ["https://", "http://", "mailto:", "tel:"].iter().any(|scheme| begins(text, scheme))
}

/// Returns whether a text begins with a prefix that the beginning of a host follows. A browser would skip
/// other characters and search the host after them.
pub(super) fn begins(text: Source, with: &str) -> bool {
    let next = text.at(with.len());
    text.part(0, with.len()).eq_ignore_ascii_case(with) && (next == '+' || next >= '\u{80}' || is_word(next))
}

/// Returns whether a byte may be part of an address. Browsers drop some of the others, and read `\` as `/`.
pub(super) fn is_plain(byte: char) -> bool {
    byte > ' ' && !matches!(byte, '"' | '<' | '>' | '\\' | '`' | '\u{7F}')
}

/// Returns the end of an address in running text, without the punctuation after it.
pub(super) fn end(text: Source, from: usize) -> usize {
    let mut to = from;
    let mut open = 0;
    loop {
        let byte = text.at(to);
        // Other bytes than ASCII may be letters, but these begin spaces, quotes, dashes and full stops.
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

/// Returns the host of a link whose text looks like the address of another host.
pub(super) fn hidden_host<'a>(address: &'a str, text: &str) -> Option<&'a str> {
    let mut last = 0;
    let mut looks = false;
    for byte in text.bytes() {
        last = (last << 8 | u32::from(byte)) & 0xFF_FFFF;
        // The last ones are full stops of other scripts.
        looks |= byte == b'@'
            || (last >> 8 & 0xFF == u32::from(b'.') && byte > b' ')
            || matches!(last, 0xE2_80A4 | 0xE3_8082 | 0xEF_BC8E | 0xEF_BDA1);
    }
    let to = host(Source(address));
    // The user name before a host may look like a host.
    let named = Source(text).find('@', 0) < text.len() && matches!(Source(address).at(0), 'h' | 'H');
    (looks && (named || !to.eq_ignore_ascii_case(host(Source(text))))).then_some(to)
}

/// Returns the part between scheme and path, without a user name.
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
