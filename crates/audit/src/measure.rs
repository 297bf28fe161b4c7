//! The width of texts, and their words.

use unicode_segmentation::UnicodeSegmentation;

/// Widths of the characters from the space to `~`, in thousandths of the size of Arial.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Width of any other character of an alphabet.
const USUAL_WIDTH: u32 = 580;

/// The size of titles in search results, in pixels.
pub(crate) const TITLE_SIZE: u32 = 20;
/// The size of descriptions in search results, in pixels.
pub(crate) const DESCRIPTION_SIZE: u32 = 14;

/// Returns about how many pixels wide a text is, in letters of this size.
pub(crate) fn pixels(text: &str, size: u32) -> u32 {
    let thousandths = text.chars().fold(0_u32, |sum, letter| sum.saturating_add(width(letter)));
    thousandths.saturating_mul(size) / 1000
}

fn width(letter: char) -> u32 {
    let index = usize::try_from(u32::from(letter)).unwrap_or(usize::MAX).wrapping_sub(32);
    match WIDTHS.get(index) {
        Some(width) => u32::from(*width),
        None if is_combining(letter) => 0,
        None if is_wide(letter) => 1000,
        None => USUAL_WIDTH,
    }
}

fn is_combining(letter: char) -> bool {
    matches!(letter, '\0'..='\x1f' | '\u{300}'..='\u{36f}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}'
        | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Returns whether a character takes the place of two Latin letters.
pub(crate) fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}')
}

/// Returns whether a character belongs to a script that is written without spaces between words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3fffd}')
}

/// Returns the words of a text in lower case, as Unicode divides it. A Chinese character is a word.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

/// Returns the number of words. In scripts without spaces, two characters count as one.
pub(crate) fn count(words: &[String]) -> usize {
    let halves = |word: &String| match word.chars().filter(|letter| is_unspaced(*letter)).count() {
        0 => 2,
        letters => letters,
    };
    words.iter().map(halves).sum::<usize>() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chinese_character_is_as_wide_as_two_letters() {
        assert_eq!(pixels("茶壺", TITLE_SIZE), 40);
        assert_eq!(pixels("a", TITLE_SIZE), 11);
        assert_eq!(pixels("e\u{301}", TITLE_SIZE), 11);
    }

    #[test]
    fn words_are_counted_in_all_scripts() {
        let of = |text: &str| count(&words(text));
        assert_eq!(of("It's 3.50 a mug, isn't it?"), 6);
        assert_eq!(of("我们的茶杯是手工制作的"), 5);
        assert_eq!(of("手作りのマグカップです"), 5);
        assert_eq!(of("الأكواب مصنوعة يدويا"), 3);
        assert_eq!(of(""), 0);
    }
}
