//! Text by byte offsets, which may be out of range.

/// A text that is parsed. No method panics: the tables of panicking slices would add 4 KB (brotli).
#[derive(Clone, Copy)]
pub(super) struct Source<'a>(pub(super) &'a str);

impl<'a> Source<'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// Returns the byte at a place as a character, and a line end outside of the text. Characters that are
    /// not ASCII are read byte by byte. Not inlined, because it has many callers.
    #[inline(never)]
    pub(super) fn at(self, place: usize) -> char {
        #[cfg(test)]
        super::tests::count_step();
        self.0.as_bytes().get(place).map_or('\n', |byte| char::from(*byte))
    }

    /// Returns the text between two places.
    pub(super) fn part(self, from: usize, to: usize) -> &'a str {
        self.0.get(from..to).unwrap_or_default()
    }

    /// Returns the end of the run of equal bytes at a place.
    pub(super) fn run(self, place: usize) -> usize {
        let mut to = place + 1;
        while to < self.len() && self.at(to) == self.at(place) {
            to += 1;
        }
        to
    }

    /// Returns the next place of a byte, or the end.
    pub(super) fn find(self, byte: char, from: usize) -> usize {
        let mut place = from;
        while place < self.len() && self.at(place) != byte {
            place += 1;
        }
        place
    }
}

/// Returns whether a byte is an ASCII letter or digit.
pub(super) fn is_word(byte: char) -> bool {
    byte.is_ascii_alphanumeric()
}
