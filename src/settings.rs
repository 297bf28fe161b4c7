//! What a site may choose, read from the page's options.

use chat_protocol::{Fields, Value, VisitorProfile, is_language_tag};
use chat_session::Reports;

use crate::browser::page;

/// The options of one widget, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Prefix of the proxy on the customer's site, such as `/connector`. Another origin is written in full.
    pub proxy: String,
    /// Locale of times, BCP 47, which the service is told as well. When it is not given, or is no language tag of at most
    /// 35 characters, it is the page's, then the browser's.
    pub locale: Option<String>,
    /// Language of the texts, BCP 47: English, unless `strings` translate them.
    pub language: String,
    /// `ltr` or `rtl`: how that language is written.
    pub direction: &'static str,
    /// `light`, `dark`, `auto`, or `theme`: what the theme was made for.
    pub color_scheme: &'static str,
    /// `end` or `start`: the side of the page, in the direction of reading.
    pub position: &'static str,
    /// `auto`: page views, opening and closing are reported by themselves; `manual`, `off`: they are not.
    pub events: &'static str,
    /// Texts in place of the widget's own, by their names; the forms of a plural by `name.category`, the categories
    /// being those of CLDR.
    pub strings: Vec<(String, String)>,
    /// Questions to begin with.
    pub suggested_questions: Vec<String>,
    /// What the site says about the visitor.
    pub visitor: VisitorProfile,
    /// The site's own name for the visitor.
    pub customer_id: Option<String>,
    /// The name to show for people.
    pub operator_name: Option<String>,
    /// When people answer, in the site's own words.
    pub reply_time: Option<String>,
    /// A few words beside the closed launcher.
    pub greeting: Option<String>,
    /// When they appear, milliseconds after the widget.
    pub greeting_after_ms: u32,
    /// The first lines of a message that comes in while the window is closed stand beside the launcher.
    pub preview: bool,
    /// Shown in the page, always open, in place of floating above it.
    pub inline: bool,
    /// Rendered into a shadow root; else into the host itself, where the page's style sheets reach it.
    pub isolate: bool,
    /// The visitor has agreed to be remembered, or need not be asked: until then nothing is kept and nothing reported.
    pub consent: bool,
    /// It has a launcher of its own. Without one, the page opens the window.
    pub launcher: bool,
}

impl Settings {
    /// The settings of a widget that talks to the proxy under this prefix; all else as it is when nobody chooses.
    pub fn new(proxy: &str) -> Self {
        Self {
            proxy: proxy.to_owned(),
            locale: None,
            language: ENGLISH.to_owned(),
            direction: DIRECTIONS[0],
            color_scheme: COLOR_SCHEMES[0],
            position: POSITIONS[0],
            events: EVENTS[0],
            strings: Vec::new(),
            suggested_questions: Vec::new(),
            visitor: VisitorProfile::default(),
            customer_id: None,
            operator_name: None,
            reply_time: None,
            greeting: None,
            greeting_after_ms: GREETING_AFTER_MS,
            preview: true,
            inline: false,
            isolate: true,
            consent: true,
            launcher: true,
        }
    }
}

impl Settings {
    /// What may be reported.
    pub(crate) fn reports(&self) -> Reports {
        match self.events {
            _ if page::asks_for_privacy() => Reports::Off,
            "auto" => Reports::Auto,
            "manual" => Reports::Manual,
            _ => Reports::Off,
        }
    }

    /// The settings for the page that they are used on: the proxy's address, and a locale that the service takes. The
    /// JavaScript entry does the same before it hands its options over.
    pub(crate) fn for_page(mut self) -> Self {
        self.proxy = page::absolute(&self.proxy);
        let locales = std::iter::once(self.locale.take()).chain(page::languages());
        // Many pages have it as Java writes it.
        let mut tags = locales.flatten().map(|locale| locale.replace('_', "-"));
        self.locale = tags.find(|tag| is_language_tag(tag));
        self
    }
}

/// A visitor has looked at the page for so long. Milliseconds.
const GREETING_AFTER_MS: u32 = 8_000;
const ENGLISH: &str = "en";
const COLOR_SCHEMES: [&str; 4] = ["theme", "auto", "light", "dark"];
const DIRECTIONS: [&str; 2] = ["ltr", "rtl"];
const POSITIONS: [&str; 2] = ["end", "start"];
const EVENTS: [&str; 3] = ["auto", "manual", "off"];

impl From<Value> for Settings {
    /// Options that the JavaScript entry has checked. What is wrong all the same is as if nobody had chosen.
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
        for (name, choices, place) in [
            ("colorScheme", &COLOR_SCHEMES[..], &mut settings.color_scheme),
            ("direction", &DIRECTIONS, &mut settings.direction),
            ("position", &POSITIONS, &mut settings.position),
            ("events", &EVENTS, &mut settings.events),
        ] {
            let chosen = fields.lenient_text(name);
            if let Some(choice) = choices.iter().find(|choice| chosen.as_deref() == Some(**choice)) {
                *place = choice;
            }
        }
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
            settings.greeting_after_ms = u32::try_from(ms).unwrap_or(GREETING_AFTER_MS);
        }
        settings.inline = fields.take("inline") == Value::Bool(true);
        settings.preview = fields.take("preview") != Value::Bool(false);
        settings.isolate = fields.take("isolate") != Value::Bool(false);
        settings.consent = fields.take("consent") != Value::Bool(false);
        settings.launcher = fields.take("launcher") != Value::Bool(false);
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_or_wrong_is_as_when_nobody_chooses() {
        let given = [("proxy", "/connector".into()), ("position", "middle".into()), ("strings", 7.into())];
        assert_eq!(Settings::from(Value::object(given)), Settings::new("/connector"));
        assert_eq!(Settings::from(Value::Null), Settings::new(""));
    }

    #[test]
    fn what_is_given_is_taken() {
        let settings = Settings::from(Value::object([
            ("proxy", "/connector".into()),
            ("position", "start".into()),
            ("operatorName", "Anna".into()),
            ("strings", Value::object([("send", "Go".into()), ("write", 3.into())])),
            ("suggestedQuestions", Value::List(vec!["How?".into()])),
            ("visitor", Value::object([("email", "anna@example.com".into())])),
            ("greetingAfter", 20.into()),
        ]));
        let visitor =
            VisitorProfile { email: Some("anna@example.com".to_owned()), ..VisitorProfile::default() };
        let expected = Settings {
            position: "start",
            operator_name: Some("Anna".to_owned()),
            strings: vec![("send".to_owned(), "Go".to_owned())],
            suggested_questions: vec!["How?".to_owned()],
            visitor,
            greeting_after_ms: 20,
            ..Settings::new("/connector")
        };
        assert_eq!(settings, expected);
    }
}
