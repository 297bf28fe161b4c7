//! The texts of the interface, in the operator's language, and numbers and times as that language writes
//! them.
//!
//! English is compiled in. Another language is a file that is loaded before the console is shown; a text that
//! it lacks stays English.

mod intl;
pub mod language;
pub mod units;

use std::collections::HashMap;
use std::sync::OnceLock;

pub use intl::{
    clock, date_time, day, list_time, number, plural_category, relative, time_zone, time_zones, until,
};

include!(concat!(env!("OUT_DIR"), "/texts.rs"));

/// A loaded language.
struct Language {
    #[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "for `Intl`"))]
    tag: String,
    texts: HashMap<String, String>,
}

static LANGUAGE: OnceLock<Language> = OnceLock::new();

/// A text of the interface. `{name}` stands for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    path: &'static str,
    english: &'static str,
}

impl Text {
    /// Returns the text of a path, in English where the operator's language lacks it.
    pub const fn new(path: &'static str, english: &'static str) -> Self {
        Self { path, english }
    }

    /// Returns the text in the operator's language.
    pub fn get(self) -> &'static str {
        loaded(self.path).unwrap_or(self.english)
    }

    /// Returns the text with its values filled in. Values are inserted as they are.
    pub fn with(self, values: &[(&str, &str)]) -> String {
        fill(self.get(), values)
    }
}

/// A text that depends on a number, which stands for `{count}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plural {
    path: &'static str,
    one: &'static str,
    other: &'static str,
}

impl Plural {
    const fn new(path: &'static str, one: &'static str, other: &'static str) -> Self {
        Self { path, one, other }
    }

    /// Returns the text for a number.
    pub fn count(self, count: i64) -> String {
        self.with(count, &[])
    }

    /// Returns the text for a number, with further values.
    pub fn with(self, count: i64, values: &[(&str, &str)]) -> String {
        let category = plural_category(count);
        let form = LANGUAGE.get().and_then(|language| {
            let form = |category: &str| language.texts.get(&format!("{}.{category}", self.path));
            form(&category).or_else(|| form("other")).map(String::as_str)
        });
        let english = if category == "one" { self.one } else { self.other };
        let number = number(count);
        let mut all = vec![("count", number.as_str())];
        all.extend_from_slice(values);
        fill(form.unwrap_or(english), &all)
    }
}

/// Returns a text of `service.json`, which the service names, with `{detail}` filled in; `None` in English,
/// as the service says it.
pub fn translated(path: &str, detail: &str) -> Option<String> {
    loaded(path).map(|text| fill(text, &[("detail", detail)]))
}

fn loaded(path: &str) -> Option<&'static str> {
    LANGUAGE.get()?.texts.get(path).map(String::as_str)
}

/// Replaces each `{name}` in one pass, so that values are never searched for names.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let found = after.split_once('}').and_then(|(name, rest)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, rest))
        });
        if let Some((value, after)) = found {
            filled.push_str(value);
            rest = after;
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled.push_str(rest);
    filled
}

/// Returns the BCP 47 tag of the interface's language.
#[cfg(target_arch = "wasm32")]
fn language() -> &'static str {
    LANGUAGE.get().map_or("en", |language| language.tag.as_str())
}

/// Loads the texts of the chosen language, or of the first of the browser's languages that the console has.
/// `fetch` gets the tag of the language.
pub async fn load_language<E>(fetch: impl AsyncFnOnce(&'static str) -> Result<HashMap<String, String>, E>) {
    let Some(tag) = chosen_language().or_else(|| {
        let preferred = crate::browser::languages();
        preferred.iter().find_map(|locale| language::language_of(locale))
    }) else {
        return;
    };
    if tag == language::ENGLISH {
        return;
    }
    if let Ok(texts) = fetch(tag).await {
        if let Some(root) = crate::browser::document().document_element() {
            _ = root.set_attribute("lang", tag);
            _ = root.set_attribute("dir", language::direction(tag));
        }
        _ = LANGUAGE.set(Language { tag: tag.to_owned(), texts });
    }
}

/// The key under which this browser stores the chosen language.
const CHOSEN: &str = "language";

/// Returns the language that the operator chose in this browser; `None` follows the browser's languages.
pub fn chosen_language() -> Option<&'static str> {
    language::language_of(&crate::browser::storage::read::<String>(CHOSEN)?)
}

/// Stores the choice of a language, and loads the page again to show it. An unknown tag follows the
/// browser's languages.
pub fn choose_language(tag: &str) {
    if tag.is_empty() {
        crate::browser::storage::remove(CHOSEN);
    } else {
        crate::browser::storage::write(CHOSEN, &tag);
    }
    _ = crate::browser::window().location().reload();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_in_once_and_never_searched() {
        assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "2")]), "{b} and 2");
        assert_eq!(fill("{unknown} {a", &[("a", "1")]), "{unknown} {a");
    }

    #[test]
    fn a_plural_takes_the_form_of_its_number() {
        let plural = Plural::new("test.messages", "{count} message", "{count} messages");
        assert_eq!(plural.count(1), "1 message");
        assert_eq!(plural.count(0), "0 messages");
        assert_eq!(plural.count(2), "2 messages");
    }
}
