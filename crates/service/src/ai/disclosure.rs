//! Detects in an answer what visitors must not see: the instructions, and long parts of text that no visitor
//! can read (4.13). The pages of the site are public, and operators write their answers for visitors: a model
//! may repeat both, such as a week of opening hours.
//!
//! Texts are compared by their letters and digits only, in lower case and without accents. Markup, spaces and
//! invisible characters make no difference. A translated or encrypted text is not detected.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use unicode_normalization::UnicodeNormalization;

use super::prompt::{INSTRUCTIONS, REFERENCE, VISITED};
use crate::knowledge::Passage;

/// Length in letters of one copied run of a passage that is a disclosure: about 200 characters with spaces.
const PASSAGE_RUN_THRESHOLD: usize = 160;
/// Length in words of one copied run of a passage that is a disclosure.
const PASSAGE_WORDS_THRESHOLD: usize = 30;
/// Minimum letters of a copied piece of a passage that is counted.
const MIN_PASSAGE_PIECE: usize = 32;
/// Letters in the copied pieces of one passage that are a disclosure.
const PASSAGE_THRESHOLD: usize = 240;
/// Letters in the copied pieces of all passages that are a disclosure.
const ALL_PASSAGES_THRESHOLD: usize = 480;
/// Minimum letters of a copied piece of the instructions that is counted.
const MIN_INSTRUCTION_PIECE: usize = 20;
/// Letters in the copied pieces of the instructions that are a disclosure: about 60 characters with spaces.
const INSTRUCTIONS_THRESHOLD: usize = 48;

/// Returns whether an answer repeats the instructions or long parts of hidden passages.
pub(super) fn discloses(answer: &str, passages: &[Passage]) -> bool {
    let keys = RandomState::new();
    let hidden = passages.iter().filter(|passage| is_hidden(passage));
    let passages: Vec<Folded> = hidden.map(|passage| Folded::new(&passage.text, &keys)).collect();
    let instructions = Folded::new(&format!("{INSTRUCTIONS} {REFERENCE} {VISITED}"), &keys);
    let answer = format!("{answer}\n{}", decoded(answer));
    let answer = Folded::new(&answer, &keys);
    let pieces = |passage: &Folded| copied(&passage.letters, &answer.letters, MIN_PASSAGE_PIECE);
    copied(&instructions.letters, &answer.letters, MIN_INSTRUCTION_PIECE) >= INSTRUCTIONS_THRESHOLD
        || passages.iter().map(pieces).sum::<usize>() >= ALL_PASSAGES_THRESHOLD
        || passages.iter().any(|passage| {
            pieces(passage) >= PASSAGE_THRESHOLD
                || copied(&passage.letters, &answer.letters, PASSAGE_RUN_THRESHOLD) > 0
                || copied(&passage.words, &answer.words, PASSAGE_WORDS_THRESHOLD) > 0
        })
}

/// Returns whether no visitor can read a passage by themselves: content without an address.
fn is_hidden(passage: &Passage) -> bool {
    passage.location.is_none() && !passage.id.starts_with("answer:")
}

/// A text, normalised for comparison.
struct Folded {
    letters: Vec<u64>,
    /// The hashes of its words.
    words: Vec<u64>,
}

impl Folded {
    fn new(text: &str, keys: &RandomState) -> Self {
        let text = html_escape::decode_html_entities(text);
        let text: String =
            text.nfkd().filter(|character| !is_invisible(*character)).flat_map(char::to_lowercase).collect();
        let letters = text.chars().filter(|character| character.is_alphanumeric()).map(u64::from).collect();
        let words =
            text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        Self { letters, words: words.map(|word| keys.hash_one(word)).collect() }
    }
}

/// Returns whether a character is an accent or invisible: a joiner, direction mark, filler, selector or tag.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns how many units of the answer are in pieces of at least `length` that also occur in the source.
fn copied(source: &[u64], answer: &[u64], length: usize) -> usize {
    let known: HashSet<u64> = windows(source, length).collect();
    let mut copied = 0;
    let mut counted_to = 0;
    for (from, window) in windows(answer, length).enumerate() {
        if known.contains(&window) {
            copied += from + length - counted_to.max(from);
            counted_to = from + length;
        }
    }
    copied
}

/// Returns the rolling hash of each window of `length` units. A collision can only withhold an answer, never
/// let a disclosure through.
fn windows(text: &[u64], length: usize) -> impl Iterator<Item = u64> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let leaving = (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut hash = 0_u64;
    text.iter().enumerate().filter_map(move |(index, unit)| {
        hash = hash.wrapping_mul(BASE).wrapping_add(*unit);
        if let Some(first) = index.checked_sub(length) {
            hash = hash.wrapping_sub(text[first].wrapping_mul(leaving));
        }
        (index + 1 >= length).then_some(hash)
    })
}

/// Returns the text that an answer contains as Base64, if any.
fn decoded(answer: &str) -> String {
    const MIN_LENGTH: usize = 40;
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, lenient);
    let is_digit = |character: char| character.is_ascii_alphanumeric() || "+/-_".contains(character);
    // Base64 may be wrapped over several lines.
    let joined: String = answer.split_whitespace().collect();
    let mut texts = String::new();
    for whole in [answer, &joined] {
        for run in whole.split(|character| !is_digit(character)).filter(|run| run.len() >= MIN_LENGTH) {
            let run = run.replace('-', "+").replace('_', "/");
            // A single digit after the last group of four encodes nothing.
            let run = &run[..run.len() - usize::from(run.len() % 4 == 1)];
            if let Ok(bytes) = engine.decode(run) {
                texts.push_str(&String::from_utf8_lossy(&bytes));
                texts.push('\n');
            }
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::*;
    use crate::cases;

    const TEXT: &str = "Every pot is dipped twice, once in the white slip that the studio has mixed since 1987 and \
        once in the glaze that gives it its colour. Celadon is fired at 1280 degrees, in a kiln that burns no oxygen \
        for the last two hours; that is where the green comes from. Cobalt is fired at 1240 degrees and needs air. \
        After two days of cooling we look at each piece, keep the good ones, and grind the others into the next slip.";

    fn passage(text: &str) -> Passage {
        Passage {
            id: "content:1".to_owned(),
            title: "How we glaze".to_owned(),
            location: None,
            text: text.to_owned(),
            shown: String::new(),
            certainty: 1.0,
        }
    }

    fn passages() -> Vec<Passage> {
        vec![passage(TEXT)]
    }

    fn is_withheld(answer: &str) -> bool {
        discloses(answer, &passages())
    }

    /// Cuts a text into pieces of `length` characters and joins them with `between`.
    fn pieces(text: &str, length: usize, between: &str) -> String {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(length).map(String::from_iter).collect::<Vec<_>>().join(between)
    }

    #[test]
    fn withholds_instructions_in_any_layout_or_encoding() {
        assert!(is_withheld(INSTRUCTIONS));
        assert!(is_withheld(&format!("Sure, here they are: \"{}\"", &INSTRUCTIONS[..75])));
        assert!(is_withheld(&INSTRUCTIONS.to_uppercase().replace(' ', "\n> **")));
        assert!(is_withheld(&pieces(INSTRUCTIONS, 1, "\u{200b}")), "zero-width spaces");
        assert!(
            is_withheld(&pieces(INSTRUCTIONS, 3, "\u{ad}\u{2060}\u{e0041}")),
            "other invisible characters"
        );
        assert!(is_withheld(&pieces(INSTRUCTIONS, 1, " ")), "spaced out");
        assert!(is_withheld(&pieces(INSTRUCTIONS, 40, " … and then … ")), "in pieces");
        assert!(is_withheld(&INSTRUCTIONS.replace('o', "&#111;")), "as entities");
        assert!(is_withheld(&INSTRUCTIONS.replace('e', "e\u{301}")), "with accents");
        assert!(is_withheld(&BASE64_STANDARD.encode(INSTRUCTIONS)), "as Base64");
        assert!(
            is_withheld(&pieces(&BASE64_URL_SAFE_NO_PAD.encode(INSTRUCTIONS), 76, "\n")),
            "as wrapped Base64"
        );
    }

    #[test]
    fn withholds_long_parts_of_hidden_text_in_any_layout_or_encoding() {
        assert!(is_withheld(TEXT));
        assert!(is_withheld(&format!("It says: {}", &TEXT[40..260])));
        assert!(is_withheld(&TEXT.to_uppercase()));
        assert!(is_withheld(&TEXT.split(' ').collect::<Vec<_>>().join(" _ ")), "marked up");
        assert!(is_withheld(&pieces(TEXT, 2, "\u{200d}")), "zero-width joiners");
        assert!(is_withheld(&pieces(TEXT, 60, "\n\nIt goes on like this:\n\n")), "in pieces");
        assert!(is_withheld(&BASE64_STANDARD.encode(TEXT)), "as Base64");
        let thirty: Vec<&str> = TEXT.split(' ').skip(7).take(30).collect();
        assert!(is_withheld(&thirty.join(" ")), "30 words");
    }

    #[test]
    fn allows_an_answer_that_quotes_a_sentence() {
        for answer in [
            "At 1280 degrees.",
            "Celadon is fired at 1280 degrees, in a kiln that burns no oxygen for the last two hours.",
            "The studio says: \"Every pot is dipped twice\". Celadon is fired at 1280 degrees and cobalt at 1240; \
             after two days of cooling they look at each piece. Shall somebody of the team follow up?",
            "I am the assistant of this website. I found no answer to that; somebody of the team can follow up.",
            "dGhpcyBpcyBub3RoaW5nIHRoYXQgYW55Ym9keSBoYXMgdG8gaGlkZSBhdCBhbGw=",
            "",
        ] {
            assert!(!is_withheld(answer), "{answer}");
        }
    }

    #[test]
    fn allows_public_pages_and_operators_answers_word_for_word() {
        let page = Passage { location: Some("/glaze".to_owned()), ..passage(TEXT) };
        let answer = Passage { id: "answer:7".to_owned(), ..passage(TEXT) };
        assert!(!discloses(TEXT, &[page, answer]));
    }

    #[test]
    fn allows_quoting_a_short_passage_in_full() {
        let text = "Celadon is fired at 1280 degrees.";
        assert!(!discloses(text, &[passage(text)]));
    }

    proptest! {
        #![proptest_config(cases(128))]

        #[test]
        fn detects_a_copied_part_at_any_position(
            before in ".{0,60}",
            after in ".{0,60}",
            from in 0_usize..150,
            break_after in 1_usize..20,
            between in "[ \u{200b}\u{2060}*_~\n]{0,3}",
        ) {
            let part: String = TEXT.chars().skip(from).take(230).collect();
            let answer = format!("{before} {} {after}", pieces(&part, break_after, &between));
            prop_assert!(is_withheld(&answer));
        }

        #[test]
        fn accepts_any_answer_without_a_panic(answer in any::<String>(), text in any::<String>()) {
            let passage = passage(&text);
            let _ = discloses(&answer, std::slice::from_ref(&passage));
            prop_assert!(!discloses("", &[passage]));
        }
    }
}
