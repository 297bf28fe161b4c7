//! A visitor's question, as the words that a page may share with it.

use std::collections::BTreeSet;

use super::index_terms::{encoded, grams, stems};
use super::language::Language;
use super::words::{Word, characters, is_virama, toned_words, words};
use super::{korean, synonyms};

/// Maximum words of a question between spaces; further ones are ignored.
const MAX_WORDS: usize = 32;
/// Maximum words, pairs and characters of a question. A sentence of Thai has more than thirty pairs.
const MAX_TERMS: usize = 96;
/// Maximum words, pairs and characters by which pages are found; further ones only rank them.
const MAX_LOOKED_UP: usize = 32;
/// Maximum words of a question that are read.
const MAX_READ: usize = 1000;
/// Maximum synonyms of a word.
const MAX_SYNONYMS: usize = 12;
/// The weight of a single Chinese or Japanese character, compared with a pair.
const SINGLE_WEIGHT: f64 = 0.25;
/// The weight of a word that carries little meaning.
const FREQUENT_WEIGHT: f64 = 0.7;

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
    /// The word with its tones, in a Vietnamese question that has any.
    pub(super) toned: Option<String>,
    /// Whether the word carries little meaning: it ranks pages, and does not find them.
    pub(super) is_frequent: bool,
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
        Self::in_language(question, Language::detected(question, expected))
    }

    /// Reads a question in a language.
    pub(super) fn in_language(question: &str, language: Language) -> Self {
        let mut query = Self { language, words: Vec::new() };
        let mut singles = Vec::new();
        for (word, toned) in read(question, language) {
            match word {
                Word::Spaced(text) => query.add_spaced(text, toned),
                Word::Unspaced(run) => query.add_run(&run, &mut singles),
            }
        }
        for single in singles {
            query.add(single, Kind::Single, Vec::new());
        }
        query
    }

    fn add_spaced(&mut self, text: String, toned: Option<String>) {
        let is_letter =
            text.chars().nth(1).is_none() && !text.starts_with(|first: char| first.is_ascii_digit());
        let is_frequent = is_letter || self.language.is_stop_word(&text);
        let synonyms = if is_frequent { Vec::new() } else { synonyms::of_word(&text, self.language) };
        let spaced = self.words.iter().filter(|word| word.kind == Kind::Spaced).count();
        if spaced >= MAX_WORDS {
            return;
        }
        if self.add(text, Kind::Spaced, synonyms.into_iter().map(str::to_owned).collect())
            && let Some(word) = self.words.last_mut()
        {
            word.toned = toned;
            word.is_frequent = is_frequent;
        }
    }

    fn add_run(&mut self, run: &[char], singles: &mut Vec<String>) {
        let is_korean = korean::is_korean(run);
        let run = if is_korean { korean::stem(run) } else { run };
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
        if is_korean && run.len() == 1 {
            // A syllable that stands alone is a word.
            for word in run_singles {
                self.add(word, Kind::Pair, Vec::new());
            }
        } else {
            singles.extend(run_singles);
        }
    }

    /// Adds a word, unless the question has it already. Returns whether it did.
    fn add(&mut self, text: String, kind: Kind, mut synonyms: Vec<String>) -> bool {
        let is_known = self.words.iter().any(|word| word.text == text);
        if self.words.len() >= MAX_TERMS || is_known {
            return false;
        }
        synonyms.truncate(MAX_SYNONYMS);
        self.words.push(QueryWord { text, kind, synonyms, toned: None, is_frequent: false });
        true
    }

    /// Returns the positions of the words by which pages are found. Of many, those with a meaning come first,
    /// from all of the question.
    pub(super) fn looked_up(&self) -> Vec<usize> {
        let with = |is_frequent: bool| -> Vec<usize> {
            let words = self.words.iter().enumerate();
            words.filter(|(_, word)| word.is_frequent == is_frequent).map(|(index, _)| index).collect()
        };
        let mut positions = with(false);
        let step = positions.len().div_ceil(MAX_LOOKED_UP).max(1);
        positions = positions.into_iter().step_by(step).collect();
        positions.extend(with(true));
        positions.truncate(MAX_LOOKED_UP);
        positions
    }
}

/// Returns the words of a question, in Vietnamese with their tones, unless it is written without any.
fn read(question: &str, language: Language) -> Vec<(Word, Option<String>)> {
    if language == Language::Vietnamese {
        let toned: Vec<(Word, String)> = toned_words(question).take(MAX_READ).collect();
        let has_tones = toned.iter().any(|(word, written)| *word != Word::Spaced(written.clone()));
        return toned.into_iter().map(|(word, written)| (word, has_tones.then_some(written))).collect();
    }
    words(question).take(MAX_READ).map(|word| (word, None)).collect()
}

impl QueryWord {
    /// The share that the word has in a question.
    pub(super) fn weight(&self) -> f64 {
        match self.kind {
            Kind::Single => SINGLE_WEIGHT,
            _ if self.is_frequent => FREQUENT_WEIGHT,
            _ => 1.0,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        self.text.chars().all(char::is_numeric)
    }

    /// Returns the terms of the index, any of which tells that a page may contain the word or one like it.
    pub(super) fn lookups(&self, language: Language) -> Vec<String> {
        let mut terms: BTreeSet<String> = match self.kind {
            Kind::Spaced => stems(&self.text).into_iter().chain(former(&self.text)).collect(),
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

/// Returns the term of a word of an Indian script in indexes of earlier versions, which split it.
fn former(word: &str) -> Option<String> {
    let parts = word.split(is_virama).max_by_key(|part| part.len())?;
    (parts.len() < word.len()).then(|| encoded(parts))
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
        let query = Query::new(question, None);
        query.words.into_iter().filter(|word| !word.is_frequent).map(|word| word.text).collect()
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
        assert_eq!(texts(&long).len(), MAX_TERMS);
        assert_eq!(Query::new(&long, None).looked_up().len(), MAX_LOOKED_UP);
        let words: Vec<String> = (0..200).map(|number| format!("word{number}")).collect();
        assert_eq!(texts(&words.join(" ")).len(), MAX_WORDS);
        assert_eq!(texts(&"mug ".repeat(1_000_000)), ["mug"]);
    }
}
