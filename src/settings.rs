//! The options of a widget, and their conversion from those of the JavaScript entry.

mod options;

use chat_protocol::{Fields, Value, is_language_tag};
use chat_session::Reports;

pub use options::{ColorScheme, EventMode, Position, Settings};

use crate::browser::page;

/// Distance of the launcher from the edges of the page, in CSS pixels: 0 to 10,000, 20 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    /// From the side at which the launcher floats.
    pub x: Option<f64>,
    /// From the bottom.
    pub y: Option<f64>,
}

impl Settings {
    /// Returns which events the session reports on this page.
    pub(crate) fn reports(&self) -> Reports {
        match self.events {
            _ if page::asks_for_privacy() => Reports::Off,
            EventMode::Auto => Reports::Auto,
            EventMode::Manual => Reports::Manual,
            EventMode::Off => Reports::Off,
        }
    }

    /// Returns the settings with an absolute proxy address and a valid locale. The JavaScript entry does the
    /// same before it passes its options on.
    pub(crate) fn for_page(mut self) -> Self {
        self.proxy = page::absolute(&self.proxy);
        let locales = std::iter::once(self.locale.take()).chain(page::languages());
        // Java writes `_` in place of `-`.
        let mut tags = locales.flatten().map(|locale| locale.replace('_', "-"));
        self.locale = tags.find(|tag| is_language_tag(tag));
        self
    }
}

/// Default delay of the greeting: the visitor has read a part of the page by then.
const DEFAULT_GREETING_AFTER_MS: u32 = 8_000;
const DEFAULT_LANGUAGE: &str = "en";

/// Returns the choice whose word an option holds, or the default.
fn chosen<T: Copy + Default>(fields: &mut Fields, name: &str, words: &[&str], choices: &[T]) -> T {
    let text = fields.lenient_text(name);
    let at = words.iter().position(|word| text.as_deref() == Some(*word));
    at.and_then(|at| choices.get(at)).copied().unwrap_or_default()
}

/// Returns the texts of a list.
fn texts(fields: &mut Fields, name: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for value in fields.list(name).unwrap_or_default() {
        if let Value::Text(text) = value {
            texts.push(text);
        }
    }
    texts
}

/// Returns the texts of an object, with their names.
fn pairs(fields: &mut Fields, name: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    if let Value::Object(texts) = fields.take(name) {
        for (name, value) in texts {
            if let Value::Text(text) = value {
                pairs.push((name, text));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use chat_protocol::VisitorProfile;

    use super::*;
    use crate::choices::Direction;

    #[test]
    fn missing_and_invalid_options_fall_back_to_the_defaults() {
        let given = [("proxy", "/connector".into()), ("position", "middle".into()), ("strings", 7.into())];
        assert_eq!(Settings::from(Value::object(given)), Settings::new("/connector"));
        assert_eq!(Settings::from(Value::Null), Settings::new(""));
    }

    #[test]
    fn valid_options_are_read() {
        let settings = Settings::from(Value::object([
            ("proxy", "/connector".into()),
            ("position", "start".into()),
            ("colorScheme", "dark".into()),
            ("direction", "rtl".into()),
            ("events", "off".into()),
            ("operatorName", "Anna".into()),
            ("strings", Value::object([("send", "Go".into()), ("write", 3.into())])),
            ("suggestedQuestions", Value::List(vec!["How?".into()])),
            ("visitor", Value::object([("email", "anna@example.com".into())])),
            ("greetingAfter", 20.into()),
        ]));
        let expected = Settings {
            position: Position::Start,
            color_scheme: ColorScheme::Dark,
            direction: Direction::RightToLeft,
            events: EventMode::Off,
            operator_name: Some("Anna".to_owned()),
            strings: vec![("send".to_owned(), "Go".to_owned())],
            suggested_questions: vec!["How?".to_owned()],
            visitor: VisitorProfile {
                email: Some("anna@example.com".to_owned()),
                ..VisitorProfile::default()
            },
            greeting_after_ms: 20,
            ..Settings::new("/connector")
        };
        assert_eq!(settings, expected);
    }
}
