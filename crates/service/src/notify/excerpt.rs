//! The beginning of what a visitor wrote, in one line.

/// Returns a text without line breaks and other control characters, among them those that change the
/// direction of what follows.
pub(crate) fn one_line(text: &str) -> String {
    let is_gap = |letter: char| {
        letter.is_control()
            || letter.is_whitespace()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let words: Vec<&str> = text.split(is_gap).collect();
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of a text in one line, of at most `max_length` characters and an ellipsis.
pub(crate) fn excerpt(text: &str, max_length: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(max_length) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_bounded_line() {
        assert_eq!(excerpt("  Hello\r\n\tBcc: a@b\0 ", 20), "Hello Bcc: a@b");
        assert_eq!(excerpt("pay \u{202e}elpmaxe.live\u{2069}", 20), "pay elpmaxe.live");
        let long = excerpt(&"ä".repeat(1000), 100);
        assert_eq!(long.chars().count(), 101);
        assert!(long.ends_with('…'));
    }
}
