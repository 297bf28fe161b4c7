//! An option of the widget, as the settings offer it.

use serde_json::Value;

use crate::text::Text;

/// An option, as the form offers it.
pub struct WidgetOption {
    /// Its name in JavaScript.
    pub name: &'static str,
    pub label: Text,
    pub help: Option<Text>,
    /// The placeholder of the empty field.
    pub sample: Option<Text>,
    pub control: Control,
    /// Its place in a Leptos component.
    pub field: Field,
    /// Its name in the API; its name, if the service does not have it.
    pub path: &'static str,
    /// Whether the chat config delivers it. The others are in the page's code.
    pub is_of_site: bool,
    /// Whether two such options share a row.
    pub is_half: bool,
    /// Whether the text has no spelling.
    pub is_code: bool,
}

/// The control of an option.
pub enum Control {
    Text,
    /// Texts, one on each line.
    Lines,
    /// One of these values, of which the first is the default.
    Choice(&'static [(&'static str, Text)]),
    /// One of two values, of which `off` is the default.
    Switch {
        off: &'static str,
        on: &'static str,
    },
}

/// The place of an option in a Leptos component. All but the theme are fields of `Settings`, by their names.
pub enum Field {
    None,
    /// The property `theme`.
    Theme,
    Text(&'static str),
    Texts(&'static str),
    /// A choice, with its type.
    Choice(&'static str, &'static str),
    /// The value of a boolean for anything but the option's default.
    Flag(&'static str, bool),
}

impl WidgetOption {
    /// Returns the text of the control without a choice.
    pub fn default(&self) -> &'static str {
        match self.control {
            Control::Text | Control::Lines => "",
            Control::Choice(values) => values.first().map_or("", |(value, _)| value),
            Control::Switch { off, .. } => off,
        }
    }

    /// Returns the value for a text of the control; `None` for the default.
    pub fn value(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        if text.is_empty() || text == self.default() {
            return None;
        }
        Some(match self.control {
            Control::Lines => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
            _ => text.into(),
        })
    }
}
