// Written by `npm run options` from `www/option-table.mjs`.

use chat_protocol::{Fields, Value, VisitorProfile};

use super::{DEFAULT_GREETING_AFTER_MS, DEFAULT_LANGUAGE, Offset, chosen, pairs, texts};
use crate::choices::{Direction, choice};

choice! {
    /// Whether the widget is light or dark.
    ColorScheme {
        /// The theme's own scheme.
        #[default]
        Theme = "theme",
        /// The scheme of the visitor's system.
        Auto = "auto",
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
    }
}

choice! {
    /// The side of the page at which the launcher floats, in the direction of reading.
    Position {
        /// On the right where text runs from left to right.
        #[default]
        End = "end",
        /// On the left where text runs from left to right.
        Start = "start",
    }
}

choice! {
    /// The visitor events that are reported (2.7). Global Privacy Control turns all of them off.
    EventMode {
        /// Page views, opening and closing, clicks on `data-chat-cta`, and events that the application
        /// tracks.
        #[default]
        Auto = "auto",
        /// Events that the application tracks.
        Manual = "manual",
        /// No events.
        Off = "off",
    }
}

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
    /// Tokens in place of the theme's: names without `--cw-`, such as `accent`, and values of CSS.
    /// `docs/themes.md` lists them.
    pub theme_tokens: Vec<(String, String)>,
    /// Light or dark scheme.
    pub color_scheme: ColorScheme,
    /// Side of the page at which the launcher floats.
    pub position: Position,
    /// Distance of the launcher from the edges of the page.
    pub offset: Offset,
    /// `z-index` of the floating widget. 2,147,483,000 by default.
    pub z_index: Option<i32>,
    /// Whether the widget has a launcher. Without one, the page opens the window.
    pub launcher: bool,
    /// Whether the widget fills its place in the page, always open, instead of floating.
    pub inline: bool,
    /// Whether the widget renders into a shadow root. Without one, it renders into its host element, where
    /// the page's style sheets reach it.
    pub isolate: bool,
    /// Locale of times, BCP 47, at most 35 characters. The service receives it as well. Without a valid one,
    /// the page's `lang` applies, then the browser's language.
    pub locale: Option<String>,
    /// Language of the texts, BCP 47. `en`, unless `strings` translate them.
    pub language: String,
    /// Direction of that language.
    pub direction: Direction,
    /// The greeting beside the launcher of the closed window.
    pub greeting: Option<String>,
    /// Delay of the greeting, in milliseconds. 8,000 by default, at most a day.
    pub greeting_after_ms: u32,
    /// At most 20 questions to start with, each of 1 to 4,000 characters.
    pub suggested_questions: Vec<String>,
    /// The displayed name of all operators. Without it, the widget shows the name that the service tells, if
    /// any.
    pub operator_name: Option<String>,
    /// The usual time of an answer, in the site's own words, such as "We usually answer within a day".
    pub reply_time: Option<String>,
    /// Texts in place of the widget's own, by their names. Plural forms have names such as `newMessages.one`,
    /// with the categories of CLDR.
    pub strings: Vec<(String, String)>,
    /// Whether the first lines of a message that arrives while the window is closed appear next to the
    /// launcher.
    pub preview: bool,
    /// The contact link that is shown when the chat cannot run, or takes no messages of the visitor: an
    /// address that begins with `https://`, `mailto:` or `tel:`.
    pub contact: Option<String>,
    /// Events that are reported to the service.
    pub events: EventMode,
    /// Whether the visitor has given consent, or does not need to. Otherwise nothing is stored or reported.
    pub consent: bool,
    /// The visitor's profile, as the site knows it (2.8).
    pub visitor: VisitorProfile,
    /// The site's own id of the visitor, at most 200 characters. Another id has another conversation.
    pub customer_id: Option<String>,
}

impl Settings {
    /// Returns the default settings for the proxy under this prefix.
    pub fn new(proxy: &str) -> Self {
        Self {
            proxy: proxy.to_owned(),
            theme_tokens: Vec::new(),
            color_scheme: ColorScheme::default(),
            position: Position::default(),
            offset: Offset::default(),
            z_index: None,
            launcher: true,
            inline: false,
            isolate: true,
            locale: None,
            language: DEFAULT_LANGUAGE.to_owned(),
            direction: Direction::default(),
            greeting: None,
            greeting_after_ms: DEFAULT_GREETING_AFTER_MS,
            suggested_questions: Vec::new(),
            operator_name: None,
            reply_time: None,
            strings: Vec::new(),
            preview: true,
            contact: None,
            events: EventMode::default(),
            consent: true,
            visitor: VisitorProfile::default(),
            customer_id: None,
        }
    }
}

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
            ("greeting", &mut settings.greeting),
            ("operatorName", &mut settings.operator_name),
            ("replyTime", &mut settings.reply_time),
            ("contact", &mut settings.contact),
            ("customerId", &mut settings.customer_id),
        ] {
            *place = fields.lenient_text(name);
        }
        settings.color_scheme = chosen(&mut fields, "colorScheme", ColorScheme::WORDS, ColorScheme::ALL);
        settings.position = chosen(&mut fields, "position", Position::WORDS, Position::ALL);
        settings.launcher = fields.take("launcher") != Value::Bool(false);
        settings.inline = fields.take("inline") == Value::Bool(true);
        settings.isolate = fields.take("isolate") != Value::Bool(false);
        if let Some(text) = fields.lenient_text("language") {
            settings.language = text;
        }
        settings.direction = chosen(&mut fields, "direction", Direction::WORDS, Direction::ALL);
        if let Value::Integer(ms) = fields.take("greetingAfter") {
            settings.greeting_after_ms = u32::try_from(ms).unwrap_or(DEFAULT_GREETING_AFTER_MS);
        }
        settings.suggested_questions = texts(&mut fields, "suggestedQuestions");
        settings.strings = pairs(&mut fields, "strings");
        settings.preview = fields.take("preview") != Value::Bool(false);
        settings.events = chosen(&mut fields, "events", EventMode::WORDS, EventMode::ALL);
        settings.consent = fields.take("consent") != Value::Bool(false);
        settings.visitor = VisitorProfile::try_from(fields.take("visitor")).unwrap_or_default();
        settings
    }
}
