//! Compares words that are spelled differently: misspelt, or part of a longer word.

use super::language::Language;
use super::vocabulary::{TermId, Vocabulary};

/// Minimum letters of a word that may be misspelt. Words of Arabic are shorter, because most vowels are not
/// written.
const MIN_MISSPELT: usize = 5;
const MIN_MISSPELT_ARABIC: usize = 4;
/// Minimum letters of a word that may contain two mistakes.
const MIN_TWICE_MISSPELT: usize = 8;
/// Minimum letters of a part of a longer word.
const MIN_PART: usize = 5;

/// The share that a misspelt word counts.
const MISSPELT: f64 = 0.8;
/// The share that a word counts that is part of the page's word, or contains it.
const PART: f64 = 0.55;

/// How much the words of pages are like a word of a question. Pages of a site share most of their words.
#[derive(Debug)]
pub(super) struct Similar {
    asked: String,
    language: Language,
    may_be_misspelt: bool,
    /// The shares of the words that were compared, by their number.
    known: Vec<Option<f64>>,
}

impl Similar {
    /// Compares words of a language with a word of a question. Both are stems. A word that the site knows
    /// exactly is not misspelt.
    pub(super) fn new(asked: String, language: Language, may_be_misspelt: bool) -> Self {
        Self { asked, language, may_be_misspelt, known: Vec::new() }
    }

    /// Returns the word of a page that is most like the one of the question, with the share that it counts.
    pub(super) fn best(&mut self, words: &[TermId], vocabulary: &Vocabulary) -> Option<(TermId, f64)> {
        let shares = words.iter().map(|word| (*word, self.share(*word, vocabulary)));
        shares.filter(|(_, share)| *share > 0.0).max_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn share(&mut self, word: TermId, vocabulary: &Vocabulary) -> f64 {
        let index = usize::try_from(word).unwrap_or(usize::MAX);
        if let Some(Some(share)) = self.known.get(index) {
            return *share;
        }
        let share = similarity(&self.asked, vocabulary.text(word), self.language, self.may_be_misspelt);
        if self.known.len() <= index {
            self.known.resize(index + 1, None);
        }
        self.known[index] = Some(share);
        share
    }
}

fn is_arabic(letter: char) -> bool {
    matches!(letter, '\u{600}'..='\u{6ff}')
}

/// Returns how much a word of a page counts as the word of a question, of 0 to 1. Both are stems.
fn similarity(asked: &str, found: &str, language: Language, may_be_misspelt: bool) -> f64 {
    let (asked_length, found_length) = (asked.chars().count(), found.chars().count());
    let shorter = asked_length.min(found_length);
    if shorter >= MIN_PART && is_part(asked, found, language) {
        return PART;
    }
    let most = if shorter >= MIN_TWICE_MISSPELT { 2 } else { 1 };
    let is_arabic = asked.starts_with(is_arabic);
    let may_match = may_be_misspelt
        && shorter >= if is_arabic { MIN_MISSPELT_ARABIC } else { MIN_MISSPELT }
        && asked_length.abs_diff(found_length) <= most
        && !asked.contains(|letter: char| letter.is_ascii_digit())
        && (is_arabic || asked.chars().next() == found.chars().next());
    if may_match && distance(asked, found) <= most { MISSPELT } else { 0.0 }
}

fn is_part(asked: &str, found: &str, language: Language) -> bool {
    let begins = asked.starts_with(found) || found.starts_with(asked);
    begins || (language.has_compounds() && (asked.ends_with(found) || found.ends_with(asked)))
}

/// Returns the number of letters to insert, remove, replace or swap with their neighbours.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, another) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != another);
            let mut fewest = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swap = row > 0 && column > 0 && one[row - 1] == *another && other[column - 1] == *letter;
            if is_swap {
                fewest = fewest.min(before[column - 1] + 1);
            }
            current.push(fewest);
        }
        before = last;
        last = current;
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_insertions_removals_replacements_and_swaps() {
        for (one, other, expected) in [
            ("", "", 0),
            ("mug", "mugs", 1),
            ("recieve", "receive", 1),
            ("abc", "xyz", 3),
            ("توصل", "توصيل", 1),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn accepts_typing_mistakes_and_parts_of_words() {
        let similar = |one, other, language| similarity(one, other, language, true) > 0.0;
        assert!(similar("delivry", "delivery", Language::English));
        assert!(similar("parkplatzgebuhr", "parkplatz", Language::German));
        assert!(similar("kinderbett", "reisekinderbett", Language::German));
        assert!(!similar("order", "border", Language::English));
        assert!(!similar("cat", "car", Language::English) && !similar("last", "latt", Language::English));
        assert!(!similar("2024", "2025", Language::English));
        let known = similarity("storage", "stirage", Language::English, false);
        assert!(known < f64::EPSILON, "a word that the site knows is not misspelt");
    }

    proptest! {
        #[test]
        fn distance_is_symmetric(one in "[a-d]{0,8}", other in "[a-d]{0,8}") {
            prop_assert_eq!(distance(&one, &other), distance(&other, &one));
            prop_assert_eq!(distance(&one, &other) == 0, one == other);
        }
    }
}
