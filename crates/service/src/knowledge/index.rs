//! Finds the passages of the site's content that a question is about.
//!
//! The work of a search is bounded: a page's terms are extracted when it is synced, a question has at most
//! [`MAX_QUERY_TERMS`], and each is looked up once in each page. A search reads a snapshot, without the lock.

mod document;
mod terms;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use document::{Document, MAX_TEXT_BYTES};
use terms::{Term, terms};

use crate::text::excerpt;

/// Maximum distinct terms of a question; further ones are ignored.
const MAX_QUERY_TERMS: usize = 32;
/// Maximum words of a question that are read.
const MAX_QUERY_WORDS: usize = 1000;
/// Maximum passages in a result, one from each page.
const MAX_PASSAGES: usize = 5;
/// Maximum characters of a passage.
const MAX_PASSAGE_LENGTH: usize = 600;
/// Maximum bytes of all pages together. Further pages are not indexed.
const MAX_INDEX_BYTES: usize = 256 * 1024 * 1024;

/// A part of the site's content that may answer a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) title: String,
    /// The path or the URL of the page.
    pub(crate) location: Option<String>,
    pub(crate) text: String,
}

/// The result of a search, and its cost.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// Best first; empty when nothing matches well enough.
    pub(crate) passages: Vec<Passage>,
    /// The number of term lookups.
    pub(crate) examined: u64,
}

/// The search index: the site's pages by their positions. A clone shares the pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pages: BTreeMap<i64, Arc<Document>>,
    bytes: usize,
}

/// A page that matches enough terms of a question.
struct Candidate<'index> {
    page: &'index Document,
    /// The index in the query, the position in the page and the weight of each matching term.
    shared: Vec<(usize, u16, u32)>,
}

impl Index {
    /// Adds a page, or replaces the one at its position. Returns false when the index is full.
    pub(crate) fn put(&mut self, position: i64, page: Arc<Document>) -> bool {
        self.remove(position);
        let bytes = self.bytes + page.bytes();
        if bytes > MAX_INDEX_BYTES {
            return false;
        }
        self.bytes = bytes;
        self.pages.insert(position, page);
        true
    }

    pub(crate) fn remove(&mut self, position: i64) {
        if let Some(page) = self.pages.remove(&position) {
            self.bytes -= page.bytes();
        }
    }

    /// Returns the passages that best match a question.
    pub(crate) fn search(&self, question: &str) -> SearchResult {
        let query = query_terms(question);
        let mut result = SearchResult::default();
        // A question of several terms needs two matches: a single one may be chance.
        let needed = query.len().clamp(1, 2);
        let mut frequencies = vec![0_u32; query.len()];
        let mut candidates = Vec::new();
        for page in self.pages.values() {
            result.examined += query.len() as u64;
            let has = query.iter().enumerate().filter_map(|(index, term)| {
                let (position, weight) = page.term(*term)?;
                Some((index, position, weight))
            });
            let shared: Vec<_> = has.collect();
            for (index, ..) in &shared {
                frequencies[*index] += 1;
            }
            if shared.len() >= needed {
                candidates.push(Candidate { page, shared });
            }
        }
        let weight: u64 = self.pages.values().map(|page| u64::from(page.weight)).sum();
        let average = to_f64(weight) / to_f64(self.pages.len().max(1) as u64);
        let rarities: Vec<f64> = frequencies.iter().map(|with| rarity(self.pages.len(), *with)).collect();
        let mut ranked: Vec<(f64, Candidate)> = candidates
            .into_iter()
            .map(|candidate| (candidate.score(&rarities, average), candidate))
            .collect();
        // The sort is stable: of equal scores, the page that was synced first wins.
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        for (_, Candidate { page, shared }) in ranked.into_iter().take(MAX_PASSAGES) {
            let positions: Vec<u16> = shared.iter().map(|(_, position, _)| *position).collect();
            let text = page.best_paragraph(&positions, &mut result.examined);
            result.passages.push(Passage {
                title: page.title.clone(),
                location: page.location.clone(),
                text: excerpt(text, MAX_PASSAGE_LENGTH),
            });
        }
        result
    }
}

/// Returns the distinct terms of a question, in order.
fn query_terms(question: &str) -> Vec<Term> {
    let mut query: Vec<Term> = Vec::with_capacity(MAX_QUERY_TERMS);
    for term in terms(question).take(MAX_QUERY_WORDS) {
        if query.len() < MAX_QUERY_TERMS && !query.contains(&term) {
            query.push(term);
        }
    }
    query
}

impl Candidate<'_> {
    /// Returns the BM25 score, with the usual constants.
    fn score(&self, rarities: &[f64], average: f64) -> f64 {
        const SATURATION: f64 = 1.2;
        const LENGTH: f64 = 0.75;
        let length = 1.0 - LENGTH + LENGTH * f64::from(self.page.weight) / average.max(1.0);
        let scores = self.shared.iter().map(|(index, _, weight)| {
            let weight = f64::from(*weight);
            rarities[*index] * weight * (SATURATION + 1.0) / (weight + SATURATION * length)
        });
        scores.sum()
    }
}

/// Returns the inverse document frequency of a term that `with` of the pages contain.
fn rarity(pages: usize, with: u32) -> f64 {
    let (pages, with) = (to_f64(pages as u64), f64::from(with));
    (1.0 + (pages - with + 0.5) / (with + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "a score is approximate")]
fn to_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::document::{MAX_PARAGRAPHS, MAX_TERMS};
    use super::*;

    fn index(pages: impl IntoIterator<Item = (&'static str, String)>) -> Index {
        let mut index = Index::default();
        for (position, (title, text)) in pages.into_iter().enumerate() {
            let position = i64::try_from(position).expect("few");
            assert!(index.put(position, Arc::new(Document::new(title, Some("/page"), &text))));
        }
        index
    }

    /// Returns distinct ideographs, a thousand on each line.
    fn chinese(characters: u32, from: u32) -> String {
        let characters = (0..characters).map(|offset| char::from_u32(0x4e00 + (from + offset) % 20_000));
        let lines: Vec<char> = characters.map(|character| character.expect("an ideograph")).collect();
        lines.chunks(1000).map(|line| line.iter().collect::<String>() + "\n").collect()
    }

    fn titles(result: &SearchResult) -> Vec<&str> {
        result.passages.iter().map(|passage| passage.title.as_str()).collect()
    }

    #[test]
    fn ranks_the_page_with_the_rarer_words_first() {
        let pages = [
            ("Clay", "Our clay is dug in the valley and fired twice."),
            ("Glaze", "Celadon is fired at a temperature of 1280 degrees."),
            ("Opening hours", "We are open on Saturday."),
        ];
        let index = index(pages.map(|(title, text)| (title, text.to_owned())));
        let result = index.search("At which temperature is celadon firing?");
        assert_eq!(titles(&result), ["Glaze"]);
        assert_eq!(result.passages[0].text, "Celadon is fired at a temperature of 1280 degrees.");
        assert_eq!(titles(&index.search("clay fired")), ["Clay"]);
        assert_eq!(titles(&index.search("What is a spaceship made of?")), Vec::<&str>::new());
        assert_eq!(titles(&index.search("?!")), Vec::<&str>::new());
    }

    #[test]
    fn does_not_find_replaced_or_removed_pages() {
        let mut index = index([("Clay", "Dug in the valley".to_owned())]);
        let snapshot = index.clone();
        index.put(0, Arc::new(Document::new("Glaze", None, "Celadon")));
        assert_eq!(titles(&index.search("valley")), Vec::<&str>::new());
        assert_eq!(titles(&snapshot.search("valley")), ["Clay"], "a running search keeps its snapshot");
        index.remove(0);
        assert_eq!((titles(&index.search("celadon")), index.bytes), (Vec::new(), 0));
    }

    #[test]
    fn a_question_of_4000_distinct_characters_looks_up_a_bounded_number_of_terms() {
        let question = chinese(4000, 400).replace('\n', "");
        let pages = 5;
        let index = index((0..pages).map(|page| ("青瓷", chinese(1_000_000, page * 100))));
        let result = index.search(&question);
        assert_eq!(result.passages.len(), 5);
        let most = u64::from(pages) * 32 + 5 * 32 * MAX_PARAGRAPHS as u64;
        assert!((1..=most).contains(&result.examined), "{}", result.examined);
    }

    #[test]
    fn lookups_grow_with_the_number_of_pages_but_not_their_length() {
        let examined = |pages: u32, characters: u32| {
            let index = index((0..pages).map(|page| ("Page", chinese(characters, 10_000 + page))));
            index.search(&chinese(4000, 0)).examined
        };
        assert_eq!(examined(10, 2000), 10 * 32);
        assert_eq!(examined(10, 8000), 10 * 32);
        assert_eq!(examined(20, 2000), 20 * 32);
    }

    #[test]
    fn limits_the_memory_of_a_page_of_any_size() {
        let lines = "青\n".repeat(1_000_000);
        let words = (0..400_000).map(|word| word.to_string()).collect::<Vec<_>>().join(" w");
        for text in [lines, words, chinese(3_000_000, 0), "x".repeat(8_000_000)] {
            let page = Document::new(&text, Some(&text), &text);
            assert!(page.bytes() < 256 * 1024, "{}", page.bytes());
            assert!(page.title.len() < 1024 && page.location.is_none());
        }
        assert!(u16::try_from(MAX_TERMS).is_ok(), "positions have 16 bits");
    }

    #[test]
    fn truncates_a_passage() {
        let index = index([("Clay", "valley ".repeat(2000))]);
        let result = index.search("valley");
        assert!(result.passages[0].text.chars().count() <= MAX_PASSAGE_LENGTH + 1);
    }
}
