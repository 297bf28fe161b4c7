//! The options of a widget, and their conversion from those of the JavaScript entry.

use chat_protocol::{Fields, Value, VisitorProfile, is_language_tag};
use chat_session::Reports;

use crate::browser::page;
use crate::choices::{ColorScheme, Direction, EventMode, Position};

/// The options of one widget.
///
/// [`Settings::new`] gives the defaults; each field can be set on its own. `docs/frontend.md` explains the
/// options by the same names in camel case.
///
/// ```
/// use chat_widget::{ColorScheme, Position, Settings};
///
/// let mut settings = Settings::new("/connector");
/// settings.position = Position::Start;
/// settings.color_scheme = ColorScheme::Auto;
/// settings.theme_tokens.push(("radius-window".to_owned(), "8px".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Prefix of the proxy on the site, such as `/connector`; an address in full for another origin.
    pub proxy: String,
    /// Locale of times, BCP 47, at most 35 characters. The service receives it as well. Without a valid one,
    /// the page's `lang` applies, then the browser's language.
    pub locale: Option<String>,
    /// Language of the texts, BCP 47. `en`, unless `strings` translate them.
    pub language: String,
    /// Direction of that language.
    pub direction: Direction,
    /// Light or dark scheme.
    pub color_scheme: ColorScheme,
    /// Side of the page at which the launcher floats.
    pub position: Position,
    /// Distance of the launcher from the edges of the page.
    pub offset: Offset,
    /// `z-index` of the floating widget. 2,147,483,000 by default.
    pub z_index: Option<i32>,
    /// Tokens in place of the theme's: names without `--cw-`, such as `accent`, and values of CSS.
    /// `docs/themes.md` lists them.
    pub theme_tokens: Vec<(String, String)>,
    /// Events that are reported to the service.
    pub events: EventMode,
    /// Texts in place of the widget's own, by their names. Plural forms have names such as `newMessages.one`,
    /// with the categories of CLDR.
    pub strings: Vec<(String, String)>,
    /// Questions that are offered at the start of a conversation. At most 20, each of 1 to 4,000 characters.
    pub suggested_questions: Vec<String>,
    /// The visitor's profile, as the site knows it (2.8).
    pub visitor: VisitorProfile,
    /// The site's own id of the visitor, at most 200 characters. Another id has another conversation.
    pub customer_id: Option<String>,
    /// Name shown for operators.
    pub operator_name: Option<String>,
    /// The usual reply time of operators, in the site's own words.
    pub reply_time: Option<String>,
    /// The greeting beside the launcher of the closed window.
    pub greeting: Option<String>,
    /// Delay of the greeting, in milliseconds. 8,000 by default, at most a day.
    pub greeting_after_ms: u32,
    /// Whether a new message is previewed beside the launcher of the closed window.
    pub preview: bool,
    /// Whether the widget fills its place in the page, always open, instead of floating.
    pub inline: bool,
    /// Whether the widget renders into a shadow root. Without one, it renders into its host element, where
    /// the page's style sheets reach it.
    pub isolate: bool,
    /// Whether the visitor has given consent, or does not need to. Otherwise nothing is stored or reported.
    pub consent: bool,
    /// Whether the widget has a launcher. Without one, the page opens the window.
    pub launcher: bool,
}

/// Distance of the launcher from the edges of the page, in CSS pixels: 0 to 10,000, 20 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    /// From the side at which the launcher floats.
    pub x: Option<f64>,
    /// From the bottom.
    pub y: Option<f64>,
}

impl Settings {
    /// Returns the default settings for the proxy under this prefix.
    pub fn new(proxy: &str) -> Self {
        Self {
            proxy: proxy.to_owned(),
            locale: None,
            language: DEFAULT_LANGUAGE.to_owned(),
            direction: Direction::default(),
            color_scheme: ColorScheme::default(),
            position: Position::default(),
            offset: Offset::default(),
            z_index: None,
            theme_tokens: Vec::new(),
            events: EventMode::default(),
            strings: Vec::new(),
            suggested_questions: Vec::new(),
            visitor: VisitorProfile::default(),
            customer_id: None,
            operator_name: None,
            reply_time: None,
            greeting: None,
            greeting_after_ms: DEFAULT_GREETING_AFTER_MS,
            preview: true,
            inline: false,
            isolate: true,
            consent: true,
            launcher: true,
        }
    }

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

impl From<Value> for Settings {
    /// Reads options that the JavaScript entry has validated. An invalid value falls back to the default.
    ///
    /// Tokens, offset and z-index are not read: the entry sets them on the host element itself
    /// (`www/host-page.ts`).
    fn from(options: Value) -> Self {
        let mut fields = Fields::lenient(options);
        let mut settings = Self::new(&fields.lenient_text("proxy").unwrap_or_default());
        for (name, place) in [
            ("locale", &mut settings.locale),
            ("customerId", &mut settings.customer_id),
            ("operatorName", &mut settings.operator_name),
            ("replyTime", &mut settings.reply_time),
            ("greeting", &mut settings.greeting),
        ] {
            *place = fields.lenient_text(name);
        }
        settings.color_scheme = chosen(&mut fields, "colorScheme", ColorScheme::WORDS, ColorScheme::ALL);
        settings.direction = chosen(&mut fields, "direction", Direction::WORDS, Direction::ALL);
        settings.position = chosen(&mut fields, "position", Position::WORDS, Position::ALL);
        settings.events = chosen(&mut fields, "events", EventMode::WORDS, EventMode::ALL);
        if let Some(language) = fields.lenient_text("language") {
            settings.language = language;
        }
        if let Value::Object(texts) = fields.take("strings") {
            for (name, value) in texts {
                if let Value::Text(text) = value {
                    settings.strings.push((name, text));
                }
            }
        }
        for question in fields.list("suggestedQuestions").unwrap_or_default() {
            if let Value::Text(question) = question {
                settings.suggested_questions.push(question);
            }
        }
        settings.visitor = VisitorProfile::try_from(fields.take("visitor")).unwrap_or_default();
        if let Value::Integer(ms) = fields.take("greetingAfter") {
            settings.greeting_after_ms = u32::try_from(ms).unwrap_or(DEFAULT_GREETING_AFTER_MS);
        }
        settings.inline = fields.take("inline") == Value::Bool(true);
        settings.preview = fields.take("preview") != Value::Bool(false);
        settings.isolate = fields.take("isolate") != Value::Bool(false);
        settings.consent = fields.take("consent") != Value::Bool(false);
        settings.launcher = fields.take("launcher") != Value::Bool(false);
        settings
    }
}

/// Returns the choice whose word an option holds, or the default.
fn chosen<T: Copy + Default>(fields: &mut Fields, name: &str, words: &[&str], choices: &[T]) -> T {
    let text = fields.lenient_text(name);
    let at = words.iter().position(|word| text.as_deref() == Some(*word));
    at.and_then(|at| choices.get(at)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

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
