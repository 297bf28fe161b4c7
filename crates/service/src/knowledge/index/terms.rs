//! Splits a text into the terms that a search compares.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// The hash of a word's stem. The hash has a random key, so that nobody can craft words that collide.
pub(crate) type Term = u64;

static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Maximum characters of a word; further ones are ignored.
const MAX_WORD_LENGTH: usize = 64;

/// Words that carry no meaning in a search.
const STOP_WORDS: [&str; 44] = [
    "the", "and", "for", "you", "your", "yours", "are", "was", "were", "can", "could", "would", "should",
    "what", "which", "when", "where", "who", "how", "why", "does", "did", "have", "has", "had", "with",
    "about", "from", "this", "that", "there", "they", "them", "our", "tell", "please", "much", "many", "any",
    "some", "get", "know", "want", "more",
];

/// Returns the terms of a text, in order. Words of one or two letters and [`STOP_WORDS`] are skipped.
pub(crate) fn terms(text: &str) -> impl Iterator<Item = Term> {
    folded_words(text).filter_map(|word| {
        let is_ideographic = word.chars().all(is_ideograph);
        let is_term =
            is_ideographic || (word.chars().nth(2).is_some() && !STOP_WORDS.contains(&word.as_str()));
        is_term.then(|| {
            // The stemmer is for English; words with other letters are compared unstemmed.
            if word.is_ascii() { KEYS.hash_one(&*STEMMER.stem(&word)) } else { KEYS.hash_one(word.as_str()) }
        })
    })
}

/// Returns the words of a text, in lower case and without accents. In a script without spaces, each character
/// is a word.
fn folded_words(text: &str) -> impl Iterator<Item = String> {
    let is_accent = |character: &char| ('\u{300}'..='\u{36f}').contains(character);
    let mut folded = text
        .nfkd()
        .filter(move |character| !is_accent(character))
        .nfc()
        .flat_map(char::to_lowercase)
        .peekable();
    std::iter::from_fn(move || {
        let first = folded.find(|character| character.is_alphanumeric())?;
        let mut word = String::from(first);
        if is_ideograph(first) {
            return Some(word);
        }
        let mut length = 1;
        while let Some(next) = folded.next_if(|next| next.is_alphanumeric() && !is_ideograph(*next)) {
            if length < MAX_WORD_LENGTH {
                word.push(next);
            }
            length += 1;
        }
        Some(word)
    })
}

/// Returns whether a character belongs to a script without spaces between words: Chinese, Japanese or Thai.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(one: &str, other: &str) -> bool {
        terms(one).collect::<Vec<_>>() == terms(other).collect::<Vec<_>>()
    }

    #[test]
    fn maps_forms_of_a_word_to_the_same_term() {
        assert!(same("Deliveries", "delivery") && same("fired", "firing"));
        assert!(same("Café", "CAFE\u{301}") && same("ＡＢＣ", "abc"));
        assert!(!same("celadon", "cobalt"));
    }

    #[test]
    fn skips_stop_words_and_short_words() {
        assert_eq!(terms("What is the … of a").count(), 0);
        assert_eq!(terms("How much is a mug?").count(), 1);
    }

    #[test]
    fn treats_each_character_of_a_script_without_spaces_as_a_term() {
        assert_eq!(terms("青瓷1280度").count(), 4);
        assert_eq!(terms("が").count(), 1);
    }

    #[test]
    fn compares_a_very_long_word_by_its_beginning() {
        let long = "x".repeat(1_000_000);
        assert!(same(&long, &long[..MAX_WORD_LENGTH]));
    }

    proptest! {
        #[test]
        fn any_text_has_at_most_one_term_per_folded_character(text in any::<String>()) {
            prop_assert!(terms(&text).count() <= text.nfkd().count());
        }
    }
}
