//! The part of a page that answers a question: sentences around those with most of its words, below their
//! heading.

use chat_page::{Block, blocks, without_marks};

use super::language::Language;
use super::page::terms_of;
use super::vocabulary::{TermId, Vocabulary};
use crate::text::excerpt;

/// The weight of a word in the heading above a sentence.
const HEADING: f64 = 0.5;
/// Maximum sentences that are compared with a question.
const MAX_SENTENCES: usize = 2000;
/// Maximum characters of a sentence that is not split, and the minimum of its pieces.
const MAX_SENTENCE: usize = 300;
const MIN_PIECE: usize = 80;

/// A sentence of a page.
struct Sentence<'a> {
    block: usize,
    text: &'a str,
    weight: f64,
}

/// How a passage is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// With headings in bold.
    Markdown,
}

/// Returns a page's text of at most `limit` characters, without its marks: all of it, or the sentences that
/// have most of these words, by their weights, with those around them and the heading above.
pub(super) fn window(
    text: &str,
    language: Language,
    terms: &[(TermId, f64)],
    vocabulary: &mut Vocabulary,
    limit: usize,
    style: Style,
) -> String {
    let blocks = blocks(text);
    if style == Style::Plain {
        let whole = without_marks(text);
        if length(&whole) <= limit {
            return whole;
        }
    }
    let sentences = sentences(&blocks, language, terms, vocabulary);
    let Some(best) = best(&sentences) else { return excerpt(&without_marks(text), limit) };
    let (mut first, mut last) = (best, best);
    let mut written = write(&blocks, &sentences[first..=last], style);
    if length(&written) > limit {
        return excerpt(&written, limit);
    }
    // A visitor reads the section that answers; a model, whatever fits.
    let is_wanted = |sentence: &&Sentence<'_>| {
        let headings = |block: usize| &blocks[block].headings;
        style == Style::Plain || headings(sentence.block) == headings(sentences[best].block)
    };
    loop {
        let weight = |index: Option<usize>| {
            let sentence = index.and_then(|index| sentences.get(index)).filter(is_wanted)?;
            let is_near = sentence.block == sentences[best].block;
            Some(sentence.weight + if is_near { HEADING } else { 0.0 })
        };
        let (before, after) = (weight(first.checked_sub(1)), weight(Some(last + 1)));
        // What follows explains more often than what comes before.
        let is_after_first = after >= before;
        let mut has_grown = false;
        for is_after in [is_after_first, !is_after_first] {
            let wider = match (is_after, before, after) {
                (true, _, Some(_)) => (first, last + 1),
                (false, Some(_), _) => (first - 1, last),
                _ => continue,
            };
            let longer = write(&blocks, &sentences[wider.0..=wider.1], style);
            if length(&longer) <= limit {
                ((first, last), written, has_grown) = (wider, longer, true);
                break;
            }
        }
        if !has_grown {
            return written;
        }
    }
}

/// Returns the sentence with most of the words; of equals, the first.
fn best(sentences: &[Sentence<'_>]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (index, sentence) in sentences.iter().enumerate() {
        if best.is_none_or(|best| sentence.weight > sentences[best].weight) {
            best = Some(index);
        }
    }
    best
}

fn sentences<'a>(
    blocks: &[Block<'a>],
    language: Language,
    terms: &[(TermId, f64)],
    vocabulary: &mut Vocabulary,
) -> Vec<Sentence<'a>> {
    let mut weigh = |text: &str| -> Vec<f64> {
        let found = terms_of(text, language, vocabulary);
        terms
            .iter()
            .map(|(term, weight)| if found.iter().any(|one| one.id == *term) { *weight } else { 0.0 })
            .collect()
    };
    let mut sentences = Vec::new();
    let mut above: Vec<f64> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if block.is_heading {
            above = weigh(block.text);
            continue;
        }
        let lead_in = block.lead_in.map(&mut weigh);
        for text in split(block.text) {
            if sentences.len() == MAX_SENTENCES {
                return sentences;
            }
            let own = weigh(text);
            let weights = own.iter().enumerate().map(|(term, weight)| {
                let around = lead_in.as_ref().map_or(0.0, |lead_in| lead_in[term]);
                let around = above.get(term).copied().unwrap_or_default().max(around);
                weight.max(around * HEADING)
            });
            sentences.push(Sentence { block: index, text, weight: weights.sum() });
        }
    }
    sentences
}

/// Splits a paragraph into sentences. One that is very long, as all of Thai, which marks none, is split at
/// spaces.
fn split(text: &str) -> Vec<&str> {
    ended(text).into_iter().flat_map(pieces).collect()
}

/// Splits a long sentence at spaces.
fn pieces(text: &str) -> Vec<&str> {
    if length(text) <= MAX_SENTENCE {
        return vec![text];
    }
    let (mut pieces, mut from, mut letters) = (Vec::new(), 0, 0);
    for (index, letter) in text.char_indices() {
        letters += 1;
        if letter.is_whitespace() && letters >= MIN_PIECE {
            pieces.push(text[from..index].trim());
            (from, letters) = (index, 0);
        }
    }
    pieces.push(text[from..].trim());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Splits a paragraph after the marks that end sentences, before a space or in a script without them.
fn ended(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for (index, mark) in text.char_indices() {
        let after = index + mark.len_utf8();
        let mut next = text[after..].chars();
        let ends = match mark {
            '.' | '!' | '?' | '…' | '؟' => {
                // "e.g. this", "z. B." and "No. 5" go on.
                let is_spaced = next.next().is_some_and(char::is_whitespace);
                let goes_on = next.next().is_some_and(|letter| letter.is_lowercase() || letter.is_numeric());
                let word = text[from..index].rsplit(char::is_whitespace).next().unwrap_or_default();
                let is_initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
                is_spaced && !goes_on && (mark != '.' || !is_initial)
            }
            '。' | '！' | '？' | '।' => true,
            _ => false,
        };
        if ends {
            sentences.push(text[from..after].trim());
            from = after;
        }
    }
    sentences.push(text[from..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Writes sentences, each paragraph in a line of its own, below their headings.
fn write(blocks: &[Block<'_>], sentences: &[Sentence<'_>], style: Style) -> String {
    let mut written = String::new();
    let mut heading = None;
    let mut last = None;
    for sentence in sentences {
        let block = &blocks[sentence.block];
        if last == Some(sentence.block) {
            let is_joined = written.ends_with(['。', '！', '？']);
            written.push_str(if is_joined { "" } else { " " });
        } else {
            let above = block.headings.last().map(|(_, text)| *text);
            if above != heading {
                heading = above;
                begin(&mut written, style);
                match (above, style) {
                    (Some(text), Style::Markdown) => {
                        written.push_str("**");
                        written.push_str(&text.replace('*', ""));
                        written.push_str("**\n");
                    }
                    (Some(text), Style::Plain) => written.push_str(text),
                    (None, _) => {}
                }
            }
            let is_item_alone = last.is_none() && block.lead_in.is_some();
            if let Some(line) = block.lead_in.filter(|_| is_item_alone) {
                begin(&mut written, style);
                written.push_str(line);
            }
            begin(&mut written, style);
        }
        written.push_str(sentence.text);
        last = Some(sentence.block);
    }
    written
}

/// Begins a line, unless the text is at the beginning of one.
fn begin(written: &mut String, style: Style) {
    let is_below_heading = style == Style::Markdown && written.ends_with("**\n");
    if !written.is_empty() && !is_below_heading {
        written.push('\n');
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\u{1}Shipping\nWe pack each pot by hand. Parcels leave on Tuesdays.\n\u{2}Prices\n\
        Country: Austria · Price: 4.90 EUR\nCountry: Germany · Price: 12.00 EUR\n\u{2}Bring with you\n\
        For the course:\n- an apron\n- a towel";

    fn window_of(question: &[&str], limit: usize, style: Style) -> String {
        let mut vocabulary = Vocabulary::default();
        let terms: Vec<(TermId, f64)> = question
            .iter()
            .map(|word| (vocabulary.of_word(Language::English, (*word).to_owned()), 1.0))
            .collect();
        window(PAGE, Language::English, &terms, &mut vocabulary, limit, style)
    }

    #[test]
    fn a_short_page_is_whole() {
        let whole = window_of(&[], 1000, Style::Plain);
        assert_eq!(whole, without_marks(PAGE));
    }

    #[test]
    fn a_window_is_around_the_sentence_that_matches_best_below_its_heading() {
        let row = "**Prices**\nCountry: Germany · Price: 12.00 EUR";
        assert_eq!(window_of(&["price", "germany"], 60, Style::Markdown), row);
        let rows = "Prices\nCountry: Austria · Price: 4.90 EUR\nCountry: Germany · Price: 12.00 EUR";
        assert_eq!(window_of(&["price", "germany"], 80, Style::Plain), rows, "it looks back");
        let forward = "Shipping\nWe pack each pot by hand. Parcels leave on Tuesdays.";
        assert_eq!(window_of(&["pack"], 70, Style::Plain), forward);
    }

    #[test]
    fn a_visitor_reads_one_section() {
        let section = "**Shipping**\nWe pack each pot by hand. Parcels leave on Tuesdays.";
        assert_eq!(window_of(&["parcel"], 500, Style::Markdown), section);
    }

    #[test]
    fn an_item_stands_below_the_line_that_it_belongs_to() {
        let item = "**Bring with you**\nFor the course:\n- a towel";
        assert_eq!(window_of(&["towel", "course"], 46, Style::Markdown), item);
    }

    #[test]
    fn sentences_end_at_their_marks_and_not_at_abbreviations() {
        assert_eq!(
            split("We open at 9. Mugs, e.g. blue ones, z. B. No. 5. Ok?  Yes"),
            ["We open at 9.", "Mugs, e.g. blue ones, z. B. No. 5.", "Ok?", "Yes"]
        );
        assert_eq!(split("我们九点开门。周日休息。"), ["我们九点开门。", "周日休息。"]);
        assert_eq!(split(""), Vec::<&str>::new());
        let thai = "ร้านเปิดทุกวันตั้งแต่เก้าโมง ".repeat(20);
        assert!(split(&thai).iter().all(|piece| length(piece) < 2 * MIN_PIECE) && split(&thai).len() > 3);
    }

    #[test]
    fn a_window_of_any_text_has_at_most_the_limit() {
        for text in ["x".repeat(5000), "a. ".repeat(3000), "\n".repeat(50), String::new(), "词".repeat(3000)]
        {
            for limit in [1, 10, 300] {
                let found =
                    window(&text, Language::English, &[], &mut Vocabulary::default(), limit, Style::Markdown);
                assert!(length(&found) <= limit + 1, "{limit} {}", length(&found));
            }
        }
    }
}
