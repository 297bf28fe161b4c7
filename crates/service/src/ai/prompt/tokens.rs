//! Estimates tokens. Every model counts in another way: this counts rather too many.

/// Returns how many tokens a text has at most, for nearly all models: one for three ASCII characters, and one
/// for each other character.
pub(super) fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|letter| !letter.is_ascii()).count();
    ascii.div_ceil(3) + others
}

/// Returns the beginning of a text that has at most this many tokens.
pub(super) fn within(text: &str, max: usize) -> &str {
    let mut thirds = 0;
    let end = text.char_indices().find_map(|(at, letter)| {
        thirds += if letter.is_ascii() { 1 } else { 3 };
        (thirds > max.saturating_mul(3)).then_some(at)
    });
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_has_at_most_the_tokens_that_it_may_have() {
        for text in ["Hello, where is my order?", "注文はどこですか", "Größe é 42 — 東京", ""]
        {
            for max in 0..40 {
                let part = within(text, max);
                assert!(tokens(part) <= max && text.starts_with(part), "{text} {max}");
            }
            assert_eq!(within(text, tokens(text)), text);
        }
    }
}
