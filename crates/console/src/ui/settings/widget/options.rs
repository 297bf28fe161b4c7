//! The options of the widget that an operator has chosen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::option::{Field, WidgetOption};
use super::table::OPTIONS;

/// The theme whose accent the site chooses.
pub const CUSTOM_THEME: &str = "custom";
/// The option with the tokens of the theme, and the token that the form shows.
const TOKENS: &str = "themeTokens";
const ACCENT: &str = "accent";
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
    /// Further tokens of the theme, which the form does not show.
    pub tokens: Map<String, Value>,
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
            tokens: Map::new(),
            uses_service: false,
            proxy: OWN_PROXY.to_owned(),
        }
    }
}

impl WidgetOptions {
    /// Sets the options of a site to those that it has saved.
    pub fn restore(&mut self, saved: &BTreeMap<String, Value>) {
        let is_of_page =
            |name: &String| OPTIONS.iter().any(|option| !option.is_of_site && option.name == name);
        self.texts.retain(|name, _| is_of_page(name));
        for option in OPTIONS.iter().filter(|option| option.is_of_site) {
            if let Some(value) = saved.get(option.name) {
                self.set_text(option, control_text(value));
            }
        }
        self.accent = Self::default().accent;
        self.tokens = saved.get(TOKENS).and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(Value::String(accent)) = self.tokens.remove(ACCENT) {
            self.accent = accent;
        }
    }

    /// Returns the options that a site saves, by their names.
    pub fn of_site(&self) -> BTreeMap<String, Value> {
        let mut saved: BTreeMap<String, Value> = self
            .changed()
            .filter(|(option, _)| option.is_of_site)
            .map(|(option, value)| (option.name.to_owned(), value))
            .collect();
        if let Some(tokens) = self.tokens() {
            saved.insert(TOKENS.to_owned(), tokens);
        }
        saved
    }

    /// Returns the options that are in the code of a page whose config has those of the site.
    pub fn of_page(&self) -> Self {
        let mut options = self.clone();
        options.restore(&BTreeMap::new());
        options
    }

    /// Returns the tokens of the theme.
    fn tokens(&self) -> Option<Value> {
        let mut tokens = self.tokens.clone();
        if self.has_accent() {
            tokens.insert(ACCENT.to_owned(), self.accent.clone().into());
        }
        (!tokens.is_empty()).then_some(Value::Object(tokens))
    }

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
        let mut tokens = self.tokens();
        for (option, value) in self.changed() {
            chosen.push((option.name, value));
            if matches!(option.field, Field::Theme) {
                chosen.extend(tokens.take().map(|tokens| (TOKENS, tokens)));
            }
        }
        chosen.extend(tokens.map(|tokens| (TOKENS, tokens)));
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

/// Returns the text of a control for a value.
fn control_text(value: &Value) -> String {
    match value {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        value => attribute_text(value),
    }
}

/// Returns a value as the text of an attribute.
pub fn attribute_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    fn the_site_saves_its_options_and_the_code_has_the_others() {
        let saved = BTreeMap::from([
            ("theme".to_owned(), json!("custom")),
            ("themeTokens".to_owned(), json!({ "accent": "#123456", "radius-window": "8px" })),
            ("suggestedQuestions".to_owned(), json!(["Do you ship?", "Returns?"])),
        ]);
        let mut options = options(&json!({ "greeting": "Not saved", "locale": "de", "load": "intent" }));
        options.restore(&saved);
        assert_eq!(options.of_site(), saved);
        assert_eq!(
            options.of_page().chosen("/connector")[1..],
            [("locale", json!("de")), ("load", json!("intent"))]
        );
        options.set_text(&OPTIONS[0], "rose".to_owned());
        assert_eq!(options.of_site()["themeTokens"], json!({ "radius-window": "8px" }));
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
