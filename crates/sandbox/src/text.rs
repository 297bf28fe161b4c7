//! Text out of HTML, and words out of text.

use std::cell::RefCell;

use lol_html::html_content::TextType;
use lol_html::{RewriteStrSettings, doc_text, element, rewrite_str};

/// Elements after which a new line begins.
const BLOCKS: &str = "address,article,aside,blockquote,br,dd,div,dl,dt,figure,footer,h1,h2,h3,h4,h5,h6,header,hr,li,\
                      main,nav,ol,p,pre,section,table,td,th,tr,ul";

/// The text that a reader sees, a paragraph a line. What is no HTML stays as it is.
pub(crate) fn plain(html: &str) -> String {
    let text = RefCell::new(String::new());
    let settings = RewriteStrSettings {
        element_content_handlers: vec![element!(BLOCKS, |_| {
            text.borrow_mut().push('\n');
            Ok(())
        })],
        document_content_handlers: vec![doc_text!(|chunk| {
            // What stands in scripts and styles nobody reads.
            if matches!(chunk.text_type(), TextType::Data | TextType::RCData) {
                text.borrow_mut().push_str(chunk.as_str());
            }
            Ok(())
        })],
        ..RewriteStrSettings::new()
    };
    // What the parser gives up on is still text.
    let read = rewrite_str(html, settings).is_ok();
    let text = text.into_inner();
    let text = if read { html_escape::decode_html_entities(&text) } else { html.into() };
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The words of a text in small letters, without a plural's ending. Of a script that puts no spaces between words, each
/// character is one.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> = spaced(text)
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| {
            let word = word.to_lowercase();
            match word.strip_suffix('s') {
                Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
                _ => word,
            }
        })
        .collect();
    words.into_iter()
}

/// The text with spaces around each character of a script that puts none between words.
pub(crate) fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for character in text.chars() {
        if is_a_word(character) {
            spaced.extend([' ', character, ' ']);
        } else {
            spaced.push(character);
        }
    }
    spaced
}

/// Chinese, Japanese and Thai write words without spaces.
pub(crate) fn is_a_word(character: char) -> bool {
    matches!(character, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// The beginning of a text, cut between words, with at most so many characters.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let cut = text[..end].rfind(' ').unwrap_or(end);
    format!("{}…", &text[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_a_reader_of_the_page_sees() {
        let html = "<style>p{}</style><h1>Mugs &amp; cups</h1><p>Holds <b>320</b> ml</p><script>x<y</script>";
        assert_eq!(plain(html), "Mugs & cups\nHolds 320 ml");
        assert_eq!(plain("no HTML at all"), "no HTML at all");
        assert_eq!(plain("<p>unfinished <b"), "unfinished");
    }

    #[test]
    fn a_beginning_ends_between_words() {
        assert_eq!(beginning("one two three", 9), "one two…");
        assert_eq!(beginning("one two", 9), "one two");
    }
}
