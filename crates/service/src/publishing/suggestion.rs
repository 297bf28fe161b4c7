//! Overlays that are suggested for synced pages.

use chat_protocol::{ContentItem, ContentKind, Overlay, Value};

use crate::text::truncate_words;

/// Maximum characters of a title in the list.
const MAX_TITLE_LENGTH: usize = 200;
/// Maximum characters of an overlay's title, as search engines show it.
const MAX_OVERLAY_TITLE_LENGTH: usize = 60;
/// Maximum characters of an overlay's description, as search engines show it.
const MAX_DESCRIPTION_LENGTH: usize = 155;

/// A suggested overlay for a synced page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Suggestion {
    pub(super) path: String,
    pub(super) locale: String,
    pub(super) title: String,
    pub(super) overlay: Overlay,
}

impl Suggestion {
    /// Suggests an overlay for an item that has a path and a title; `text` is the text of the page.
    pub(crate) fn new(item: &ContentItem, text: &str) -> Option<Self> {
        let path = item.path.clone()?;
        let title = truncate_words(item.title.as_deref()?, MAX_TITLE_LENGTH);
        let overlay = overlay(item, &path, &title, text);
        Some(Self { path, locale: item.locale.clone().unwrap_or_default(), title, overlay })
    }
}

fn overlay(item: &ContentItem, path: &str, title: &str, text: &str) -> Overlay {
    let description = truncate_words(text, MAX_DESCRIPTION_LENGTH);
    let short = truncate_words(title, MAX_OVERLAY_TITLE_LENGTH);
    let kind = match item.kind {
        ContentKind::Product => "Product",
        ContentKind::Article => "Article",
        _ => "WebPage",
    };
    let title_property = if kind == "Article" { "headline" } else { "name" };
    let structured_data = Value::object([
        ("@context", "https://schema.org".into()),
        ("@type", kind.into()),
        (title_property, title.into()),
        ("description", description.as_str().into()),
        ("url", item.url.clone().into()),
    ]);
    Overlay {
        path: Some(path.to_owned()),
        locale: item.locale.clone(),
        open_graph: vec![
            ("title".to_owned(), short.clone()),
            ("description".to_owned(), description.clone()),
        ],
        title: Some(short),
        description: Some(description),
        canonical_url: item.url.clone(),
        structured_data: vec![structured_data],
        ..Overlay::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: Option<&str>, path: Option<&str>) -> ContentItem {
        let mut item = ContentItem::new("1", ContentKind::Article);
        item.title = title.map(str::to_owned);
        item.path = path.map(str::to_owned);
        item
    }

    #[test]
    fn needs_a_path_and_a_title() {
        assert_eq!(Suggestion::new(&page(None, Some("/glaze")), ""), None);
        assert_eq!(Suggestion::new(&page(Some("Glaze"), None), ""), None);
        assert!(Suggestion::new(&page(Some("Glaze"), Some("/glaze")), "").is_some());
    }

    #[test]
    fn cuts_texts_to_the_length_that_search_engines_show() {
        let long = "word ".repeat(1000);
        let suggestion = Suggestion::new(&page(Some(&long), Some("/glaze")), &long).expect("a suggestion");
        let length = |text: Option<&String>| text.expect("a text").chars().count();
        assert!(suggestion.title.chars().count() <= MAX_TITLE_LENGTH);
        assert!(length(suggestion.overlay.title.as_ref()) <= MAX_OVERLAY_TITLE_LENGTH);
        assert!(length(suggestion.overlay.description.as_ref()) <= MAX_DESCRIPTION_LENGTH);
    }
}
