//! An indexed page. Its terms are extracted once, when it is synced.

use std::collections::HashMap;
use std::mem::size_of;
use std::ops::Range;

use super::terms::{Term, terms};
use crate::text::{truncate_bytes, truncate_words};

/// Maximum bytes of a page's text that are stored and searched.
pub(crate) const MAX_TEXT_BYTES: usize = 32 * 1024;
/// Maximum distinct terms of a page.
pub(super) const MAX_TERMS: usize = 4096;
/// Maximum paragraphs of a page; further ones are appended to the last.
pub(super) const MAX_PARAGRAPHS: usize = 1024;
/// Maximum characters of a title.
const MAX_TITLE_LENGTH: usize = 200;
/// Maximum bytes of a path or a URL; a longer one is dropped.
const MAX_LOCATION_BYTES: usize = 2048;

/// The weight of a term in the title; a term in the text has weight 1.
const TITLE_WEIGHT: u32 = 5;

/// A page in the search index.
#[derive(Debug)]
pub(crate) struct Document {
    pub(super) title: String,
    pub(super) location: Option<String>,
    text: String,
    /// The terms in ascending order, with their weights.
    terms: Box<[(Term, u32)]>,
    pub(super) weight: u32,
    paragraphs: Box<[Paragraph]>,
}

#[derive(Debug)]
struct Paragraph {
    range: Range<usize>,
    /// Positions in the document's terms, in ascending order.
    terms: Box<[u16]>,
}

impl Document {
    /// Indexes a page. Each line of its text is a paragraph.
    pub(crate) fn new(title: &str, location: Option<&str>, text: &str) -> Self {
        let title = truncate_words(title, MAX_TITLE_LENGTH);
        let text = truncate_bytes(text, MAX_TEXT_BYTES).to_owned();
        let mut weights: HashMap<Term, u32> = HashMap::new();
        let mut count = |term: Term, weight: u32| {
            if weights.len() < MAX_TERMS || weights.contains_key(&term) {
                *weights.entry(term).or_default() += weight;
            }
        };
        terms(&title).for_each(|term| count(term, TITLE_WEIGHT));
        let ranges = paragraphs(&text);
        let paragraph_terms: Vec<Vec<Term>> =
            ranges.iter().map(|range| terms(&text[range.clone()]).collect()).collect();
        paragraph_terms.iter().flatten().for_each(|term| count(*term, 1));
        let mut terms: Box<[(Term, u32)]> = weights.into_iter().collect();
        terms.sort_unstable();
        let weight = terms.iter().map(|(_, weight)| weight).sum();
        let place_of = |term: &Term| {
            let found = terms.binary_search_by_key(term, |(term, _)| *term).ok();
            found.and_then(|position| u16::try_from(position).ok())
        };
        let paragraphs = ranges.into_iter().zip(paragraph_terms).map(|(range, paragraph_terms)| {
            let mut positions: Vec<u16> = paragraph_terms.iter().filter_map(place_of).collect();
            positions.sort_unstable();
            positions.dedup();
            Paragraph { range, terms: positions.into() }
        });
        let paragraphs = paragraphs.collect();
        let location = location.filter(|location| location.len() <= MAX_LOCATION_BYTES).map(str::to_owned);
        Self { title, location, text, terms, weight, paragraphs }
    }

    /// Returns the position and the weight of a term, if the page contains it.
    pub(super) fn term(&self, term: Term) -> Option<(u16, u32)> {
        let position = self.terms.binary_search_by_key(&term, |(term, _)| *term).ok()?;
        Some((u16::try_from(position).ok()?, self.terms[position].1))
    }

    /// Returns the paragraph that contains the most of these terms; of several, the first.
    pub(super) fn best_paragraph(&self, positions: &[u16], examined: &mut u64) -> &str {
        let mut best = (0, 0..0);
        for paragraph in &self.paragraphs {
            *examined += positions.len() as u64;
            let shared = positions.iter().filter(|term| paragraph.terms.binary_search(term).is_ok()).count();
            if shared > best.0 || best.1.is_empty() {
                best = (shared, paragraph.range.clone());
            }
        }
        &self.text[best.1]
    }

    /// Returns the memory that the page takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let paragraph_terms: usize = self.paragraphs.iter().map(|paragraph| paragraph.terms.len()).sum();
        size_of::<Self>()
            + self.title.len()
            + self.location.as_ref().map_or(0, String::len)
            + self.text.len()
            + self.terms.len() * size_of::<(Term, u32)>()
            + self.paragraphs.len() * size_of::<Paragraph>()
            + paragraph_terms * size_of::<u16>()
    }
}

/// Returns the ranges of the non-empty lines of a text.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let to = from + line.trim_end().len();
        if to > from && ranges.len() < MAX_PARAGRAPHS {
            ranges.push(from..to);
        } else if to > from
            && let Some(last) = ranges.last_mut()
        {
            last.end = to;
        }
        from += line.len();
    }
    ranges
}
