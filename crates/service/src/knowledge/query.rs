//! A visitor's question, as the words that a page may share with it.

use std::collections::BTreeSet;

use super::language::Language;
use super::search_index::{encoded, grams, stems};
use super::synonyms;
use super::words::{Word, characters, words};

/// Maximum words, pairs and characters of a question that are searched for; further ones are ignored.
const MAX_WORDS: usize = 32;
/// Maximum words of a question that are read.
const MAX_READ: usize = 1000;
/// Maximum synonyms of a word.
const MAX_SYNONYMS: usize = 12;
/// The weight of a single Chinese or Japanese character, compared with a pair.
const SINGLE_WEIGHT: f64 = 0.25;

/// A question.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) language: Language,
    pub(super) words: Vec<QueryWord>,
}

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueryWord {
    /// Folded, and unstemmed, because the language of the page decides about the stem.
    pub(super) text: String,
    pub(super) kind: Kind,
    pub(super) synonyms: Vec<String>,
}

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word between spaces.
    Spaced,
    /// Two characters of a script without spaces, or one that is known as a word.
    Pair,
    /// One character of such a script.
    Single,
}

impl Query {
    /// Reads a question. `locale` is that of the visitor's page, in which the question may not be written.
    pub(super) fn new(question: &str, locale: Option<&str>) -> Self {
        let expected = locale.and_then(Language::of_tag).unwrap_or(Language::English);
        let language = Language::detected(question, expected);
        let mut query = Self { language, words: Vec::new() };
        let mut singles = Vec::new();
        for word in words(question).take(MAX_READ) {
            if query.words.len() >= MAX_WORDS {
                break;
            }
            match word {
                Word::Spaced(text) => query.add_spaced(text),
                Word::Unspaced(run) => query.add_run(&run, &mut singles),
            }
        }
        for single in singles {
            query.add(single, Kind::Single, Vec::new());
        }
        query
    }

    fn add_spaced(&mut self, text: String) {
        let is_letter =
            text.chars().nth(1).is_none() && !text.starts_with(|first: char| first.is_ascii_digit());
        if is_letter || self.language.is_stop_word(&text) {
            return;
        }
        let synonyms = synonyms::of_word(&text, self.language);
        self.add(text, Kind::Spaced, synonyms.into_iter().map(str::to_owned).collect());
    }

    fn add_run(&mut self, run: &[char], singles: &mut Vec<String>) {
        let (pairs, run_singles) = characters(run);
        let known = synonyms::of_run(&String::from_iter(run));
        for (word, others) in known.iter().filter(|(word, _)| word.chars().nth(1).is_none()) {
            let synonyms = others.iter().map(|other| (*other).to_owned());
            self.add((*word).to_owned(), Kind::Pair, synonyms.collect());
        }
        for pair in pairs {
            // The synonyms of a longer word belong to its first pair.
            let others = known.iter().filter(|(word, _)| word.starts_with(&pair));
            let synonyms = others.flat_map(|(_, others)| others.iter().map(|other| (*other).to_owned()));
            self.add(pair.clone(), Kind::Pair, synonyms.collect());
        }
        singles.extend(run_singles);
    }

    fn add(&mut self, text: String, kind: Kind, mut synonyms: Vec<String>) {
        let is_known = self.words.iter().any(|word| word.text == text);
        if self.words.len() < MAX_WORDS && !is_known {
            synonyms.truncate(MAX_SYNONYMS);
            self.words.push(QueryWord { text, kind, synonyms });
        }
    }
}

impl QueryWord {
    /// The share that the word has in a question.
    pub(super) fn weight(&self) -> f64 {
        if self.kind == Kind::Single { SINGLE_WEIGHT } else { 1.0 }
    }

    /// Returns the terms of the index, any of which tells that a page may contain the word or one like it.
    pub(super) fn lookups(&self, language: Language) -> Vec<String> {
        let mut terms: BTreeSet<String> = match self.kind {
            Kind::Spaced => stems(&self.text).into_iter().collect(),
            Kind::Pair | Kind::Single => [encoded(&self.text)].into(),
        };
        for synonym in &self.synonyms {
            terms.extend(synonym_terms(synonym, self.kind, language).first().map(|term| encoded(term)));
        }
        terms.into_iter().collect()
    }

    /// Returns the pieces of the word, of which pages with a similar word contain many.
    pub(super) fn pieces(&self) -> Vec<String> {
        if self.kind == Kind::Spaced { grams(&self.text) } else { Vec::new() }
    }
}

/// Returns the terms of a synonym, all of which a page has that contains it.
pub(super) fn synonym_terms(synonym: &str, kind: Kind, language: Language) -> Vec<String> {
    if kind == Kind::Spaced {
        return vec![language.stem(synonym)];
    }
    let run: Vec<char> = synonym.chars().collect();
    if run.len() == 1 { vec![synonym.to_owned()] } else { run.windows(2).map(String::from_iter).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(question: &str) -> Vec<String> {
        Query::new(question, None).words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn drops_what_carries_no_meaning_in_the_language_of_the_question() {
        assert_eq!(texts("Can you tell me about the mugs, please?"), ["mugs"]);
        assert_eq!(texts("Wann kann ich bei Ihnen die Zimmer sehen?"), ["zimmer", "sehen"]);
        assert_eq!(texts("هل يمكنني إلغاء الموعد؟"), ["الغاء", "الموعد"]);
        assert_eq!(texts("你们可以退货吗？"), ["退", "以退", "退货", "货"]);
    }

    #[test]
    fn reads_a_bounded_part_of_a_long_question() {
        let long: String = (0..4000_u32).filter_map(|offset| char::from_u32(0x4e00 + offset)).collect();
        assert_eq!(texts(&long).len(), MAX_WORDS);
        assert_eq!(texts(&"mug ".repeat(1_000_000)), ["mug"]);
    }
}
