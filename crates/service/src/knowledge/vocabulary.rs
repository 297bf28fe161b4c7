//! The terms of the pages that are compared with a question, each with a number, so that a term that many
//! pages have is stemmed and stored once.

use std::collections::HashMap;

use super::language::Language;

/// The number of a term.
pub(super) type TermId = u32;

/// Numbers the terms of pages.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    ids: HashMap<String, TermId>,
    texts: Vec<String>,
    /// The stems of words, by language.
    stems: HashMap<Language, HashMap<String, TermId>>,
}

impl Vocabulary {
    /// Returns the number of the stem of a folded word.
    pub(super) fn of_word(&mut self, language: Language, word: String) -> TermId {
        if let Some(id) = self.stems.get(&language).and_then(|stems| stems.get(&word)) {
            return *id;
        }
        let id = self.of_term(language.stem(&word));
        self.stems.entry(language).or_default().insert(word, id);
        id
    }

    /// Returns the number of a term.
    pub(super) fn of_term(&mut self, term: String) -> TermId {
        if let Some(id) = self.ids.get(&term) {
            return *id;
        }
        let id = TermId::try_from(self.texts.len()).unwrap_or(TermId::MAX);
        self.texts.push(term.clone());
        self.ids.insert(term, id);
        id
    }

    /// Returns the number of a term that a page has.
    pub(super) fn find(&self, term: &str) -> Option<TermId> {
        self.ids.get(term).copied()
    }

    /// Returns the text of a term.
    pub(super) fn text(&self, id: TermId) -> &str {
        self.texts.get(usize::try_from(id).unwrap_or(usize::MAX)).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_the_number_of_their_stem() {
        let mut vocabulary = Vocabulary::default();
        let one = vocabulary.of_word(Language::English, "deliveries".to_owned());
        assert_eq!(vocabulary.of_word(Language::English, "delivery".to_owned()), one);
        assert_ne!(vocabulary.of_word(Language::Polish, "deliveries".to_owned()), one);
        assert_eq!((vocabulary.text(one), vocabulary.find("deliveri")), ("deliveri", Some(one)));
        assert_eq!(vocabulary.find("mug"), None);
    }
}
