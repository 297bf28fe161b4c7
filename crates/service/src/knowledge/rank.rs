//! Ranks the pages that the index found.

use super::language::Language;
use super::page::Page;
use super::query::{Kind, Query, QueryWord, synonym_terms};
use super::similar::similarity;

/// The weight of a term in the title; a term in the text has weight 1.
const TITLE_WEIGHT: f64 = 4.0;
/// The constants of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.4;
/// The share that a synonym counts.
const SYNONYM: f64 = 0.8;
/// The factor of a page in another language than the question.
const OTHER_LANGUAGE: f64 = 0.8;

/// The minimum values of a page that is an answer, measured with recorded questions.
#[derive(Debug)]
struct Threshold {
    /// The weight of the shared words, compared with the rarest word of the site.
    matched: f64,
    /// The share of the question's words that the page shares, by their weights.
    coverage: f64,
}

/// For a page that shares several words. Visitors wrap questions in chatter, so that the share is small.
const SEVERAL_WORDS: Threshold = Threshold { matched: 0.9, coverage: 0.12 };
/// For a page with a single word in its title.
const WORD_IN_TITLE: Threshold = Threshold { matched: 0.4, coverage: 0.26 };
/// For a page with a single word in its text, which is rare on the site.
const RARE_WORD: Threshold = Threshold { matched: 0.65, coverage: 0.2 };
/// For a page with a single word that is most of the question.
const WHOLE_QUESTION: Threshold = Threshold { matched: 0.3, coverage: 0.5 };
/// The factor of the shares in a script without spaces, in which pairs that are no words count as well.
const UNSPACED_COVERAGE: f64 = 0.55;

/// A page with the words that it shares with a question.
#[derive(Debug)]
pub(super) struct Match {
    /// The position of the page in the list of candidates.
    pub(super) page: usize,
    pub(super) score: f64,
    /// The terms of the page, with their weights.
    pub(super) terms: Vec<(String, f64)>,
    /// The weight of the shared words, compared with the rarest word of the site.
    pub(super) matched: f64,
    /// The share of the question's words that the page shares, by their weights.
    pub(super) coverage: f64,
    pub(super) words: usize,
    pub(super) in_title: bool,
}

impl Match {
    /// Returns whether a page matches well enough to be an answer to a question in this script.
    fn is_good(&self, is_unspaced: bool) -> bool {
        let factor = if is_unspaced { UNSPACED_COVERAGE } else { 1.0 };
        let reaches = |threshold: &Threshold| {
            self.matched >= threshold.matched && self.coverage >= threshold.coverage * factor
        };
        match self.words {
            0 => false,
            1 => {
                (self.in_title && reaches(&WORD_IN_TITLE)) || reaches(&RARE_WORD) || reaches(&WHOLE_QUESTION)
            }
            _ => reaches(&SEVERAL_WORDS) || reaches(&WHOLE_QUESTION),
        }
    }
}

/// Returns the pages that answer a question, best first. `frequencies` are the numbers of pages that contain
/// each word of the question, of `total` pages.
pub(super) fn rank(query: &Query, frequencies: &[usize], total: usize, pages: &[Page]) -> Vec<Match> {
    let mut ranked = all(query, frequencies, total, pages);
    let is_unspaced = query.words.iter().any(|word| word.kind == Kind::Pair);
    ranked.retain(|found| found.is_good(is_unspaced));
    ranked
}

/// Returns all pages with a word of the question, best first.
pub(super) fn all(query: &Query, frequencies: &[usize], total: usize, pages: &[Page]) -> Vec<Match> {
    let average = pages.iter().map(|page| f64::from(page.length)).sum::<f64>() / to_f64(pages.len().max(1));
    let shared: Vec<Vec<Option<Shared>>> = pages
        .iter()
        .map(|page| {
            let known = query.words.iter().zip(frequencies);
            known.map(|(word, frequency)| share(word, page, query.language, *frequency == 0)).collect()
        })
        .collect();
    let rarities: Vec<f64> = (0..query.words.len())
        .map(|word| {
            let similar = shared.iter().filter(|shared| shared[word].is_some()).count();
            let with = if frequencies[word] > 0 { frequencies[word] } else { similar };
            query.words[word].weight() * rarity(total, with) / rarity(total, 1)
        })
        .collect();
    let asked: f64 = rarities.iter().sum();
    let mut ranked = Vec::new();
    for (index, (page, shared)) in pages.iter().zip(shared).enumerate() {
        let mut found = Match {
            page: index,
            score: 0.0,
            terms: Vec::new(),
            matched: 0.0,
            coverage: 0.0,
            words: 0,
            in_title: false,
        };
        let length = 1.0 - LENGTH + LENGTH * f64::from(page.length) / average.max(1.0);
        for (word, shared) in shared.into_iter().enumerate() {
            let Some(Shared { term, share, occurrences, in_title }) = shared else { continue };
            let weight = rarities[word] * share;
            found.score += weight * occurrences * (SATURATION + 1.0) / (occurrences + SATURATION * length);
            found.matched += weight;
            found.words += usize::from(query.words[word].kind != Kind::Single);
            found.in_title |= in_title && query.words[word].kind != Kind::Single;
            found.terms.push((term, weight));
        }
        if found.terms.is_empty() {
            continue;
        }
        found.coverage = found.matched / asked.max(f64::MIN_POSITIVE);
        if page.language != query.language {
            found.score *= OTHER_LANGUAGE;
        }
        ranked.push(found);
    }
    // The sort is stable: of equal scores, the first candidate wins.
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked
}

/// A word that a page shares with a question.
#[derive(Debug)]
struct Shared {
    term: String,
    share: f64,
    occurrences: f64,
    in_title: bool,
}

fn share(word: &QueryWord, page: &Page, language: Language, is_unknown: bool) -> Option<Shared> {
    let found = |term: &str, share: f64| {
        page.terms.get(term).map(|occurrences| Shared {
            term: term.to_owned(),
            share,
            occurrences: f64::from(occurrences.in_text) + TITLE_WEIGHT * f64::from(occurrences.in_title),
            in_title: occurrences.in_title > 0,
        })
    };
    let stem = if word.kind == Kind::Spaced { page.language.stem(&word.text) } else { word.text.clone() };
    if let Some(exact) = found(&stem, 1.0) {
        return Some(exact);
    }
    let synonyms = word.synonyms.iter().filter_map(|synonym| {
        let terms = synonym_terms(synonym, word.kind, language);
        let is_there = terms.iter().all(|term| page.terms.contains_key(term));
        terms.first().filter(|_| is_there).and_then(|term| found(term, SYNONYM))
    });
    let best = synonyms.max_by(|one, other| one.occurrences.total_cmp(&other.occurrences));
    if best.is_some() || word.kind != Kind::Spaced {
        return best;
    }
    let similar = page.spaced.iter().map(|term| (term, similarity(&stem, term, page.language, is_unknown)));
    let (term, share) =
        similar.filter(|(_, share)| *share > 0.0).max_by(|one, other| one.1.total_cmp(&other.1))?;
    found(term, share)
}

/// Returns the inverse document frequency of a word that `with` of the pages contain.
fn rarity(pages: usize, with: usize) -> f64 {
    let with = to_f64(with.max(1));
    let pages = to_f64(pages).max(with);
    (1.0 + (pages - with + 0.5) / (with + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "a score is approximate")]
fn to_f64(number: usize) -> f64 {
    number as f64
}
