//! The options of the widget that the settings offer, and the code that puts them onto a page.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The presets of `themes/`, the default one first.
pub const THEMES: [&str; 11] = [
    "teal",
    "blue",
    "emerald",
    "violet",
    "amber",
    "rose",
    "slate",
    "light_teal",
    "light_blue",
    "light_amber",
    "light_rose",
];
/// The theme whose accent the site chooses.
pub const CUSTOM_THEME: &str = "custom";
/// The proxy's path on the site's own server, as docs/server.md has it.
pub const OWN_PROXY: &str = "/connector";

/// The options, as the form has them. An empty text, and the first of several values, is the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WidgetOptions {
    /// A preset, or [`CUSTOM_THEME`].
    pub theme: String,
    /// The accent of the custom theme.
    pub accent: String,
    /// `theme`, `auto`, `light` or `dark`.
    pub color_scheme: String,
    /// `end` or `start`.
    pub position: String,
    /// `default`, `none` or a selector.
    pub launcher: String,
    /// A BCP 47 tag.
    pub locale: String,
    /// Questions to click, one on each line.
    pub suggested_questions: String,
    /// A text beside the closed launcher.
    pub greeting: String,
    /// The name that visitors see for a person who answers.
    pub operator_name: String,
    /// When a person answers.
    pub reply_time: String,
    /// `idle`, `intent` or `eager`.
    pub load: String,
    /// `auto`, `manual` or `off`.
    pub events: String,
    /// Whether nothing is stored before the visitor agrees.
    pub needs_consent: bool,
    /// Whether pages use the proxy paths of the service instead of a proxy on the site's own server.
    pub uses_service: bool,
    /// The proxy's path on the site's own server.
    pub proxy: String,
}

impl Default for WidgetOptions {
    fn default() -> Self {
        Self {
            theme: THEMES[0].to_owned(),
            accent: "#0f766e".to_owned(),
            color_scheme: "theme".to_owned(),
            position: "end".to_owned(),
            launcher: "default".to_owned(),
            locale: String::new(),
            suggested_questions: String::new(),
            greeting: String::new(),
            operator_name: String::new(),
            reply_time: String::new(),
            load: "idle".to_owned(),
            events: "auto".to_owned(),
            needs_consent: false,
            uses_service: false,
            proxy: OWN_PROXY.to_owned(),
        }
    }
}

impl WidgetOptions {
    /// Returns the questions to click.
    pub fn questions(&self) -> Vec<&str> {
        self.suggested_questions.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
    }

    /// Returns the options that differ from their defaults, with `proxy` first, by their names in JavaScript.
    pub fn chosen(&self, proxy: &str) -> Vec<(&'static str, Value)> {
        let default = Self::default();
        let mut chosen = vec![("proxy", Value::from(proxy))];
        let mut text = |name, value: &str, default: &str| {
            if !value.trim().is_empty() && value != default {
                chosen.push((name, Value::from(value.trim())));
            }
        };
        text("theme", &self.theme, &default.theme);
        text("colorScheme", &self.color_scheme, &default.color_scheme);
        text("position", &self.position, &default.position);
        text("launcher", &self.launcher, &default.launcher);
        text("locale", &self.locale, "");
        text("greeting", &self.greeting, "");
        text("operatorName", &self.operator_name, "");
        text("replyTime", &self.reply_time, "");
        text("load", &self.load, &default.load);
        text("events", &self.events, &default.events);
        if self.needs_consent {
            chosen.push(("consent", Value::from("required")));
        }
        if self.theme == CUSTOM_THEME && !self.accent.is_empty() {
            chosen.push(("themeTokens", json!({ "accent": self.accent })));
        }
        let questions = self.questions();
        if !questions.is_empty() {
            chosen.push(("suggestedQuestions", json!(questions)));
        }
        chosen
    }

    /// Returns the options of the preview, whose page takes them as texts. It reports no events, and its
    /// conversation is not that of a page's visitor.
    pub fn of_preview(&self, proxy: &str) -> Value {
        let mut options = Map::new();
        for (name, value) in self.chosen(proxy) {
            if !["events", "consent", "load"].contains(&name) {
                options.insert(name.to_owned(), attribute_text(&value).into());
            }
        }
        options.insert("events".to_owned(), "off".into());
        options.insert("load".to_owned(), "eager".into());
        options.insert("customerId".to_owned(), "console-preview".into());
        Value::Object(options)
    }
}

/// Returns a value as the text of an attribute.
pub fn attribute_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_that_differ_from_their_defaults_are_named() {
        let proxy = vec![("proxy", json!("/connector"))];
        assert_eq!(WidgetOptions::default().chosen("/connector"), proxy);
        let options = WidgetOptions {
            theme: CUSTOM_THEME.to_owned(),
            greeting: "  Hello ".to_owned(),
            suggested_questions: "Do you ship?\n\n  Returns? \n".to_owned(),
            needs_consent: true,
            ..WidgetOptions::default()
        };
        let expected = [
            ("theme", json!("custom")),
            ("greeting", json!("Hello")),
            ("consent", json!("required")),
            ("themeTokens", json!({ "accent": "#0f766e" })),
            ("suggestedQuestions", json!(["Do you ship?", "Returns?"])),
        ];
        assert_eq!(options.chosen("/connector")[1..], expected);
    }

    #[test]
    fn the_preview_tracks_nobody() {
        let options =
            WidgetOptions { events: "manual".to_owned(), needs_consent: true, ..Default::default() };
        let preview = options.of_preview("/connector/site_1");
        assert_eq!(preview["events"], "off");
        assert_eq!(preview["proxy"], "/connector/site_1");
        assert!(preview.get("consent").is_none());
    }

    #[test]
    fn stored_options_of_another_version_are_read() {
        let read: WidgetOptions = serde_json::from_str(r#"{"theme":"rose","later":1}"#).expect("options");
        assert_eq!(read, WidgetOptions { theme: "rose".to_owned(), ..WidgetOptions::default() });
    }
}
