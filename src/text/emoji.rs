//! Messages of a few emoji, which are shown larger.

/// Maximum emoji of such a message.
const MAX_EMOJI: usize = 3;

/// Returns whether a text is one to three emoji and nothing else.
pub fn is_emoji(text: &str) -> bool {
    let mut count = 0;
    let mut joined = false;
    for letter in text.chars() {
        match letter {
            // Parts of the previous emoji: joiner, variation selector, skin tones.
            '\u{200d}' => joined = true,
            ' ' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => {}
            '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' => {
                count += usize::from(!std::mem::take(&mut joined));
            }
            _ => return false,
        }
    }
    (1..=MAX_EMOJI).contains(&count)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::is_emoji;

    #[test]
    fn up_to_three_emoji_are_shown_larger_and_no_other_text() {
        for text in ["👍", " 🎉🎉🎉 ", "👩🏽‍🚀", "❤️"] {
            assert!(is_emoji(text), "{text}");
        }
        for text in ["", " ", "ok 👍", "😀😀😀😀", "1", "…", "\u{200d}"] {
            assert!(!is_emoji(text), "{text}");
        }
    }
}
