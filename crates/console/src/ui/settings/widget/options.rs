//! The options of the widget that an operator has chosen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::option::{Field, WidgetOption};
use super::table::OPTIONS;

/// The theme whose accent the site chooses.
pub const CUSTOM_THEME: &str = "custom";
/// The proxy's path on the site's own server, as docs/server.md has it.
const OWN_PROXY: &str = "/connector";

/// The chosen options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WidgetOptions {
    /// The texts of the controls, by the names of the options.
    pub texts: BTreeMap<String, String>,
    /// The accent of the custom theme.
    pub accent: String,
    /// Whether pages use the proxy paths of the service instead of a proxy on the site's own server.
    pub uses_service: bool,
    /// The proxy's path on the site's own server.
    pub proxy: String,
}

impl Default for WidgetOptions {
    fn default() -> Self {
        Self {
            texts: BTreeMap::new(),
            accent: "#0f766e".to_owned(),
            uses_service: false,
            proxy: OWN_PROXY.to_owned(),
        }
    }
}

impl WidgetOptions {
    /// Returns the text of an option's control.
    pub fn text(&self, option: &WidgetOption) -> &str {
        self.texts.get(option.name).map_or(option.default(), String::as_str)
    }

    /// Sets the text of an option's control.
    pub fn set_text(&mut self, option: &WidgetOption, text: String) {
        self.texts.insert(option.name.to_owned(), text);
    }

    /// Returns whether the site chooses the accent.
    pub fn has_accent(&self) -> bool {
        self.texts.get("theme").is_some_and(|theme| theme == CUSTOM_THEME)
    }

    /// Returns the options that differ from their defaults, with their values.
    pub fn changed(&self) -> impl Iterator<Item = (&'static WidgetOption, Value)> {
        OPTIONS.iter().filter_map(|option| Some((option, option.value(self.text(option))?)))
    }

    /// Returns the options that differ from their defaults, with `proxy` first, by their names in JavaScript.
    pub fn chosen(&self, proxy: &str) -> Vec<(&'static str, Value)> {
        let mut chosen = vec![("proxy", Value::from(proxy))];
        for (option, value) in self.changed() {
            let has_accent = matches!(option.field, Field::Theme) && value == CUSTOM_THEME;
            chosen.push((option.name, value));
            if has_accent {
                chosen.push(("themeTokens", json!({ "accent": self.accent })));
            }
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

    fn options(texts: &Value) -> WidgetOptions {
        serde_json::from_value(json!({ "texts": texts })).expect("options")
    }

    #[test]
    fn only_options_that_differ_from_their_defaults_are_named() {
        let proxy = vec![("proxy", json!("/connector"))];
        assert_eq!(WidgetOptions::default().chosen("/connector"), proxy);
        let options = options(&json!({
            "theme": "custom",
            "colorScheme": "theme",
            "greeting": "  Hello ",
            "suggestedQuestions": "Do you ship?\n\n  Returns? \n",
            "consent": "required",
            "operatorName": " ",
        }));
        let expected = [
            ("theme", json!("custom")),
            ("themeTokens", json!({ "accent": "#0f766e" })),
            ("greeting", json!("Hello")),
            ("suggestedQuestions", json!(["Do you ship?", "Returns?"])),
            ("consent", json!("required")),
        ];
        assert_eq!(options.chosen("/connector")[1..], expected);
    }

    #[test]
    fn the_preview_tracks_nobody() {
        let preview =
            options(&json!({ "events": "manual", "consent": "required" })).of_preview("/connector/site_1");
        assert_eq!(preview["events"], "off");
        assert_eq!(preview["proxy"], "/connector/site_1");
        assert!(preview.get("consent").is_none());
    }

    #[test]
    fn stored_options_of_another_version_are_read() {
        let read = options(&json!({ "theme": "rose", "later": "1" }));
        assert_eq!(read.chosen("/connector")[1..], [("theme", json!("rose"))]);
    }
}
