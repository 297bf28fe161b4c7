//! What a site may choose, read from the page's options.

use chat_protocol::{Fields, Unusable, Value, VisitorProfile};

/// The options of one widget, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Prefix of the proxy on the customer's site.
    pub proxy: String,
    /// Locale of times, BCP 47, which the service is told as well; the page's when it is not given.
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
    /// Shown in the page, always open, in place of floating above it.
    pub inline: bool,
    /// Rendered into a shadow root; else into the host itself, where the page's style sheets reach it.
    pub isolate: bool,
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
            inline: false,
            isolate: true,
            launcher: true,
        }
    }
}

impl Settings {
    /// Without a locale of the site's, `other` gives one.
    pub(crate) fn settle_locale(&mut self, other: impl FnOnce() -> Option<String>) {
        self.locale = self.locale.take().or_else(other);
    }
}

/// A visitor has looked at the page for so long. Milliseconds.
const GREETING_AFTER_MS: u32 = 8_000;
const ENGLISH: &str = "en";
const COLOR_SCHEMES: [&str; 4] = ["theme", "auto", "light", "dark"];
const DIRECTIONS: [&str; 2] = ["ltr", "rtl"];
const POSITIONS: [&str; 2] = ["end", "start"];
const EVENTS: [&str; 3] = ["auto", "manual", "off"];

impl TryFrom<Value> for Settings {
    type Error = Unusable;

    fn try_from(options: Value) -> Result<Self, Unusable> {
        let mut fields = Fields::of(options)?;
        // One by one into a whole: each early end then has the same to clear away, which weighs a kilobyte less.
        let mut settings = Self::new(&fields.text("proxy")?);
        for (name, place) in [
            ("locale", &mut settings.locale),
            ("customerId", &mut settings.customer_id),
            ("operatorName", &mut settings.operator_name),
            ("replyTime", &mut settings.reply_time),
            ("greeting", &mut settings.greeting),
        ] {
            *place = fields.optional_text(name)?.filter(|text| !text.is_empty());
        }
        for (name, choices, place) in [
            ("colorScheme", &COLOR_SCHEMES[..], &mut settings.color_scheme),
            ("direction", &DIRECTIONS, &mut settings.direction),
            ("position", &POSITIONS, &mut settings.position),
            ("events", &EVENTS, &mut settings.events),
        ] {
            *place = one_of(name, fields.optional_text(name)?, choices)?;
        }
        if let Some(language) = fields.optional_text("language")? {
            settings.language = language;
        }
        settings.strings = texts(fields.take("strings"))?;
        settings.suggested_questions = questions(fields.take("suggestedQuestions"))?;
        let visitor = fields.take("visitor");
        if visitor != Value::Null {
            settings.visitor =
                VisitorProfile::try_from(visitor).map_err(|unusable| unusable.within("visitor"))?;
        }
        if let Value::Integer(ms) = fields.take("greetingAfter") {
            settings.greeting_after_ms = u32::try_from(ms).unwrap_or(GREETING_AFTER_MS);
        }
        settings.inline = fields.take("inline") == Value::Bool(true);
        settings.isolate = fields.take("isolate") != Value::Bool(false);
        settings.launcher = fields.take("launcher") != Value::Bool(false);
        Ok(settings)
    }
}

/// The choice made, or the first one.
fn one_of(name: &str, chosen: Option<String>, choices: &[&'static str]) -> Result<&'static str, Unusable> {
    let Some(chosen) = chosen else { return Ok(choices[0]) };
    let mut others = String::new();
    for choice in choices {
        if *choice == chosen {
            return Ok(choice);
        }
        others = others + " " + choice + ",";
    }
    Err(Unusable::new(name, format!("must be one of{others} not {chosen}")))
}

fn texts(given: Value) -> Result<Vec<(String, String)>, Unusable> {
    let members = match given {
        Value::Null => Vec::new(),
        Value::Object(members) => members,
        _ => return Err(Unusable::new("strings", "must be an object")),
    };
    let mut texts = Vec::new();
    for (name, value) in members {
        match value {
            Value::Text(text) => texts.push((name, text)),
            _ => return Err(Unusable::new(&name, "must be a string").within("strings")),
        }
    }
    Ok(texts)
}

fn questions(given: Value) -> Result<Vec<String>, Unusable> {
    let wrong = || Unusable::new("suggestedQuestions", "must be an array of strings");
    let items = match given {
        Value::Null => Vec::new(),
        Value::List(items) => items,
        _ => return Err(wrong()),
    };
    let mut questions = Vec::new();
    for item in items {
        match item {
            Value::Text(question) => questions.push(question),
            _ => return Err(wrong()),
        }
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(members: Vec<(&str, Value)>) -> Result<Settings, Unusable> {
        let with_proxy = std::iter::once(("proxy", Value::from("/connector"))).chain(members);
        Settings::try_from(Value::Object(with_proxy.map(|(name, value)| (name.to_owned(), value)).collect()))
    }

    #[test]
    fn the_proxy_is_the_one_option_that_must_be_there() {
        assert_eq!(Settings::try_from(Value::object([])).unwrap_err().to_string(), "proxy is missing");
        let settings = read(vec![]).expect("usable");
        assert_eq!((settings.color_scheme, settings.position, settings.direction), ("theme", "end", "ltr"));
    }

    #[test]
    fn a_wrong_option_is_named_with_what_it_may_be() {
        let refusal = read(vec![("colorScheme", "pink".into())]).unwrap_err().to_string();
        assert_eq!(refusal, "colorScheme must be one of theme, auto, light, dark, not pink");
        let refusal = read(vec![("strings", Value::object([("send", 3.into())]))]).unwrap_err().to_string();
        assert_eq!(refusal, "strings.send must be a string");
        assert!(read(vec![("suggestedQuestions", "one".into())]).is_err());
    }
}
