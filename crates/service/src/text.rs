//! Converts HTML to text, and truncates text.

use std::cell::{Cell, RefCell};

use lol_html::html_content::TextType;
use lol_html::{HtmlRewriter, MemorySettings, Settings, doc_text};

/// Elements that begin a new line.
const BLOCKS: [&str; 33] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// Maximum bytes of HTML that are read.
const MAX_HTML_BYTES: usize = 512 * 1024;
/// Maximum memory of the parser, which buffers unfinished tags.
const MAX_PARSER_BYTES: usize = 128 * 1024;
/// The size of the chunks that are passed to the parser.
const CHUNK_BYTES: usize = 16 * 1024;

/// Returns the visible text of HTML, one paragraph on each line, of at most `limit` bytes. Plain text is
/// unchanged.
pub(crate) fn html_to_text(html: &str, limit: usize) -> String {
    let text = RefCell::new(String::new());
    // White space and entities become shorter, so more text is read than is returned.
    let enough = limit.saturating_mul(4);
    let is_full = Cell::new(false);
    let settings = Settings {
        document_content_handlers: vec![doc_text!(|chunk| {
            // Skips the text of scripts and styles.
            if matches!(chunk.text_type(), TextType::Data | TextType::RCData) {
                let mut text = text.borrow_mut();
                text.push_str(chunk.as_str());
                is_full.set(text.len() > enough);
            }
            Ok(())
        })],
        memory_settings: MemorySettings {
            max_allowed_memory_usage: MAX_PARSER_BYTES,
            preallocated_parsing_buffer_size: 1024,
        },
        strict: false,
        ..Settings::new()
    };
    let mut parser = HtmlRewriter::new(settings, |_: &[u8]| ());
    let html = with_line_breaks(truncate_bytes(html, MAX_HTML_BYTES));
    // The text ends where the parser fails.
    let complete =
        html.as_bytes().chunks(CHUNK_BYTES).all(|chunk| !is_full.get() && parser.write(chunk).is_ok());
    if complete {
        let _ = parser.end();
    } else {
        drop(parser);
    }
    let text = text.take();
    let text = html_escape::decode_html_entities(&text);
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    truncate_bytes(&text, limit).trim_end().to_owned()
}

/// Inserts a line break before each of [`BLOCKS`]. Element handlers of the parser would take quadratic time:
/// it keeps a stack of open elements and compares each end tag with all of them.
fn with_line_breaks(html: &str) -> String {
    let mut broken = String::with_capacity(html.len() + html.len() / 8);
    let mut parts = html.split('<');
    broken.push_str(parts.next().unwrap_or_default());
    for tag in parts {
        let name = tag.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if BLOCKS.iter().any(|block| block.eq_ignore_ascii_case(&tag[..name])) {
            broken.push('\n');
        }
        broken.push('<');
        broken.push_str(tag);
    }
    broken
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
    fn extracts_the_visible_text() {
        let html = "<style>p{}</style><h1>Mugs &amp; cups</h1><p>Holds <b>320</b> ml</p><script>x<y</script>";
        assert_eq!(html_to_text(html, 1000), "Mugs & cups\nHolds 320 ml");
        assert_eq!(html_to_text("no HTML at all", 1000), "no HTML at all");
        assert_eq!(html_to_text("<p>unfinished <b", 1000), "unfinished");
        assert_eq!(html_to_text("<p>Grüße</p>", 4), "Gr\u{fc}");
    }

    #[test]
    fn keeps_text_that_is_split_between_chunks() {
        for before in CHUNK_BYTES - 12..CHUNK_BYTES {
            let html = format!("<!--{}--><p>Grüße &amp; 青瓷</p>", "x".repeat(before - 10));
            assert_eq!(html_to_text(&html, 1000), "Grüße & 青瓷");
        }
    }

    #[test]
    fn hostile_html_does_not_exhaust_the_parser() {
        // Neither memory nor time grows with the number of open elements.
        let deep = format!("before{}{}after", "<b>".repeat(50_000), "</i>".repeat(50_000));
        assert!(deep.len() < MAX_HTML_BYTES);
        assert_eq!(html_to_text(&deep, 1000), "beforeafter");
        let unfinished = format!("before<a {}", "x".repeat(2_000_000));
        assert_eq!(html_to_text(&unfinished, 1000), "before");
        let long = format!("<p>{}</p>", "word ".repeat(1_000_000));
        assert_eq!(html_to_text(&long, 1000).len(), 999);
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
            let text = html_to_text(&html, limit);
            prop_assert!(text.len() <= limit);
            prop_assert!(text.lines().all(|line| !line.trim().is_empty()));
            prop_assert!(excerpt(&text, limit / 3).chars().count() <= limit / 3 + 1);
            prop_assert!(truncate_words(&text, limit / 3).chars().count() <= limit / 3 + 1);
        }
    }
}
