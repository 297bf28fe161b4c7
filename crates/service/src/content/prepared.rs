//! An item with everything that is derived from it before it is stored.

use chat_page::marked;
use chat_protocol::{ContentItem, Value};
use reqwest::Url;

use super::address::{address_key, key_of_path};
use crate::knowledge::Language;
use crate::knowledge::index_terms::IndexTerms;
use crate::publishing::Suggestion;
use crate::text::{to_text, truncate_bytes, truncate_words};

/// Maximum bytes of an item's text that are stored and searched.
const MAX_TEXT_BYTES: usize = 32 * 1024;
/// Maximum characters of a title.
const MAX_TITLE_LENGTH: usize = 200;
/// Maximum bytes of a path or a URL; a longer one is dropped.
pub(super) const MAX_LOCATION_BYTES: usize = 2048;
/// Bytes that a stored item needs beside its texts.
const ROW_BYTES: usize = 400;

/// An item with everything derived from its HTML, which takes too long to compute in a transaction.
#[derive(Debug)]
pub(crate) struct PreparedItem {
    pub(super) item: ContentItem,
    pub(super) body: String,
    pub(super) title: String,
    pub(super) location: Option<String>,
    pub(super) keys: Keys,
    pub(super) text: String,
    pub(super) terms: IndexTerms,
    pub(super) suggestion: Option<Suggestion>,
}

/// The keys of an item's address and of its path, by which a page of a source is known to be the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    pub(super) address: Option<String>,
    pub(super) path: Option<String>,
}

impl Keys {
    pub(super) fn of(url: Option<&str>, path: Option<&str>) -> Self {
        let url = url.and_then(|url| Url::parse(url).ok()).filter(Url::has_host);
        Self { address: url.as_ref().map(address_key), path: path.and_then(key_of_path) }
    }
}

/// Prepares items for [`sync`], outside of any transaction. It may take long, for a page of large items.
pub(crate) fn prepare(items: Vec<ContentItem>) -> Vec<PreparedItem> {
    items.into_iter().map(PreparedItem::new).collect()
}

impl PreparedItem {
    fn new(item: ContentItem) -> Self {
        let parts = [item.summary.as_deref(), item.content.as_deref()];
        let texts: Vec<String> = parts
            .into_iter()
            .flatten()
            .map(|part| marked(&to_text(part, item.format, MAX_TEXT_BYTES)))
            .collect();
        let suggestion = Suggestion::of(&item);
        let text = truncate_bytes(&texts.join("\n"), MAX_TEXT_BYTES).to_owned();
        let title = without_nul(&truncate_words(item.title.as_deref().unwrap_or_default(), MAX_TITLE_LENGTH));
        let location = item.path.as_deref().or(item.url.as_deref()).map(without_nul);
        let language = Language::of_text(item.locale.as_deref().unwrap_or_default(), &text);
        Self {
            body: Value::from(&item).to_string(),
            terms: IndexTerms::of_knowledge(language, &[&title, &text]),
            location: location.filter(|location| location.len() <= MAX_LOCATION_BYTES),
            keys: Keys::of(item.url.as_deref(), item.path.as_deref()),
            title,
            text,
            suggestion,
            item,
        }
    }

    /// Returns the bytes that a new item needs, as the database counts them.
    pub(super) fn stored_bytes(&self) -> u64 {
        let bytes = ROW_BYTES + self.body.len() + 2 * self.text.len();
        bytes.try_into().unwrap_or(u64::MAX)
    }

    pub(super) fn locale(&self) -> &str {
        self.item.locale.as_deref().unwrap_or_default()
    }
}

/// Returns a text without NUL characters, which PostgreSQL does not store.
fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}
