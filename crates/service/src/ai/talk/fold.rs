//! Folds a text to the form in which phrases are compared.

use unicode_normalization::UnicodeNormalization;

use crate::knowledge::is_unspaced;

/// A text in lower case, without accents and punctuation, its words separated by single spaces.
#[derive(Clone, Debug, Default)]
pub(super) struct Folded {
    text: String,
    /// The offset in the original text of the character that each byte comes from.
    offsets: Vec<usize>,
}

impl Folded {
    pub(super) fn new(original: &str) -> Self {
        let mut folded = Self::default();
        let mut needs_space = false;
        for (offset, character) in original.char_indices() {
            if is_ignored(character) {
                continue;
            }
            if !is_of_word(character) {
                needs_space = true;
                continue;
            }
            let is_emoji = is_emoji(character);
            if (needs_space || is_emoji) && !folded.text.is_empty() && !folded.text.ends_with(' ') {
                folded.push(' ', offset);
            }
            needs_space = is_emoji;
            let letters = character.nfkd().filter(|letter| !is_mark(*letter)).nfc();
            for letter in letters.flat_map(char::to_lowercase).filter(|letter| !is_mark(*letter)) {
                match letter {
                    'ß' => {
                        folded.push('s', offset);
                        folded.push('s', offset);
                    }
                    'ł' => folded.push('l', offset),
                    'đ' => folded.push('d', offset),
                    'ı' => folded.push('i', offset),
                    '\u{649}' | '\u{6cc}' => folded.push('\u{64a}', offset),
                    '\u{629}' => folded.push('\u{647}', offset),
                    letter => folded.push(letter, offset),
                }
            }
        }
        folded
    }

    fn push(&mut self, letter: char, offset: usize) {
        self.text.push(letter);
        self.offsets.resize(self.text.len(), offset);
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the offset in the original text of a byte of the folded one; `None` at its end.
    pub(super) fn offset(&self, at: usize) -> Option<usize> {
        self.offsets.get(at).copied()
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split(' ').filter(|word| !word.is_empty())
    }

    /// Returns the words beside a part of the text; of a script without spaces, a third of its characters.
    pub(super) fn words_beside(&self, start: usize, end: usize) -> usize {
        let count = |part: &str| {
            let unspaced = part.chars().filter(|letter| is_unspaced(*letter)).count();
            if unspaced > 0 {
                unspaced.div_ceil(3)
            } else {
                part.split(' ').filter(|word| !word.is_empty()).count()
            }
        };
        count(&self.text[..start]) + count(&self.text[end..])
    }

    /// Returns the positions at which a word begins; in a script without spaces, every character.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> {
        let mut before = ' ';
        self.text.char_indices().filter_map(move |(at, letter)| {
            let starts = letter != ' ' && (before == ' ' || is_unspaced(letter) || is_unspaced(before));
            before = letter;
            starts.then_some(at)
        })
    }
}

/// Returns the folded form of a text.
pub(crate) fn folded(text: &str) -> String {
    Folded::new(text).text
}

/// Returns whether a position of a folded text is not inside of a word.
pub(super) fn is_boundary(text: &str, at: usize) -> bool {
    let (before, after) = (text[..at].chars().next_back(), text[at..].chars().next());
    match (before, after) {
        (Some(before), Some(after)) => {
            before == ' ' || after == ' ' || is_unspaced(before) || is_unspaced(after)
        }
        _ => true,
    }
}

fn is_of_word(character: char) -> bool {
    // The vowel signs of Hindi and Thai are parts of words.
    let is_sign = matches!(character, '\u{900}'..='\u{963}' | '\u{e2f}'..='\u{e4e}');
    character.is_alphanumeric() || is_sign || is_emoji(character)
}

fn is_emoji(character: char) -> bool {
    matches!(character, '\u{1f300}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}')
}

/// Returns whether a character stands inside of words and is left out: apostrophes, accents that are written
/// as characters of their own, and marks of direction and of the looks of emoji.
fn is_ignored(character: char) -> bool {
    let is_apostrophe = matches!(character, '\'' | '\u{2019}' | '\u{2018}' | '\u{2bc}' | '`' | '\u{b4}');
    let is_looks = matches!(character, '\u{fe0e}' | '\u{fe0f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(character, '\u{1f3fb}'..='\u{1f3ff}' | '\u{2066}'..='\u{2069}' | '\u{ad}');
    is_apostrophe || is_looks || is_mark(character)
}

/// Returns whether a character is an accent or a vowel mark that people leave out.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{93c}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folds_what_is_written_in_several_ways() {
        for (text, expected) in [
            ("I don’t  KNOW!", "i dont know"),
            ("Größe, ＡＢＣ", "grosse abc"),
            ("İyi günler ışık", "iyi gunler isik"),
            ("Đúng rồi", "dung roi"),
            ("أهلاً 👍🏽ok", "اهلا 👍 ok"),
            ("नमस्ते।", "नमस्ते"),
            ("ขอบคุณ ครับ", "ขอบคุณ ครับ"),
            ("안녕하세요?", "안녕하세요"),
        ] {
            assert_eq!(folded(text), folded(expected), "{text}");
            assert_eq!(folded(text).matches(' ').count(), expected.matches(' ').count(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_folded_text_tells_where_its_words_stand(text in any::<String>()) {
            let folded = Folded::new(&text);
            for start in folded.starts() {
                prop_assert!(is_boundary(folded.as_str(), start));
                prop_assert!(folded.offset(start).is_some_and(|offset| text.is_char_boundary(offset)));
            }
        }
    }
}
