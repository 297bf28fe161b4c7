//! The terms by which the full-text index finds a text.
//!
//! A term is written in ASCII letters and digits, which both databases leave as it is.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::language::{LATIN, Language};
use super::words::{Word, characters, words};

/// Maximum distinct terms of an indexed text; further ones are not found.
const MAX_TERMS: usize = 8192;
/// The length of the pieces of words by which misspelt words are found.
const GRAM: usize = 3;
/// Minimum letters of a word that is also indexed in pieces.
const MIN_GRAM_WORD: usize = 4;

/// The terms of a text, as they are written into the index, each after a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexTerms(pub(super) String);

impl IndexTerms {
    fn new(terms: impl Iterator<Item = String>) -> Self {
        let mut distinct = BTreeSet::new();
        for term in terms {
            if distinct.len() >= MAX_TERMS {
                break;
            }
            distinct.insert(term);
        }
        let mut list = String::new();
        for term in distinct {
            list.push(' ');
            list.push_str(&term);
        }
        Self(list)
    }

    /// Returns the terms of knowledge: stems, and pieces of words, by which misspelt words are found.
    pub(crate) fn of_knowledge(language: Language, texts: &[&str]) -> Self {
        // All stems come first, so that pieces never displace them.
        let stems = texts.iter().flat_map(|text| words(text)).flat_map(|word| word_terms(&word, language));
        let pieces = texts.iter().flat_map(|text| words(text)).flat_map(|word| match word {
            Word::Spaced(word) => grams(&word),
            Word::Unspaced(_) => Vec::new(),
        });
        Self::new(stems.chain(pieces))
    }

    /// Returns the terms of a message, whose language is detected.
    pub(super) fn of_message(text: &str) -> Self {
        let language = Language::detected(text, Language::English);
        Self::new(words(text).flat_map(|word| word_terms(&word, language)))
    }
}

/// Returns the stems of a word in all languages of its script, as they are in the index.
pub(super) fn stems(word: &str) -> Vec<String> {
    let stems: BTreeSet<String> = LATIN.into_iter().map(|language| encoded(&language.stem(word))).collect();
    stems.into_iter().collect()
}

/// Returns the terms of a word in a language, as they are in the index.
pub(super) fn word_terms(word: &Word, language: Language) -> Vec<String> {
    match word {
        Word::Spaced(word) => vec![encoded(&language.stem(word))],
        Word::Unspaced(run) => {
            let (pairs, singles) = characters(run);
            let alone = (run.len() == 1 && singles.is_empty()).then(|| run[0].to_string());
            pairs.iter().chain(&singles).chain(&alone).map(|term| encoded(term)).collect()
        }
    }
}

/// Returns the pieces of a word by which it is found when it is misspelt; none of a short word.
pub(super) fn grams(word: &str) -> Vec<String> {
    let letters: Vec<char> = std::iter::once('0').chain(word.chars()).chain(['0']).collect();
    if letters.len() < MIN_GRAM_WORD + 2 {
        return Vec::new();
    }
    letters.windows(GRAM).map(|gram| encoded(&format!("3{}", String::from_iter(gram)))).collect()
}

/// Returns a term in ASCII letters and digits.
pub(super) fn encoded(term: &str) -> String {
    if term.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return term.to_owned();
    }
    term.bytes().fold("x".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn terms_of_any_text_are_plain_and_bounded(text in any::<String>()) {
            let terms = IndexTerms::of_knowledge(Language::German, &[&text]).0;
            prop_assert!(terms.bytes().all(|byte| byte == b' ' || byte.is_ascii_lowercase() || byte.is_ascii_digit()));
            prop_assert!(terms.is_empty() || terms[1..].split(' ').all(|term| !term.is_empty()));
        }
    }
}
