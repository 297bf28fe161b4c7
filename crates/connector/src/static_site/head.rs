//! Puts an overlay into the head of a page.

use std::cell::Cell;
use std::fmt::Write;

use chat_protocol::Overlay;
use html_escape::{encode_double_quoted_attribute, encode_safe};
use lol_html::html_content::ContentType;
use lol_html::{RewriteStrSettings, element, rewrite_str};

/// The attribute that marks all elements of an overlay.
const MARK: &str = "data-seo-overlay";

/// An overlay cannot be applied to a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// The page has no head.
    #[error("the page has no <head>")]
    NoHead,
    /// The page cannot be parsed.
    #[error("cannot parse the page: {0}")]
    Page(String),
}

/// Returns the page with the overlay at the end of its head, in place of the page's own elements. The
/// overlay's values are escaped: they cannot add an element or a script.
pub fn apply_to_head(page: &str, overlay: &Overlay) -> Result<String, HeadError> {
    let mut replaced = vec![format!("[{MARK}]")];
    let mut replace = |is_said: bool, selector: &str| {
        if is_said {
            replaced.push(selector.to_owned());
        }
    };
    replace(overlay.title.is_some(), "head > title");
    replace(overlay.description.is_some(), "meta[name=description]");
    replace(overlay.robots.is_some(), "meta[name=robots]");
    replace(overlay.canonical_url.is_some(), "link[rel=canonical]");
    for (property, _) in &overlay.open_graph {
        if is_property(property) {
            replace(true, &format!("meta[property=\"og:{property}\"]"));
        }
    }
    let tags = tags(overlay);
    let has_head = Cell::new(false);
    let settings = RewriteStrSettings {
        element_content_handlers: vec![
            element!(replaced.join(","), |element| {
                element.remove();
                Ok(())
            }),
            element!("head", |head| {
                if !has_head.replace(true) {
                    head.append(&tags, ContentType::Html);
                }
                Ok(())
            }),
        ],
        ..RewriteStrSettings::new()
    };
    let written = rewrite_str(page, settings).map_err(|error| HeadError::Page(error.to_string()))?;
    if has_head.get() { Ok(written) } else { Err(HeadError::NoHead) }
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
    if let Some(url) = overlay
        .canonical_url
        .as_deref()
        .filter(|url| url.starts_with("https://") || url.starts_with("http://"))
    {
        let _ = write!(tags, "<link {MARK} rel=\"canonical\" href=\"{}\">", attribute(url));
    }
    for (property, content) in overlay.open_graph.iter().filter(|(property, _)| is_property(property)) {
        let _ = write!(tags, "<meta {MARK} property=\"og:{property}\" content=\"{}\">", attribute(content));
    }
    for data in &overlay.structured_data {
        // Escaped, so that no data can close the element.
        let data = data.to_string().replace('<', "\\u003c");
        let _ = write!(tags, "<script {MARK} type=\"application/ld+json\">{data}</script>");
    }
    tags
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
                        <meta property=\"og:title\" content=\"old\"></head><body><title>in an svg</title></body></html>";

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

    #[test]
    fn an_overlay_replaces_the_pages_own_elements() {
        let page = apply_to_head(PAGE, &overlay("New")).expect("a page");
        assert!(!page.contains("Old") && !page.contains("\"old\""), "{page}");
        assert!(page.contains("<title data-seo-overlay>New</title>") && page.contains("in an svg"), "{page}");
        assert_eq!(page.matches("og:").count(), 1);
    }

    #[test]
    fn applying_an_overlay_is_idempotent_and_replaces_the_previous_one() {
        let once = apply_to_head(PAGE, &overlay("New")).expect("a page");
        assert_eq!(apply_to_head(&once, &overlay("New")), Ok(once.clone()));
        let other = apply_to_head(&once, &overlay("Newer")).expect("a page");
        assert_eq!(other, once.replace("New", "Newer"));
    }

    #[test]
    fn refuses_a_page_without_a_head() {
        assert_eq!(apply_to_head("<p>hi</p>", &overlay("x")), Err(HeadError::NoHead));
    }

    proptest! {
        #[test]
        fn escapes_all_texts_of_an_overlay(text in "[<>&\"'/a-z! -]{0,40}") {
            let page = apply_to_head(PAGE, &overlay(&text)).expect("a page");
            // The page's own elements, without the replaced ones, and the six of the overlay.
            let elements = std::cell::RefCell::new(Vec::new());
            let settings = RewriteStrSettings {
                element_content_handlers: vec![element!("*", |element| {
                    elements.borrow_mut().push(element.tag_name());
                    Ok(())
                })],
                ..RewriteStrSettings::new()
            };
            rewrite_str(&page, settings).expect("a page");
            let expected = ["html", "head", "title", "meta", "link", "meta", "script", "body", "title"];
            prop_assert_eq!(elements.into_inner(), expected);
        }
    }
}
