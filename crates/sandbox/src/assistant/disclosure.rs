//! Finding in an answer what visitors must not be told: the instructions, and long parts of the site's text (4.13).
//!
//! Texts are compared by their letters and digits alone, in small letters and without accents: markup, spaces and
//! characters that nobody sees make no difference. A text that somebody has translated or enciphered is not found.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use unicode_normalization::UnicodeNormalization;

use super::prompt::{INSTRUCTIONS, REFERENCE};
use crate::search::Passage;

/// A part of a passage in one piece: some 200 characters with the spaces between them, or as many words.
const PASSAGE_RUN: usize = 160;
const PASSAGE_WORDS: usize = 30;
/// Pieces of a passage, of at least so many letters each, that make up so many of one passage or of all.
const PASSAGE_PIECE: usize = 32;
const PASSAGE_PIECES: usize = 240;
const ALL_PIECES: usize = 480;
/// Pieces of the instructions, of at least so many letters each, that make up so many: some 60 characters.
const INSTRUCTION_PIECE: usize = 20;
const INSTRUCTION_PIECES: usize = 48;

/// Returns whether an answer repeats the instructions or long parts of the passages.
pub(super) fn discloses(answer: &str, passages: &[Passage]) -> bool {
    let keys = RandomState::new();
    let passages: Vec<Folded> = passages.iter().map(|passage| Folded::new(&passage.text, &keys)).collect();
    let instructions = Folded::new(&format!("{INSTRUCTIONS} {REFERENCE}"), &keys);
    let answer = format!("{answer}\n{}", decoded(answer));
    let answer = Folded::new(&answer, &keys);
    let pieces = |passage: &Folded| copied(&passage.letters, &answer.letters, PASSAGE_PIECE);
    copied(&instructions.letters, &answer.letters, INSTRUCTION_PIECE) >= INSTRUCTION_PIECES
        || passages.iter().map(pieces).sum::<usize>() >= ALL_PIECES
        || passages.iter().any(|passage| {
            pieces(passage) >= PASSAGE_PIECES
                || copied(&passage.letters, &answer.letters, PASSAGE_RUN) > 0
                || copied(&passage.words, &answer.words, PASSAGE_WORDS) > 0
        })
}

/// A text as it is compared.
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

/// Accents, and what is between the letters without being seen: joiners, marks of direction, fillers, selectors, tags.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns how much of the answer is in pieces of at least `length` that the source has too.
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

/// Returns the hash of each piece of this length, in a time that does not grow with the length. Hashes that are the same
/// by chance can but withhold an answer.
fn windows(text: &[u64], length: usize) -> impl Iterator<Item = u64> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let leaving = (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut hash = 0_u64;
    text.iter().enumerate().filter_map(move |(place, unit)| {
        hash = hash.wrapping_mul(BASE).wrapping_add(*unit);
        if let Some(gone) = place.checked_sub(length) {
            hash = hash.wrapping_sub(text[gone].wrapping_mul(leaving));
        }
        (place + 1 >= length).then_some(hash)
    })
}

/// The text that is in an answer as Base64, if there is any.
fn decoded(answer: &str) -> String {
    const SHORTEST: usize = 40;
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, lenient);
    let is_digit = |character: char| character.is_ascii_alphanumeric() || "+/-_".contains(character);
    // Lines of it belong together.
    let joined: String = answer.split_whitespace().collect();
    let mut texts = String::new();
    for whole in [answer, &joined] {
        for run in whole.split(|character| !is_digit(character)).filter(|run| run.len() >= SHORTEST) {
            let run = run.replace('-', "+").replace('_', "/");
            // One digit more than there can be is none.
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

    fn passages() -> Vec<Passage> {
        vec![Passage {
            title: "How we glaze".to_owned(),
            place: Some("/glaze".to_owned()),
            text: TEXT.to_owned(),
        }]
    }

    fn is_withheld(answer: &str) -> bool {
        discloses(answer, &passages())
    }

    /// The text in pieces of so many characters, with something between them.
    fn pieces(text: &str, length: usize, between: &str) -> String {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(length).map(String::from_iter).collect::<Vec<_>>().join(between)
    }

    #[test]
    fn the_instructions_are_withheld_however_they_are_laid_out() {
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
            "as lines of it"
        );
    }

    #[test]
    fn long_parts_of_a_passage_are_withheld_however_they_are_laid_out() {
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
    fn an_answer_that_quotes_a_sentence_passes() {
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
    fn a_passage_that_is_short_may_be_quoted_as_a_whole() {
        let text = "Celadon is fired at 1280 degrees.".to_owned();
        let passage = Passage { title: "Glaze".to_owned(), place: None, text: text.clone() };
        assert!(!discloses(&text, &[passage]));
    }

    proptest! {
        #![proptest_config(cases(128))]

        #[test]
        fn a_copied_part_is_found_wherever_it_stands(
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
        fn any_answer_can_be_read(answer in any::<String>(), text in any::<String>()) {
            let passage = Passage { title: String::new(), place: None, text: text.clone() };
            let _ = discloses(&answer, std::slice::from_ref(&passage));
            prop_assert!(!discloses("", &[passage]));
        }
    }
}
