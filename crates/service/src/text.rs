//! Converts what a site sends to text, and truncates text.

use chat_page::{is_html, text_of_html};
use chat_protocol::TextFormat;
use html_escape::decode_html_entities;

/// Maximum bytes of HTML that are read.
const MAX_HTML_BYTES: usize = 512 * 1024;

/// Returns the text of HTML or of plain text, of at most `limit` bytes: a line for each paragraph, and `#`
/// before headings, as in [`chat_page::text_of`]. Without a format, a text with tags is HTML. Another one is
/// plain text, in which character references are resolved.
pub(crate) fn to_text(source: &str, format: Option<TextFormat>, limit: usize) -> String {
    let source = truncate_bytes(source, MAX_HTML_BYTES);
    let text = match format {
        Some(TextFormat::Text) => lines(source),
        None if !is_html(source) => lines(&decode_html_entities(source)),
        Some(TextFormat::Html) | None => text_of_html(source),
    };
    truncate_bytes(&text, limit).trim_end().to_owned()
}

/// Returns plain text without empty lines. White space before a line may keep it from being a heading.
fn lines(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Truncates a text between words to at most `limit` characters.
pub(crate) fn truncate_words(text: &str, limit: usize) -> String {
    // Each word has at least one character.
    let words = text.split_whitespace().take(limit);
    let mut truncated = String::new();
    let mut length = 0;
    for word in words {
        let gap = usize::from(length > 0);
        let word_length: usize = word.chars().take(limit + 1).count();
        if length + gap + word_length > limit {
            if length == 0 {
                truncated.extend(word.chars().take(limit));
            }
            truncated.push('…');
            return truncated;
        }
        if gap > 0 {
            truncated.push(' ');
        }
        truncated.push_str(word);
        length += gap + word_length;
    }
    truncated
}

/// Returns the beginning of a text, of at most `limit` characters and an ellipsis: whole sentences if they
/// fill at least a third of it, else whole words.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return text.to_owned();
    };
    let text = &text[..end];
    let ends = |(index, character): (usize, char)| {
        let after = &text[index + character.len_utf8()..];
        let is_end = match character {
            '.' | '!' | '?' | '…' => after.starts_with(char::is_whitespace),
            '。' | '！' | '？' => true,
            _ => false,
        };
        is_end.then(|| text.len() - after.len())
    };
    let sentences = text.char_indices().filter_map(ends).next_back().filter(|end| *end >= text.len() / 3);
    if let Some(end) = sentences {
        return text[..end].to_owned();
    }
    let words = text.rfind(char::is_whitespace).unwrap_or(text.len());
    format!("{}…", text[..words].trim_end())
}

/// Truncates a text to at most `limit` bytes.
pub(crate) fn truncate_bytes(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cases;

    #[test]
    fn a_text_is_read_in_its_format() {
        let html = "<h1>Mugs &amp; cups</h1><p>Holds <b>320</b> ml</p><script>x<y</script>";
        assert_eq!(to_text(html, Some(TextFormat::Html), 1000), "# Mugs & cups\nHolds 320 ml");
        assert_eq!(to_text(html, None, 1000), "# Mugs & cups\nHolds 320 ml");
        assert_eq!(to_text(html, Some(TextFormat::Text), 1000), html);
        for text in ["Put the <script> line before the end.", "Ann <ann@shop.example>", "a < b\nc > d", "<3"]
        {
            assert_eq!(to_text(text, None, 1000), text);
        }
        assert_eq!(to_text("Tom &amp; Jerry", None, 1000), "Tom & Jerry");
        assert_eq!(to_text("<p>Grüße</p>", None, 4), "Gr\u{fc}");
    }

    #[test]
    fn hostile_html_takes_no_more_than_linear_time() {
        let deep = format!("<p>before</p>{}{}after", "<b>".repeat(50_000), "</i>".repeat(50_000));
        assert!(deep.len() < MAX_HTML_BYTES);
        assert_eq!(to_text(&deep, None, 1000), "before\nafter");
        let unfinished = format!("<p>before</p><a {}", "x".repeat(2_000_000));
        assert_eq!(to_text(&unfinished, None, 1000), "before");
        let long = format!("<p>{}</p>", "word ".repeat(1_000_000));
        assert_eq!(to_text(&long, None, 1000).len(), 999);
    }

    #[test]
    fn truncates_between_words() {
        assert_eq!(truncate_words("one two three", 9), "one two…");
        assert_eq!(truncate_words("one two", 9), "one two");
        assert_eq!(truncate_words(&"x".repeat(1_000_000), 3), "xxx…");
    }

    #[test]
    fn an_excerpt_ends_at_a_sentence_or_a_word() {
        assert_eq!(excerpt("It holds 3.5 dl. It is blue. It is round.", 32), "It holds 3.5 dl. It is blue.");
        assert_eq!(excerpt("它很大。它是蓝色的。它是圆的。", 8), "它很大。");
        assert_eq!(excerpt("It holds some three and a half", 20), "It holds some three…");
        assert_eq!(excerpt("Short.", 20), "Short.");
    }

    /// Generates tags, entities and text, complete and broken.
    fn html() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "<(/|)(p|b|div|svg|math|table|select|script|style|textarea|plaintext|title|template)( [a-z]{0,3}=\"?|)>?",
            "(<!--|-->|<!doctype|<!\\[CDATA\\[|]]>|&#x?[0-9a-f]{0,9};?|&[a-z]{1,6};?|\n|\u{0}|<|青瓷|e\u{301})",
            ".{0,12}",
        ];
        prop::collection::vec((piece, 1_usize..40), 0..60)
            .prop_map(|pieces| pieces.into_iter().map(|(piece, times)| piece.repeat(times)).collect())
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn any_html_becomes_non_empty_lines_within_the_limit(html in html(), limit in 0_usize..2000) {
            let text = to_text(&html, None, limit);
            prop_assert!(text.len() <= limit);
            prop_assert!(text.lines().all(|line| !line.trim().is_empty()));
            prop_assert!(excerpt(&text, limit / 3).chars().count() <= limit / 3 + 1);
            prop_assert!(truncate_words(&text, limit / 3).chars().count() <= limit / 3 + 1);
        }
    }
}
