//! The sentences with which a page begins, if they can describe it: whole sentences of its own, that stand on
//! no other page of the site.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use unicode_segmentation::UnicodeSegmentation;

use crate::left_out::COOKIE;
use crate::lines::{Line, LineKind, Zone};
use crate::site::SitePage;

/// The sections whose first paragraph is looked at.
const MAX_SECTIONS: usize = 4;
/// The separators between the links of a menu.
const MENU_SEPARATORS: [&str; 6] = [" | ", " » ", " › ", " · ", " :: ", " → "];
/// Minimum letters of a sentence, and minimum words where the language has spaces.
const MIN_LETTERS: usize = 12;
const MIN_WORDS: usize = 4;
/// Minimum letters that a description has beside the title.
const MIN_BESIDE_TITLE: usize = 25;
/// The ends of sentences.
const ENDS: [char; 10] = ['.', '!', '?', '。', '！', '？', '।', '؟', '۔', '｡'];
/// Characters that can follow the end of a sentence.
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
/// Words by which a text speaks of other pages, or of itself.
const REFERS: [&str; 24] = [
    "previous section",
    "previous chapter",
    "preceding section",
    "preceding chapter",
    "next section",
    "next chapter",
    "thus far",
    "so far",
    "as described",
    "as mentioned",
    "described above",
    "mentioned above",
    "recall from",
    "recall that",
    "convention of",
    "can be found in",
    "before we proceed",
    "предыдущ",
    "上一章",
    "上一节",
    "前一节",
    "前章",
    "前節",
    "次章",
];
/// Words that go on from a sentence before.
const CONTINUES: [&str; 30] = [
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
    "außerdem",
    "jedoch",
    "однако",
    "поэтому",
    // A condition or a contrast, and not the subject.
    "while",
    "although",
    "though",
    "unless",
    "because",
    "since",
    "after",
    "before",
    "another",
    "suppose",
];
/// The same in languages without spaces between words.
const CONTINUES_UNSPACED: [&str; 14] = [
    "此外",
    "另外",
    "因此",
    "但是",
    "然而",
    "不过",
    "所以",
    "また",
    "しかし",
    "さらに",
    "そのため",
    "なお",
    "ただし",
    "したがって",
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
        let is_heading = |line: &&Line| matches!(line.kind, LineKind::Heading(_));
        let lines: Vec<&Line> = page.lines.iter().filter(|line| is_heading(line) || own(line)).collect();
        opening(&first_paragraph(&lines, title)?.text, title, length)
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

/// Returns the first paragraph of the content. A later one is about a part of the page only. Where a heading
/// is followed by the title again or by code, such as a synopsis, it is the one below the next heading.
fn first_paragraph<'a>(lines: &[&'a Line], title: &str) -> Option<&'a Line> {
    let is_content = |line: &&&Line| line.zone == Zone::Content && !line.is_link;
    let is_heading = |line: &Line| matches!(line.kind, LineKind::Heading(_));
    let lines: Vec<&Line> = lines.iter().filter(is_content).copied().collect();
    let start = lines.iter().position(|line| is_heading(line)).unwrap_or(0);
    let sections = lines[start..].chunk_by(|_, next| !is_heading(next));
    for section in sections.take(MAX_SECTIONS) {
        let mut below = section.iter().filter(|line| !is_heading(line));
        let Some(first) = below.find(|line| line.kind != LineKind::Text || !is_label(&line.text, title))
        else {
            continue;
        };
        if first.kind != LineKind::Text {
            return None;
        }
        if !is_code(&first.text) {
            return Some(first);
        }
    }
    None
}

/// Returns whether a line is the title again, a menu, or a few words such as a date.
fn is_label(text: &str, title: &str) -> bool {
    let is_short = !text.trim_end_matches(CLOSING).ends_with(ENDS)
        && text.split_whitespace().count() < MIN_WORDS
        && text.chars().count() < MIN_LETTERS * 2;
    let repeats_title = text.contains(" \u{2014} ") && !title.is_empty() && text.starts_with(title);
    is_short || repeats_title || MENU_SEPARATORS.iter().any(|separator| text.contains(separator))
}

fn is_code(text: &str) -> bool {
    !text.trim_end_matches(CLOSING).ends_with(ENDS) && text.contains(['[', '{', '|', '=', ';', '<', '\\'])
}

/// Returns whether a text is in the script of the title: an English sentence describes no page in Japanese.
fn is_in_script_of(text: &str, title: &str) -> bool {
    let is_latin = |letter: &char| *letter < '\u{250}';
    let letters: Vec<char> = text.chars().filter(|letter| letter.is_alphabetic()).collect();
    let latin = letters.iter().filter(|letter| is_latin(letter)).count();
    let is_foreign_title = title.chars().any(|letter| letter.is_alphabetic() && !is_latin(&letter));
    !is_foreign_title || latin * 10 <= letters.len() * 9
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
        if letters > *length.end() || !is_whole(&paragraph[sentence.start..sentence.end], title) {
            break;
        }
        end = sentence.end;
        // One sentence says what the page is about. The next ones are details.
        if letters >= *length.start() {
            break;
        }
    }
    let text = paragraph[..end].trim();
    let is_good = length.contains(&text.chars().count())
        && !has_notice(text)
        && is_in_script_of(text, title)
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
fn is_whole(sentence: &str, title: &str) -> bool {
    let sentence = sentence.trim();
    let ends = sentence.trim_end_matches(CLOSING).ends_with(ENDS) && !sentence.ends_with("..");
    let first = sentence.trim_start_matches(['"', '“', '„', '«', '「', '(', '¿', '¡']).chars().next();
    let begins =
        first.is_some_and(|letter| (letter.is_alphabetic() && !letter.is_lowercase()) || letter.is_numeric());
    // A command or a module keeps its lower case: "psql is a terminal-based front-end."
    let word = sentence.split_whitespace().next().unwrap_or_default();
    let is_name = !word.is_empty() && title.split_whitespace().any(|known| known == word);
    let letters = sentence.chars().filter(|letter| letter.is_alphabetic()).count();
    let words = sentence.split_whitespace().count();
    // Languages without spaces between words have letters of a wide kind.
    let is_spaced = sentence.chars().filter(|letter| *letter >= '\u{2e80}').count() * 2 < letters;
    let marks = ["{", "}", "://", "www.", "=>", "()", ";"];
    ends && (begins || is_name)
        && letters >= MIN_LETTERS
        && (!is_spaced || words >= MIN_WORDS)
        && !marks.iter().chain(&MENU_SEPARATORS).any(|mark| sentence.contains(mark))
        && !sentence.chars().any(char::is_control)
}

fn has_notice(text: &str) -> bool {
    let lower = text.to_lowercase();
    NOTICES.iter().any(|notice| lower.contains(notice)) || COOKIE.iter().any(|word| lower.contains(word))
}

fn continues(text: &str) -> bool {
    let lower = text.to_lowercase();
    if REFERS.iter().any(|words| lower.contains(words)) {
        return true;
    }
    let first = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    CONTINUES.contains(&first.to_lowercase().as_str())
        || CONTINUES_UNSPACED.iter().any(|word| text.starts_with(word))
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
