//! The difference of two texts, word by word, as a review shows it.

/// Maximum words of each text that are compared; beyond that, the rest counts as replaced.
const MAX_WORDS: usize = 4000;
/// Maximum cells of the table that finds the longest common part.
const MAX_CELLS: usize = 4_000_000;

/// A piece of a text in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// In both texts.
    Kept(&'a str),
    /// In the old text only.
    Removed(&'a str),
    /// In the new text only.
    Added(&'a str),
}

/// Compares two texts. The pieces that are kept or removed are the old text, those that are kept or added the
/// new one.
pub fn words<'a>(old: &'a str, new: &'a str) -> Vec<Piece<'a>> {
    let (before, after) = (split(old), split(new));
    let start = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (before_rest, after_rest) = (&before[start..], &after[start..]);
    let end =
        before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let middle = &before_rest[..before_rest.len() - end];
    let new_middle = &after_rest[..after_rest.len() - end];

    let mut pieces: Vec<Piece<'a>> = before[..start].iter().map(|word| Piece::Kept(word)).collect();
    pieces.extend(compare(middle, new_middle));
    pieces.extend(before[before.len() - end..].iter().map(|word| Piece::Kept(word)));
    joined(old, new, &pieces)
}

/// Splits a text into words with the white space behind them.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && words.len() < MAX_WORDS {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let space = rest[word..].find(|letter: char| !letter.is_whitespace()).unwrap_or(rest.len() - word);
        let (head, tail) = rest.split_at(word + space);
        words.push(head);
        rest = tail;
    }
    if !rest.is_empty() {
        words.push(rest);
    }
    words
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Piece<'a>> {
    let cells = (old.len() + 1).saturating_mul(new.len() + 1);
    if old.is_empty() || new.is_empty() || cells > MAX_CELLS {
        let removed = old.iter().map(|word| Piece::Removed(word));
        return removed.chain(new.iter().map(|word| Piece::Added(word))).collect();
    }
    // common[i * width + j]: the length of the longest common part of old[i..] and new[j..].
    let width = new.len() + 1;
    let mut common = vec![0_u16; cells];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pieces = Vec::with_capacity(old.len() + new.len());
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pieces.push(Piece::Kept(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            pieces.push(Piece::Removed(old[i]));
            i += 1;
        } else {
            pieces.push(Piece::Added(new[j]));
            j += 1;
        }
    }
    pieces.extend(old[i..].iter().map(|word| Piece::Removed(word)));
    pieces.extend(new[j..].iter().map(|word| Piece::Added(word)));
    pieces
}

/// Joins pieces of the same kind that follow each other.
fn joined<'a>(old: &'a str, new: &'a str, pieces: &[Piece<'a>]) -> Vec<Piece<'a>> {
    let mut joined: Vec<Piece<'a>> = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    for chunk in pieces.chunk_by(|one, other| std::mem::discriminant(one) == std::mem::discriminant(other)) {
        let length: usize = chunk.iter().map(|piece| piece.text().len()).sum();
        joined.push(match chunk[0] {
            Piece::Kept(_) => Piece::Kept(&new[at_new..at_new + length]),
            Piece::Removed(_) => Piece::Removed(&old[at_old..at_old + length]),
            Piece::Added(_) => Piece::Added(&new[at_new..at_new + length]),
        });
        if !matches!(chunk[0], Piece::Added(_)) {
            at_old += length;
        }
        if !matches!(chunk[0], Piece::Removed(_)) {
            at_new += length;
        }
    }
    joined
}

impl<'a> Piece<'a> {
    /// Returns the text.
    pub fn text(self) -> &'a str {
        match self {
            Self::Kept(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old(pieces: &[Piece]) -> String {
        pieces.iter().filter(|piece| !matches!(piece, Piece::Added(_))).map(|piece| piece.text()).collect()
    }

    fn new(pieces: &[Piece]) -> String {
        pieces.iter().filter(|piece| !matches!(piece, Piece::Removed(_))).map(|piece| piece.text()).collect()
    }

    #[test]
    fn shows_the_words_that_differ() {
        assert_eq!(
            words("Mugs by hand", "Mugs made by hand"),
            [Piece::Kept("Mugs "), Piece::Added("made "), Piece::Kept("by hand")]
        );
        assert_eq!(
            words("Blue mugs", "Red mugs"),
            [Piece::Removed("Blue "), Piece::Added("Red "), Piece::Kept("mugs")]
        );
        assert_eq!(words("", "New"), [Piece::Added("New")]);
        assert_eq!(words("Old", ""), [Piece::Removed("Old")]);
        assert_eq!(words("Same", "Same"), [Piece::Kept("Same")]);
        assert_eq!(words("", ""), []);
    }

    #[test]
    fn both_texts_can_be_read_from_the_pieces() {
        let texts = [
            "",
            "one",
            " one  two\nthree",
            "three two one",
            "two one two one two",
            "日本語 のテキスト",
            "é ü\u{a0}ß one",
        ];
        for before in texts {
            for after in texts {
                let pieces = words(before, after);
                assert_eq!((old(&pieces).as_str(), new(&pieces).as_str()), (before, after));
            }
        }
    }

    #[test]
    fn long_texts_are_compared_without_using_all_memory() {
        let before = (0..20_000).map(|number| format!("a{number}")).collect::<Vec<_>>().join(" ");
        let after = before.replace('a', "b");
        let pieces = words(&before, &after);
        assert_eq!((old(&pieces), new(&pieces)), (before, after));
    }
}
