//! Ranks the pages that the index found.

use std::collections::{HashMap, HashSet};

use super::language::Language;
use super::page::Page;
use super::query::{Kind, Query, QueryWord, synonym_terms};
use super::similar::Similar;
use super::vocabulary::{TermId, Vocabulary};

/// The weight of a term in a title of one line; a term in the text has weight 1. Of an answer, each of
/// several ways to ask has weight 1 as well.
const TITLE_WEIGHT: f64 = 3.0;
/// The constants of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// The share that a synonym counts.
const SYNONYM: f64 = 0.8;
/// The share that a word of Vietnamese counts whose tones differ.
const OTHER_TONES: f64 = 0.3;
/// The factor of a page in another language than the question.
const OTHER_LANGUAGE: f64 = 0.8;
/// The weight of the way to ask that is most like the question.
const LIKENESS: f64 = 1.0;
/// The same for a title that is the only one.
const TITLE_LIKENESS: f64 = 0.3;

/// The weight of the share of the question that a page has: two words of a question tell more than one of
/// them twice.
const COVERAGE: f64 = 0.25;
/// The weight of a word in a title that carries little meaning.
const FREQUENT_IN_TITLE: f64 = 0.5;
/// The weights of the parts of [`Match::fit`], which were fitted with training data: the share of the words,
/// the share by their rarity, and the likeness of the title.
const FIT: [f64; 3] = [0.3, 0.5, 0.2];
/// The factor of the fit in a script without spaces, in which pairs that are no words count as well.
const UNSPACED_FIT: f64 = 1.4;

/// A page with the words that it shares with a question.
#[derive(Clone, Debug)]
pub(super) struct Match {
    /// The position of the page in the list of candidates.
    pub(super) page: usize,
    pub(super) score: f64,
    /// The terms of the page, with their weights.
    pub(super) terms: Vec<(TermId, f64)>,
    /// How much of the question the page has, from 0 to 1, whatever other pages have.
    pub(super) fit: f64,
    /// The number of shared words with a meaning.
    pub(super) words: usize,
    /// Their weight, compared with the rarest word of the site.
    pub(super) weight: f64,
}

/// How many pages of a site there are, and how many contain each word of a question.
#[derive(Clone, Debug, Default)]
pub(super) struct Frequencies {
    pub(super) total: usize,
    /// `None` for a word that was not counted.
    pub(super) with: Vec<Option<usize>>,
}

/// Returns all pages with a word of the question, best first.
pub(super) fn rank(
    query: &Query,
    frequencies: &Frequencies,
    pages: &[Page],
    vocabulary: &Vocabulary,
) -> Vec<Match> {
    let total = frequencies.total.max(pages.len());
    let average = pages.iter().map(|page| f64::from(page.length)).sum::<f64>() / to_f64(pages.len().max(1));
    let mut finder = Finder::new(query, frequencies, vocabulary);
    let shared: Vec<Vec<Option<Shared>>> = pages.iter().map(|page| finder.shared(page)).collect();
    // In a question of frequent words only, these carry its meaning. A number that no page has, such as that
    // of an order, is no part of what is asked.
    let is_plain = |word: &QueryWord| !word.is_frequent && !word.is_number();
    let has_meaning = query.words.iter().any(is_plain);
    let rarities: Vec<f64> = (0..query.words.len())
        .map(|word| {
            let found = shared.iter().filter(|shared| shared[word].is_some()).count();
            let with = match frequencies.with.get(word).copied().flatten() {
                Some(with) if with > 0 => with,
                Some(_) => found,
                None => found * total / pages.len().max(1),
            };
            // A frequent word that no question of the site has says nothing about any.
            if query.words[word].is_frequent && found == 0 && has_meaning {
                return 0.0;
            }
            query.words[word].weight() * rarity(total, with) / rarity(total, 1)
        })
        .collect();
    let asked: f64 = rarities.iter().sum();
    let meaningful: Vec<f64> = (query.words.iter().zip(&rarities).zip(&finder.unknown))
        .map(|((word, _), unknown)| {
            let is_left_out = word.is_frequent || (word.is_number() && *unknown);
            if is_left_out && has_meaning { 0.0 } else { word.weight() }
        })
        .collect();
    let meaning: f64 =
        rarities.iter().zip(&meaningful).filter(|(_, weight)| **weight > 0.0).map(|(rarity, _)| rarity).sum();
    let is_unspaced = query.words.iter().any(|word| word.kind == Kind::Pair);
    let titles = Titles::new(pages);
    let mut ranked = Vec::new();
    for (index, (page, shared)) in pages.iter().zip(shared).enumerate() {
        let mut found = Match { page: index, score: 0.0, terms: Vec::new(), fit: 0.0, words: 0, weight: 0.0 };
        let length = 1.0 - LENGTH + LENGTH * f64::from(page.length) / average.max(1.0);
        let mut in_lines = vec![0.0; page.titles.len()];
        let (mut all, mut words, mut coverage) = (0.0, 0.0, 0.0);
        for (word, shared) in shared.into_iter().enumerate() {
            let Some(Shared { term, share, occurrences }) = shared else { continue };
            let weight = rarities[word] * share;
            found.score += weight * occurrences * (SATURATION + 1.0) / (occurrences + SATURATION * length);
            all += weight;
            if meaningful[word] > 0.0 {
                coverage += weight;
                words += meaningful[word] * share;
                found.words += usize::from(query.words[word].kind != Kind::Single);
                found.weight += weight;
            }
            for (sum, line) in in_lines.iter_mut().zip(&page.titles) {
                *sum += if line.contains(&term) { weight } else { 0.0 };
            }
            found.terms.push((term, weight));
        }
        if found.terms.is_empty() {
            continue;
        }
        let alike = in_lines.iter().zip(&page.titles).map(|(sum, line)| {
            let own: f64 = line.iter().map(|term| titles.rarity(*term, page.language, vocabulary)).sum();
            share_of(*sum, (asked * own.max(*sum)).sqrt())
        });
        let likeness = alike.fold(0.0, f64::max);
        words = share_of(words, meaningful.iter().sum());
        coverage = share_of(coverage, meaning);
        // Frequent words count where somebody wrote several ways to ask.
        let by_rarity = if page.titles.len() > 1 { share_of(all, asked) } else { coverage };
        found.fit = if has_meaning {
            FIT[0] * words + FIT[1] * by_rarity + FIT[2] * likeness
        } else {
            // Frequent words mean the title that consists of them, such as "Who are we?", or nothing.
            likeness
        };
        if is_unspaced {
            found.fit = (found.fit * UNSPACED_FIT).min(1.0);
        }
        let of_ways = likeness * if page.titles.len() > 1 { LIKENESS } else { TITLE_LIKENESS };
        found.score *= 1.0 + of_ways + COVERAGE * coverage;
        if page.language != query.language {
            found.score *= OTHER_LANGUAGE;
        }
        ranked.push(found);
    }
    // The sort is stable: of equal scores, the first candidate wins.
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked
}

/// How rare the words of titles are in them.
struct Titles {
    pages: usize,
    with: HashMap<TermId, usize>,
}

impl Titles {
    fn new(pages: &[Page]) -> Self {
        let mut with = HashMap::new();
        for page in pages {
            let terms: HashSet<TermId> = page.titles.iter().flatten().copied().collect();
            for term in terms {
                *with.entry(term).or_default() += 1;
            }
        }
        Self { pages: pages.len(), with }
    }

    /// Returns the inverse document frequency of a word, compared with that of the rarest.
    fn rarity(&self, term: TermId, language: Language, vocabulary: &Vocabulary) -> f64 {
        let with = self.with.get(&term).copied().unwrap_or_default();
        let weight = if language.is_stop_word(vocabulary.text(term)) { FREQUENT_IN_TITLE } else { 1.0 };
        weight * rarity(self.pages, with) / rarity(self.pages, 1)
    }
}

/// A word that a page shares with a question.
#[derive(Debug)]
struct Shared {
    term: TermId,
    share: f64,
    occurrences: f64,
}

/// Finds the words of a question in pages.
struct Finder<'a> {
    query: &'a Query,
    vocabulary: &'a Vocabulary,
    /// Whether each word of the question may be misspelt, because the site does not have it.
    unknown: Vec<bool>,
    /// The words as pages of each language have them.
    wanted: HashMap<Language, Vec<Wanted>>,
}

/// A word of a question, as pages of a language have it.
struct Wanted {
    term: Option<TermId>,
    toned: Option<TermId>,
    /// The terms of each synonym.
    synonyms: Vec<Vec<Option<TermId>>>,
    similar: Option<Similar>,
}

impl<'a> Finder<'a> {
    fn new(query: &'a Query, frequencies: &Frequencies, vocabulary: &'a Vocabulary) -> Self {
        let is_unknown = |word: usize| frequencies.with.get(word).copied().flatten() == Some(0);
        let unknown = (0..query.words.len()).map(is_unknown).collect();
        Self { query, vocabulary, unknown, wanted: HashMap::new() }
    }

    fn shared(&mut self, page: &Page) -> Vec<Option<Shared>> {
        let Self { query, vocabulary, unknown, wanted } = self;
        let wanted = wanted.entry(page.language).or_insert_with(|| {
            let words = query.words.iter().zip(unknown.iter());
            words.map(|(word, unknown)| wanted_of(word, *unknown, query, page.language, vocabulary)).collect()
        });
        let words = query.words.iter().zip(wanted);
        words.map(|(word, wanted)| share(word, wanted, page, vocabulary)).collect()
    }
}

fn wanted_of(
    word: &QueryWord,
    is_unknown: bool,
    query: &Query,
    language: Language,
    vocabulary: &Vocabulary,
) -> Wanted {
    let stem = match word.kind {
        Kind::Spaced => language.stem(&word.text),
        Kind::Pair | Kind::Single => word.text.clone(),
    };
    let synonyms = word.synonyms.iter().map(|synonym| {
        let terms = synonym_terms(synonym, word.kind, query.language);
        terms.iter().map(|term| vocabulary.find(term)).collect()
    });
    let toned = word.toned.as_ref().filter(|_| language == Language::Vietnamese);
    let has_similar = word.kind == Kind::Spaced && !word.is_frequent && toned.is_none();
    Wanted {
        term: vocabulary.find(&stem),
        // A word with other tones is another word, which no page may have.
        toned: toned.map(|toned| vocabulary.find(toned).unwrap_or(TermId::MAX)),
        synonyms: synonyms.collect(),
        similar: has_similar.then(|| Similar::new(stem, language, is_unknown)),
    }
}

fn share(word: &QueryWord, wanted: &mut Wanted, page: &Page, vocabulary: &Vocabulary) -> Option<Shared> {
    let title_weight = (TITLE_WEIGHT / to_f64(page.titles.len().max(1))).max(1.0);
    let found = |term: Option<TermId>, share: f64| {
        let term = term?;
        let occurrences = page.terms.get(&term)?;
        let occurrences = f64::from(occurrences.in_text) + title_weight * f64::from(occurrences.in_title);
        Some(Shared { term, share, occurrences })
    };
    if word.is_frequent {
        // In a text, such words tell nothing. In a question that somebody wrote, they tell one from another.
        let occurrences = page.terms.get(&wanted.term?).filter(|found| found.in_title > 0)?;
        return Some(Shared { term: wanted.term?, share: 1.0, occurrences: f64::from(occurrences.in_title) });
    }
    if wanted.toned.is_some() {
        return found(wanted.toned, 1.0).or_else(|| found(wanted.term, OTHER_TONES));
    }
    if let Some(exact) = found(wanted.term, 1.0) {
        return Some(exact);
    }
    let has = |term: &Option<TermId>| term.is_some_and(|term| page.terms.contains_key(&term));
    let synonyms = wanted.synonyms.iter().filter(|terms| terms.iter().all(has));
    let synonyms = synonyms.filter_map(|terms| found(terms.first().copied().flatten(), SYNONYM));
    let best = synonyms.max_by(|one, other| one.occurrences.total_cmp(&other.occurrences));
    best.or_else(|| {
        let (term, share) = wanted.similar.as_mut()?.best(&page.spaced, vocabulary)?;
        found(Some(term), share)
    })
}

fn share_of(part: f64, whole: f64) -> f64 {
    part / whole.max(f64::MIN_POSITIVE)
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
