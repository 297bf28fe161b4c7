//! Splits a source into pieces, each of which begins with a `<`, ends with a `>`, or has neither.

use std::ops::Range;

use encoding_rs::{Encoding, ISO_2022_JP, UTF_16BE, UTF_16LE};
use memchr::memchr2;

/// The pieces of a source. Each can be decoded by itself: in every encoding but two, the bytes of `<` and `>`
/// are no part of another character.
pub(crate) struct Pieces<'a> {
    source: &'a [u8],
    at: usize,
    encoding: &'static Encoding,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(source: &'a [u8], from: usize, encoding: &'static Encoding) -> Self {
        Self { source, at: from, encoding }
    }

    /// Returns the next `<` or `>` from a byte on, with the number of its bytes.
    fn next_mark(&self, from: usize) -> Option<(usize, u8, usize)> {
        let rest = self.source.get(from..)?;
        if self.encoding == UTF_16LE || self.encoding == UTF_16BE {
            let unit =
                |pair: &[u8]| if self.encoding == UTF_16LE { [pair[1], pair[0]] } else { [pair[0], pair[1]] };
            let index = rest.chunks_exact(2).position(|pair| matches!(unit(pair), [0, b'<' | b'>']))?;
            return Some((from + 2 * index, unit(&rest[2 * index..])[1], 2));
        }
        if self.encoding == ISO_2022_JP {
            return self.next_mark_between_escapes(from);
        }
        memchr2(b'<', b'>', rest).map(|index| (from + index, rest[index], 1))
    }

    /// Skips the characters of two bytes between escape sequences.
    fn next_mark_between_escapes(&self, from: usize) -> Option<(usize, u8, usize)> {
        let mut is_ascii = true;
        for (index, byte) in self.source.iter().enumerate().skip(from) {
            match byte {
                0x1b => is_ascii = self.source.get(index + 1) != Some(&b'$'),
                b'<' | b'>' if is_ascii => return Some((index, *byte, 1)),
                _ => {}
            }
        }
        None
    }
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if start >= self.source.len() {
            return None;
        }
        let mut from = start;
        self.at = loop {
            match self.next_mark(from) {
                Some((at, b'>', length)) => break at + length,
                Some((at, _, length)) if at == start => from = at + length,
                Some((at, _, _)) => break at,
                None => break self.source.len(),
            }
        };
        Some(start..self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{SHIFT_JIS, UTF_8};

    fn pieces<'a>(source: &'a [u8], encoding: &'static Encoding) -> Vec<&'a [u8]> {
        Pieces::new(source, 0, encoding).map(|range| &source[range]).collect()
    }

    #[test]
    fn a_piece_begins_or_ends_at_a_mark() {
        let parts = pieces(b"a<b c='>'>d<<e>f>", UTF_8);
        assert_eq!(parts, [&b"a"[..], b"<b c='>", b"'>", b"d", b"<", b"<e>", b"f>"]);
        assert!(pieces(b"", UTF_8).is_empty());
    }

    #[test]
    fn no_character_of_several_bytes_is_split() {
        // The second byte of a character in Shift_JIS may be that of an ASCII letter, but never a mark.
        assert_eq!(pieces(b"\x83\x5c<p>", SHIFT_JIS), [&b"\x83\x5c"[..], b"<p>"]);
        // U+3C3E in UTF-16 has the bytes of both marks.
        let utf_16: Vec<u8> = "\u{3c3e}\u{3e3c}<p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(pieces(&utf_16, UTF_16LE), [&utf_16[..4], &utf_16[4..]]);
        // Between the escape sequences of ISO-2022-JP, `<` is half of a character.
        let japanese = b"\x1b$B$<$>\x1b(B<p>";
        assert_eq!(pieces(japanese, ISO_2022_JP), [&japanese[..10], &b"<p>"[..]]);
    }
}
