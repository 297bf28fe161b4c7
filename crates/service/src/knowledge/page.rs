//! A page that may answer a question, split into terms and paragraphs.

use std::collections::HashMap;
use std::ops::Range;

use chat_page::is_heading_mark;

use super::language::Language;
use super::words::{Word, characters, words};

/// Maximum paragraphs of a page; further ones are appended to the last.
const MAX_PARAGRAPHS: usize = 1024;
/// Maximum stems that are remembered while pages are split.
const MAX_REMEMBERED: usize = 50_000;

/// Remembers the stems of words, because pages of a site share most of theirs.
#[derive(Debug, Default)]
pub(super) struct Stems(HashMap<(Language, String), String>);

impl Stems {
    fn of(&mut self, language: Language, word: String) -> String {
        let key = (language, word);
        if let Some(stem) = self.0.get(&key) {
            return stem.clone();
        }
        let stem = language.stem(&key.1);
        if self.0.len() < MAX_REMEMBERED {
            self.0.insert(key, stem.clone());
        }
        stem
    }
}

/// Where a term occurs in a page.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    pub(super) in_title: u32,
    pub(super) in_text: u32,
    /// The paragraphs, in ascending order.
    paragraphs: Vec<u16>,
}

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) language: Language,
    text: String,
    paragraphs: Vec<Range<usize>>,
    pub(super) terms: HashMap<String, Occurrences>,
    pub(super) spaced: Vec<String>,
    /// The number of terms in the text.
    pub(super) length: u32,
}

impl Page {
    /// Splits a page. Each line of its text is a paragraph. [`chat_page::blocks`] tells which of them are
    /// headings, and which headings are above each; here, a heading is a paragraph like any other.
    pub(super) fn new(locale: &str, title: &str, mut text: String, stems: &mut Stems) -> Self {
        text.retain(|letter| !is_heading_mark(letter));
        let language = Language::of_text(locale, &text);
        let paragraphs = paragraphs(&text);
        let mut page = Self {
            language,
            text: String::new(),
            paragraphs,
            terms: HashMap::new(),
            spaced: Vec::new(),
            length: 0,
        };
        page.read(title, stems, |occurrences| occurrences.in_title += 1);
        for index in 0..page.paragraphs.len() {
            let paragraph = u16::try_from(index).unwrap_or(u16::MAX);
            let range = page.paragraphs[index].clone();
            page.length += page.read(&text[range], stems, |occurrences| {
                occurrences.in_text += 1;
                if occurrences.paragraphs.last() != Some(&paragraph) {
                    occurrences.paragraphs.push(paragraph);
                }
            });
        }
        page.text = text;
        page
    }

    /// Counts the terms of a text, and returns their number.
    fn read(&mut self, text: &str, stems: &mut Stems, count: impl Fn(&mut Occurrences)) -> u32 {
        let mut length = 0;
        for word in words(text) {
            match word {
                Word::Spaced(word) => {
                    if self.language.is_stop_word(&word) {
                        continue;
                    }
                    let stem = stems.of(self.language, word);
                    if !self.terms.contains_key(&stem) {
                        self.spaced.push(stem.clone());
                    }
                    count(self.terms.entry(stem).or_default());
                    length += 1;
                }
                Word::Unspaced(run) => {
                    let (pairs, singles) = characters(&run);
                    length += u32::try_from(pairs.len()).unwrap_or(u32::MAX);
                    for term in pairs.into_iter().chain(singles) {
                        count(self.terms.entry(term).or_default());
                    }
                }
            }
        }
        length
    }

    /// Returns the part of the text that contains most of these terms, by their weights: a paragraph, and
    /// those after it that fit into `limit` characters.
    pub(super) fn excerpt(&self, terms: &[(&str, f64)], limit: usize) -> &str {
        let mut weights = vec![0.0; self.paragraphs.len()];
        for (term, weight) in terms {
            for paragraph in self.terms.get(*term).into_iter().flat_map(|found| &found.paragraphs) {
                if let Some(sum) = weights.get_mut(usize::from(*paragraph)) {
                    *sum += weight;
                }
            }
        }
        let mut best = 0;
        for (index, weight) in weights.iter().enumerate() {
            if *weight > weights[best] {
                best = index;
            }
        }
        let Some(first) = self.paragraphs.get(best) else { return "" };
        let mut end = first.end;
        for next in &self.paragraphs[best + 1..] {
            if self.text[first.start..next.end].chars().take(limit + 1).count() > limit {
                break;
            }
            end = next.end;
        }
        &self.text[first.start..end]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page::new("en", "Title", text.to_owned(), &mut Stems::default())
    }

    #[test]
    fn an_excerpt_begins_with_the_paragraph_that_matches_best() {
        let page = page("About us.\nMugs hold 320 ml.\nPlates stack.\nBowls are deep, and very wide too.");
        assert_eq!(page.excerpt(&[("mug", 1.0)], 30), "Mugs hold 320 ml.");
        assert_eq!(page.excerpt(&[("mug", 1.0)], 31), "Mugs hold 320 ml.\nPlates stack.");
        assert_eq!(page.excerpt(&[("mug", 1.0), ("bowl", 2.0)], 10), "Bowls are deep, and very wide too.");
        assert_eq!(page.excerpt(&[], 10), "About us.");
    }

    #[test]
    fn a_heading_is_a_paragraph_without_its_mark() {
        let page = page("\u{1}Mugs\nHold 320 ml.\n\n# 5 is ready");
        assert_eq!(page.excerpt(&[("mug", 1.0)], 100), "Mugs\nHold 320 ml.\n\n# 5 is ready");
    }

    #[test]
    fn a_page_of_any_shape_has_a_bounded_number_of_paragraphs() {
        assert_eq!(page(&"a\n".repeat(20_000)).paragraphs.len(), MAX_PARAGRAPHS);
        assert_eq!(page(" \n\n").excerpt(&[], 10), "");
    }
}
