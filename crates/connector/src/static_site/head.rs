//! Puts an overlay into the head of a page.

use std::fmt::Write;

use chat_page::{Element, OVERLAY_MARK as MARK, replace_in_head};
use chat_protocol::Overlay;
use html_escape::{encode_double_quoted_attribute, encode_safe};

/// The head of a page cannot be read: the page is too large, or a tag in it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the head of the page")]
pub struct HeadError;

/// Returns the page with the overlay at the end of its head, in place of the page's own elements. The
/// overlay's values are escaped: they cannot add an element or a script. All other bytes of the page stay as
/// they are, in any encoding.
pub fn apply_to_head(page: &[u8], overlay: &Overlay) -> Result<Vec<u8>, HeadError> {
    replace_in_head(page, &tags(overlay), |element| is_replaced(element, overlay)).ok_or(HeadError)
}

/// Returns whether the overlay has something in place of an element.
fn is_replaced(element: Element<'_>, overlay: &Overlay) -> bool {
    let is = |attribute: &str, wanted: &str| {
        let value = element.attribute(attribute).unwrap_or_default();
        value.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted))
    };
    if element.attribute(MARK).is_some() {
        return true;
    }
    match element.name() {
        "title" => overlay.title.is_some() && element.is_in_head(),
        "link" => canonical(overlay).is_some() && is("rel", "canonical"),
        "meta" => {
            let properties = overlay.open_graph.iter().map(|(property, _)| property);
            (overlay.description.is_some() && is("name", "description"))
                || (overlay.robots.is_some() && is("name", "robots"))
                || properties.into_iter().any(|property| is("property", &format!("og:{property}")))
        }
        _ => false,
    }
}

/// Returns the canonical address, if it is one of the web.
fn canonical(overlay: &Overlay) -> Option<&str> {
    overlay.canonical_url.as_deref().filter(|url| url.starts_with("https://") || url.starts_with("http://"))
}

fn tags(overlay: &Overlay) -> String {
    let mut tags = String::new();
    let attribute = |text: &str| encode_double_quoted_attribute(text).into_owned();
    // Writing to a string cannot fail.
    if let Some(title) = &overlay.title {
        let _ = write!(tags, "<title {MARK}>{}</title>", encode_safe(title));
    }
    for (name, content) in [("description", &overlay.description), ("robots", &overlay.robots)] {
        if let Some(content) = content {
            let _ = write!(tags, "<meta {MARK} name=\"{name}\" content=\"{}\">", attribute(content));
        }
    }
    if let Some(url) = canonical(overlay) {
        let _ = write!(tags, "<link {MARK} rel=\"canonical\" href=\"{}\">", attribute(url));
    }
    for (property, content) in overlay.open_graph.iter().filter(|(property, _)| is_property(property)) {
        let _ = write!(tags, "<meta {MARK} property=\"og:{property}\" content=\"{}\">", attribute(content));
    }
    for data in &overlay.structured_data {
        // Escaped, so that no data can close the element, and that the encoding of the page does not matter.
        let data = ascii(&data.to_string());
        let _ = write!(tags, "<script {MARK} type=\"application/ld+json\">{data}</script>");
    }
    tags
}

/// Returns JSON in ASCII, without the beginning of a tag.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter.is_ascii() && letter != '<' {
            text.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

fn is_property(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_protocol::Value;
    use proptest::prelude::*;

    const PAGE: &str = "<!doctype html><html><head><title>Old</title><meta name=\"description\" content=\"old\">\
                        <meta property=\"og:title\" content=\"old\"></head><body><svg><title>in an svg</title></svg>\
                        </body></html>";

    fn overlay(text: &str) -> Overlay {
        Overlay {
            title: Some(text.to_owned()),
            description: Some(text.to_owned()),
            canonical_url: Some(format!("https://shop.example/{text}")),
            open_graph: vec![("title".to_owned(), text.to_owned()), ("bad\"".to_owned(), text.to_owned())],
            structured_data: vec![Value::object([("name", text.into())])],
            ..Overlay::default()
        }
    }

    fn applied(page: &str, overlay: &Overlay) -> String {
        String::from_utf8(apply_to_head(page.as_bytes(), overlay).expect("a page")).expect("UTF-8")
    }

    fn titled(title: &str) -> Overlay {
        Overlay { title: Some(title.to_owned()), ..Overlay::default() }
    }

    #[test]
    fn an_overlay_replaces_the_pages_own_elements() {
        let page = applied(PAGE, &overlay("New"));
        assert!(!page.contains("Old") && !page.contains("\"old\""), "{page}");
        assert!(page.contains("<title data-seo-overlay>New</title>") && page.contains("in an svg"), "{page}");
        assert_eq!(page.matches("og:").count(), 1);
    }

    #[test]
    fn applying_an_overlay_is_idempotent_and_replaces_the_previous_one() {
        for page in [PAGE, "<p>hi</p>", "<title>Old</title>\n\n hi", "<body><title>Old</title>", ""] {
            let once = applied(page, &overlay("New"));
            assert_eq!(applied(&once, &overlay("New")), once);
            assert_eq!(applied(&once, &overlay("Newer")), once.replace("New", "Newer"));
        }
    }

    #[test]
    fn an_overlay_stands_where_a_browser_begins_the_head() {
        let ours = "<title data-seo-overlay>New</title>";
        for (page, expected) in [
            (
                "<!doctype html><title>Returns</title><p>Send it back.",
                format!("<!doctype html>{ours}<p>Send it back."),
            ),
            ("<!doctype html>\n<p class='a>b'>hi", format!("<!doctype html>\n{ours}<p class='a>b'>hi")),
            ("<!-- a --><html lang=en>\n<body>hi", format!("<!-- a --><html lang=en>\n{ours}<body>hi")),
            ("<head><meta charset=utf-8><div>hi", format!("<head><meta charset=utf-8>{ours}<div>hi")),
            ("a < b", format!("{ours}a < b")),
            ("<head><style><!-- unfinished", format!("<head>{ours}<style><!-- unfinished")),
            ("<!doctype html><!-- unfinished", format!("<!doctype html>{ours}<!-- unfinished")),
        ] {
            assert_eq!(applied(page, &titled("New")), expected);
        }
    }

    #[test]
    fn an_overlay_is_written_in_the_encoding_of_the_page() {
        let latin = b"<meta charset=iso-8859-1><title>Gr\xfc\xdfe</title><p>\xd6l \x80</p>";
        let page = apply_to_head(latin, &titled("Öl 5 € 青")).expect("a page");
        let expected = b"<meta charset=iso-8859-1><title data-seo-overlay>\xd6l 5 \x80 &#38738;</title><p>\xd6l \x80</p>";
        assert_eq!(page, expected);
        let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let page = apply_to_head(&utf_16("\u{feff}<title>a</title><p>青"), &titled("瓷")).expect("a page");
        assert_eq!(page, utf_16("\u{feff}<title data-seo-overlay>瓷</title><p>青"));
    }

    #[test]
    fn an_overlay_is_not_read_as_the_pages_own_head() {
        let page = applied("<title>Old</title><meta name=description content=old><p>x", &overlay("New"));
        let head = chat_page::Page::read(page.as_bytes()).head;
        assert_eq!(head, chat_page::Head::default());
    }

    proptest! {
        #[test]
        fn escapes_all_texts_of_an_overlay(text in "[<>&\"'/a-z! -]{0,40}") {
            let page = apply_to_head(PAGE.as_bytes(), &overlay(&text)).expect("a page");
            // The same elements in place of the page's own, whatever the texts are.
            let elements = std::cell::RefCell::new(Vec::new());
            replace_in_head(&page, "", |element| {
                elements.borrow_mut().push(element.name().to_owned());
                false
            });
            let expected = ["html", "head", "title", "meta", "link", "meta", "script", "body", "svg:", "svg:"];
            prop_assert_eq!(elements.into_inner(), expected);
        }
    }
}
