//! Text that is read by places: byte offsets, any of which may be asked for.

/// A text under examination. Nothing panics: the tables behind a slice that may weigh 4 KB (brotli).
#[derive(Clone, Copy)]
pub(super) struct Source<'a>(pub(super) &'a str);

impl<'a> Source<'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// The byte at a place, as a character: a line end before and behind the text, and what is not ASCII in pieces. It is
    /// asked for everywhere, and weighs less when it is not inlined.
    #[inline(never)]
    pub(super) fn at(self, place: usize) -> char {
        #[cfg(all(test, not(target_arch = "wasm32")))]
        super::tests::count_step();
        self.0.as_bytes().get(place).map_or('\n', |byte| char::from(*byte))
    }

    /// The text between two places.
    pub(super) fn part(self, from: usize, to: usize) -> &'a str {
        self.0.get(from..to).unwrap_or_default()
    }

    /// Where the run of equal bytes that begins at a place ends.
    pub(super) fn run(self, place: usize) -> usize {
        let mut to = place + 1;
        while to < self.len() && self.at(to) == self.at(place) {
            to += 1;
        }
        to
    }

    /// The next place of a byte, or the end.
    pub(super) fn find(self, byte: char, from: usize) -> usize {
        let mut place = from;
        while place < self.len() && self.at(place) != byte {
            place += 1;
        }
        place
    }
}

/// Whether this is a letter or a digit of ASCII's.
pub(super) fn is_word(byte: char) -> bool {
    byte.is_ascii_alphanumeric()
}
