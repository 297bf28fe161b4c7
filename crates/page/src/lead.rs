//! The sentences with which a page begins, if they can describe it: whole sentences of its own, that stand on
//! no other page of the site.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use unicode_segmentation::UnicodeSegmentation;

use crate::left_out::COOKIE;
use crate::lines::{Line, LineKind, Zone};
use crate::site::SitePage;

/// The paragraphs of a page that are looked at. Further ones are about parts of it.
const MAX_PARAGRAPHS: usize = 4;
/// Minimum letters of a sentence, and minimum words where the language has spaces.
const MIN_LETTERS: usize = 12;
const MIN_WORDS: usize = 4;
/// Minimum letters that a description has beside the title.
const MIN_BESIDE_TITLE: usize = 25;
/// The ends of sentences.
const ENDS: [char; 10] = ['.', '!', '?', '。', '！', '？', '।', '؟', '۔', '｡'];
/// What may follow the end of a sentence.
const CLOSING: [char; 10] = ['"', '\'', ')', '”', '’', '»', '」', '』', '）', '“'];
/// Words with a full stop that do not end a sentence.
const ABBREVIATIONS: [&str; 48] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "vs", "etc", "eg", "ie", "cf", "ca", "inc", "ltd",
    "corp", "co", "jr", "sr", "fig", "sec", "ch", "vol", "art", "abs", "bzw", "evtl", "ggf", "usw", "vgl",
    "inkl", "zzgl", "tel", "str", "mme", "mlle", "sra", "ul", "al", "np", "tzn", "tj", "см", "им", "др",
    "рис", "стр",
];
/// The beginnings of lines that are about the file, and not about its subject.
const NOTICES: [&str; 8] = [
    "copyright",
    "all rights reserved",
    "last updated",
    "last modified",
    "skip to",
    "©",
    "(c)",
    "javascript",
];
/// Words that go on from a sentence before.
const CONTINUES: [&str; 16] = [
    "however",
    "therefore",
    "also",
    "but",
    "and",
    "otherwise",
    "then",
    "thus",
    "alternatively",
    "moreover",
    "furthermore",
    "additionally",
    "so",
    "instead",
    "similarly",
    "see",
];

/// Returns for each page of a site the sentences with which it begins. A paragraph that stands on several
/// pages describes none of them. Call it before [`leave_out_repeated`](crate::leave_out_repeated).
pub fn leads(pages: &[SitePage], length: &RangeInclusive<usize>) -> Vec<Option<String>> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for SitePage { page, .. } in pages {
        let mut lines: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            *seen.entry(line).or_default() += 1;
        }
    }
    let lead = |SitePage { page, .. }: &SitePage| {
        let title = page.name().unwrap_or_default();
        let own = |line: &&Line| seen.get(line.text.as_str()).is_none_or(|count| *count == 1);
        paragraphs(&page.lines).filter(own).find_map(|line| opening(&line.text, title, length))
    };
    let mut leads: Vec<Option<String>> = pages.iter().map(lead).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for lead in leads.iter().flatten() {
        *counts.entry(lead.clone()).or_default() += 1;
    }
    for lead in &mut leads {
        lead.take_if(|lead| counts.get(lead).is_some_and(|count| *count > 1));
    }
    leads
}

/// Returns the first paragraphs of the content: those below its first heading, if there is one.
fn paragraphs(lines: &[Line]) -> impl Iterator<Item = &Line> {
    let is_heading = |line: &Line| line.zone == Zone::Content && matches!(line.kind, LineKind::Heading(_));
    let start = lines.iter().position(is_heading).unwrap_or(0);
    let is_paragraph = |line: &&Line| line.zone == Zone::Content && line.kind == LineKind::Text;
    lines[start..].iter().filter(is_paragraph).take(MAX_PARAGRAPHS).filter(|line| !line.is_link)
}

/// Returns the whole sentences at the beginning of a paragraph whose letters are within `length`; `None` if
/// they do not describe a page of this title: a menu, a notice, a part of a sentence, or the title again.
pub fn opening(paragraph: &str, title: &str, length: &RangeInclusive<usize>) -> Option<String> {
    // A paragraph may have megabytes.
    let bound =
        paragraph.char_indices().nth(length.end().saturating_mul(4)).map_or(paragraph.len(), |(at, _)| at);
    let paragraph = &paragraph[..bound];
    let mut end = 0;
    for sentence in sentences(paragraph) {
        let letters = paragraph[..sentence.end].trim_end().chars().count();
        if letters > *length.end() || !is_whole(&paragraph[sentence.start..sentence.end]) {
            break;
        }
        end = sentence.end;
    }
    let text = paragraph[..end].trim();
    let is_good = length.contains(&text.chars().count())
        && !has_notice(text)
        && !continues(text)
        && is_balanced(text)
        && !repeats(text, title);
    is_good.then(|| text.to_owned())
}

/// Returns the sentences of a text. An abbreviation or the number of an ordinal ends none.
fn sentences(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut bounds = Vec::new();
    let mut start = 0;
    for (at, part) in text.split_sentence_bound_indices() {
        let end = at + part.len();
        if end == text.len() || !is_abbreviated(&text[start..end]) {
            bounds.push(start..end);
            start = end;
        }
    }
    bounds.into_iter()
}

fn is_abbreviated(sentence: &str) -> bool {
    let Some(before) = sentence.trim_end().strip_suffix('.') else { return false };
    let word =
        before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
    let letters = word.chars().count();
    letters == 1
        || word.contains('.')
        || (letters <= 2 && word.chars().all(|letter| letter.is_ascii_digit()))
        || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Returns whether a sentence is whole and no menu, label or code.
fn is_whole(sentence: &str) -> bool {
    let sentence = sentence.trim();
    let ends = sentence.trim_end_matches(CLOSING).ends_with(ENDS) && !sentence.ends_with("..");
    let first = sentence.trim_start_matches(['"', '“', '„', '«', '「', '(', '¿', '¡']).chars().next();
    let begins =
        first.is_some_and(|letter| (letter.is_alphabetic() && !letter.is_lowercase()) || letter.is_numeric());
    let letters = sentence.chars().filter(|letter| letter.is_alphabetic()).count();
    let words = sentence.split_whitespace().count();
    // Languages without spaces between words have letters of a wide kind.
    let is_spaced = sentence.chars().filter(|letter| *letter >= '\u{2e80}').count() * 2 < letters;
    let separators = [" | ", " » ", " › ", " · ", " :: ", " → ", "{", "}", "://", "www.", "=>", "()", ";"];
    ends && begins
        && letters >= MIN_LETTERS
        && (!is_spaced || words >= MIN_WORDS)
        && !separators.iter().any(|separator| sentence.contains(separator))
        && !sentence.chars().any(char::is_control)
}

fn has_notice(text: &str) -> bool {
    let lower = text.to_lowercase();
    NOTICES.iter().any(|notice| lower.contains(notice)) || COOKIE.iter().any(|word| lower.contains(word))
}

fn continues(text: &str) -> bool {
    let first = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    CONTINUES.contains(&first.to_lowercase().as_str())
}

/// Returns whether each bracket is closed: a cut in the middle of one is no end of a sentence.
fn is_balanced(text: &str) -> bool {
    [('(', ')'), ('[', ']'), ('«', '»'), ('“', '”'), ('「', '」'), ('（', '）')]
        .into_iter()
        .all(|(open, close)| text.matches(open).count() == text.matches(close).count())
        && text.matches('"').count().is_multiple_of(2)
}

/// Returns whether a text says little more than the title.
fn repeats(text: &str, title: &str) -> bool {
    let words =
        |text: &str| -> Vec<String> { text.to_lowercase().unicode_words().map(str::to_owned).collect() };
    let known = words(title);
    let new: usize =
        words(text).iter().filter(|word| !known.contains(word)).map(|word| word.chars().count()).sum();
    new < MIN_BESIDE_TITLE
}

#[cfg(test)]
mod lead_tests;
