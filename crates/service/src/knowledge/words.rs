//! Splits a text into words that can be compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Maximum characters of a word; further ones are ignored.
const MAX_WORD_LENGTH: usize = 40;
/// Maximum characters of a run without spaces that is handled at once.
const MAX_RUN_LENGTH: usize = 64;

/// The canonical combining classes of marks of Indian scripts.
const VIRAMA: u8 = 9;
const NUKTA: u8 = 7;
/// Characters of Chinese that carry no meaning in a search and end a word.
const CHINESE_PARTICLES: &str = "的了吗呢吧么啊呀嘛哦我你您他她它们这那哪请";
/// Characters that carry no meaning in a search when they stand alone or beside each other.
const CHINESE_STOP_CHARACTERS: &str = "什怎是有在和与也都就还会能可以不没很要想问一个为到对从把被让给谢好知道多少如何得地着过吃些点下上去来说需";

/// A word of a text, folded: in lower case, without accents, in one form for each letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A word of a script that separates words.
    Spaced(String),
    /// A run of characters of a script that does not: Chinese, Japanese, Thai; also Korean, whose endings
    /// are joined to words.
    Unspaced(Vec<char>),
}

/// Returns the words of a text, in order.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word> {
    text.split_whitespace().flat_map(|part| {
        // Composing letters takes long, and most words have none to compose.
        let (ascii, other) = if part.is_ascii() { (part, "") } else { ("", part) };
        let plain = ascii.split(|letter: char| !letter.is_ascii_alphanumeric());
        let plain = plain.filter(|word| !word.is_empty()).map(|word| {
            let end = word.len().min(MAX_WORD_LENGTH);
            Word::Spaced(word[..end].to_ascii_lowercase())
        });
        plain.chain(split(other.nfkd().filter(|character| !is_mark(*character)).nfc()))
    })
}

/// Returns the words of a Vietnamese text, folded, each with its tones and vowels as they are written.
pub(super) fn toned_words(text: &str) -> impl Iterator<Item = (Word, String)> {
    let letters = text.nfkd().filter(|character| is_tone(*character) || !is_mark(*character)).nfc();
    split(letters).filter_map(|word| {
        let written = match &word {
            Word::Spaced(text) => text.clone(),
            Word::Unspaced(run) => run.iter().collect(),
        };
        let folded = words(&written).next()?;
        Some((folded, written))
    })
}

/// Splits characters in one form into words.
fn split(characters: impl Iterator<Item = char>) -> impl Iterator<Item = Word> {
    let mut folded = characters.flat_map(char::to_lowercase).flat_map(fold).peekable();
    std::iter::from_fn(move || {
        let first = folded.find(|character| is_letter(*character))?;
        let script = unspaced_script(first);
        if script.is_some() {
            let mut run = vec![first];
            while run.len() < MAX_RUN_LENGTH
                && let Some(next) =
                    folded.next_if(|next| is_letter(*next) && unspaced_script(*next) == script)
            {
                run.push(next);
            }
            return Some(Word::Unspaced(run));
        }
        let mut word = String::from(first);
        let mut length = 1;
        while let Some(next) = folded.next_if(|next| is_letter(*next) && unspaced_script(*next).is_none()) {
            if length < MAX_WORD_LENGTH {
                word.push(next);
            }
            length += 1;
        }
        Some(Word::Spaced(word))
    })
}

/// Returns the words of a text, folded; a run of a script without spaces is one word.
pub(crate) fn folded_words(text: &str) -> impl Iterator<Item = String> {
    words(text).map(|word| match word {
        Word::Spaced(word) => word,
        Word::Unspaced(run) => run.into_iter().collect(),
    })
}

/// Returns the pairs of characters of a run, and its single characters.
pub(super) fn characters(run: &[char]) -> (Vec<String>, Vec<String>) {
    let is_stop = |character: &char| CHINESE_STOP_CHARACTERS.contains(*character);
    let pairs = run.windows(2).filter(|pair| !pair.iter().all(is_stop)).map(String::from_iter);
    let is_hiragana = |character: char| matches!(character, '\u{3040}'..='\u{309f}');
    let singles = run.iter().filter(|character| !is_stop(character) && !is_hiragana(**character));
    (pairs.collect(), singles.map(ToString::to_string).collect())
}

fn is_letter(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    (character.is_alphanumeric() || matches!(character, '\u{e00}'..='\u{e7f}') || is_virama(character))
        && !CHINESE_PARTICLES.contains(character)
}

/// Returns whether a character joins two consonants of an Indian script.
pub(super) fn is_virama(character: char) -> bool {
    matches!(character, '\u{900}'..='\u{dff}') && canonical_combining_class(character) == VIRAMA
}

/// Returns whether a character is an accent, a vowel sign or another mark that people leave out.
fn is_mark(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
    // The dot below letters that Hindi has borrowed.
    if matches!(character, '\u{900}'..='\u{dff}') {
        return canonical_combining_class(character) == NUKTA;
    }
    matches!(character, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{200b}'..='\u{200f}' | '\u{ad}')
}

/// Returns whether a character is a tone of Vietnamese, or tells its vowels apart.
fn is_tone(character: char) -> bool {
    matches!(
        character,
        '\u{300}' | '\u{301}' | '\u{302}' | '\u{303}' | '\u{306}' | '\u{309}' | '\u{31b}' | '\u{323}'
    )
}

/// Returns one form of a letter that is written in several ways.
fn fold(character: char) -> impl Iterator<Item = char> {
    let (first, second) = match character {
        'ß' => ('s', Some('s')),
        'æ' => ('a', Some('e')),
        'ø' => ('o', None),
        'ł' => ('l', None),
        'đ' => ('d', None),
        'ı' => ('i', None),
        '\u{649}' | '\u{6cc}' => ('\u{64a}', None),
        '\u{629}' => ('\u{647}', None),
        '\u{671}' => ('\u{627}', None),
        '\u{6a9}' => ('\u{643}', None),
        digit @ ('\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}') => {
            (char::from_digit(u32::from(digit) & 0xf, 10).unwrap_or(digit), None)
        }
        other => (other, None),
    };
    std::iter::once(first).chain(second)
}

/// Returns whether a character belongs to a script that does not separate words.
pub(crate) fn is_unspaced(character: char) -> bool {
    unspaced_script(character).is_some()
}

/// Returns the script of a character, if that script does not separate words.
fn unspaced_script(character: char) -> Option<u8> {
    match character {
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々' => Some(0),
        '\u{3040}'..='\u{309f}' => Some(1),
        '\u{30a0}'..='\u{30ff}' => Some(2),
        '\u{ac00}'..='\u{d7a3}' => Some(3),
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spaced(text: &str) -> Vec<String> {
        folded_words(text).collect()
    }

    #[test]
    fn folds_letters_that_are_written_in_several_ways() {
        assert_eq!(spaced("Café CAFE\u{301} ＡＢＣ"), ["cafe", "cafe", "abc"]);
        assert_eq!(spaced("Größe GRÖSSE"), ["grosse", "grosse"]);
        assert_eq!(spaced("إلغاء الغَاء مُدّة ٢٤"), ["الغاء", "الغاء", "مده", "24"]);
        assert_eq!(spaced("क्या सड़क बड़ा"), ["क्या", "सडक", "बडा"], "a virama joins letters");
    }

    #[test]
    fn splits_scripts_without_spaces_at_particles_and_other_scripts() {
        assert_eq!(spaced("你们的早餐几点开始？"), ["早餐几点开始"]);
        assert_eq!(spaced("チェックインは15時です"), ["チェックイン", "は", "15", "時", "です"]);
        assert_eq!(
            characters(&['早', '餐']),
            (vec!["早餐".to_owned()], vec!["早".to_owned(), "餐".to_owned()])
        );
        assert_eq!(characters(&['可', '以']), (vec![], vec![]));
    }

    #[test]
    fn vietnamese_words_keep_their_tones_beside_the_folded_form() {
        let found: Vec<(String, String)> = toned_words("Má, mà ĐƯỜNG ma?")
            .map(|(word, written)| match word {
                Word::Spaced(folded) => (folded, written),
                Word::Unspaced(run) => (run.into_iter().collect(), written),
            })
            .collect();
        let expected = [("ma", "má"), ("ma", "mà"), ("duong", "dường"), ("ma", "ma")];
        assert_eq!(found, expected.map(|(folded, written)| (folded.to_owned(), written.to_owned())));
    }

    #[test]
    fn compares_a_very_long_word_by_its_beginning() {
        let long = "x".repeat(1_000_000);
        assert_eq!(spaced(&long), [&long[..MAX_WORD_LENGTH]]);
    }

    proptest! {
        #[test]
        fn words_of_any_text_are_short_and_not_empty(text in any::<String>()) {
            for word in words(&text) {
                let length = match word {
                    Word::Spaced(word) => word.chars().count(),
                    Word::Unspaced(run) => run.len(),
                };
                prop_assert!((1..=MAX_RUN_LENGTH).contains(&length));
            }
        }
    }
}
