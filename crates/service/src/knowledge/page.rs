//! A page that may answer a question, split into terms.

use std::collections::{HashMap, HashSet};

use super::korean;
use super::language::Language;
use super::vocabulary::{TermId, Vocabulary};
use super::words::{Word, characters, toned_words, words};

/// How often a term occurs in a page.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    pub(super) in_title: u32,
    pub(super) in_text: u32,
}

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) language: Language,
    pub(super) terms: HashMap<TermId, Occurrences>,
    /// The words between spaces.
    pub(super) spaced: Vec<TermId>,
    /// The terms of each line of the title: an answer has a line for each way to ask.
    pub(super) titles: Vec<HashSet<TermId>>,
    /// The number of terms in the title and in the text.
    pub(super) length: u32,
}

impl Page {
    /// Splits a page into terms.
    pub(super) fn new(locale: &str, title: &str, text: &str, vocabulary: &mut Vocabulary) -> Self {
        let language = Language::of_text(locale, text);
        let mut page =
            Self { language, terms: HashMap::new(), spaced: Vec::new(), titles: Vec::new(), length: 0 };
        for line in title.lines() {
            // A word counts once for each way to ask.
            let read = page.read(line, vocabulary, |_| {});
            let terms: HashSet<TermId> = read.into_iter().collect();
            for term in &terms {
                page.terms.entry(*term).or_default().in_title += 1;
            }
            page.titles.push(terms);
        }
        for line in text.lines() {
            page.read(line, vocabulary, |occurrences| occurrences.in_text += 1);
        }
        page
    }

    /// Counts the terms of a text, and returns them.
    fn read(
        &mut self,
        text: &str,
        vocabulary: &mut Vocabulary,
        count: impl Fn(&mut Occurrences),
    ) -> Vec<TermId> {
        let read = terms_of(text, self.language, vocabulary);
        self.length += u32::try_from(read.iter().filter(|term| term.counts).count()).unwrap_or(u32::MAX);
        for term in &read {
            count(self.terms.entry(term.id).or_insert_with(|| {
                if term.is_spaced {
                    self.spaced.push(term.id);
                }
                Occurrences::default()
            }));
        }
        read.into_iter().map(|term| term.id).collect()
    }
}

/// A term of a text.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) id: TermId,
    is_spaced: bool,
    /// Whether it counts in the length: of a word and its parts, one does.
    counts: bool,
}

/// Returns the terms of a text in a language.
pub(super) fn terms_of(text: &str, language: Language, vocabulary: &mut Vocabulary) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut add = |word: Word, toned: Option<String>| match word {
        Word::Spaced(word) => {
            if let Some(toned) = toned.filter(|toned| *toned != word) {
                terms.push(Term { id: vocabulary.of_term(toned), is_spaced: false, counts: false });
            }
            terms.push(Term { id: vocabulary.of_word(language, word), is_spaced: true, counts: true });
        }
        Word::Unspaced(run) => {
            let run = if korean::is_korean(&run) { korean::stem(&run) } else { &run };
            let (pairs, singles) = characters(run);
            for (list, counts) in [(pairs, true), (singles, false)] {
                let numbered = list.into_iter().map(|term| vocabulary.of_term(term));
                terms.extend(numbered.map(|id| Term { id, is_spaced: false, counts }));
            }
        }
    };
    if language == Language::Vietnamese {
        toned_words(text).for_each(|(word, toned)| add(word, Some(toned)));
    } else {
        words(text).for_each(|word| add(word, None));
    }
    terms
}
