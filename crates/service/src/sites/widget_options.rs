//! The options of the widget that a site sets for its pages. The chat config delivers them, and the page's
//! own options win (decision 0063).

mod table;

use std::collections::BTreeMap;

use chat_protocol::FieldError;
use serde_json::Value;

use crate::limits::MAX_LIST_LENGTH;

/// Maximum characters of all options as JSON. With the other texts, the copy of the config that a browser
/// keeps has at most 4,096.
const MAX_LENGTH: usize = 2000;
/// Maximum characters of a text.
const MAX_TEXT_LENGTH: usize = 500;
const FIELD: &str = "widgetOptions";

/// The values that an option may have. Browsers check them as well.
enum Check {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text.
    Text,
    /// An address by which the team can be reached.
    Contact,
    /// Texts, at most so many.
    Texts { max: usize },
    /// Texts by the names of tokens.
    Tokens,
}

impl Check {
    /// Returns the problem of a value, if it has one.
    fn problem(&self, value: &Value) -> Option<String> {
        let is_text = |value: &Value| {
            value.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= MAX_TEXT_LENGTH)
        };
        match (self, value) {
            (Self::Choice(words), Value::String(word)) if words.contains(&word.as_str()) => None,
            (Self::Choice(words), _) => Some(format!("must be one of {}", words.join(", "))),
            (Self::Text, value) if is_text(value) => None,
            (Self::Text, _) => Some(format!("must be a text of 1 to {MAX_TEXT_LENGTH} characters")),
            (Self::Contact, Value::String(address)) if is_text(value) && is_contact(address) => None,
            (Self::Contact, _) => Some("must be an address with https:, mailto: or tel:".to_owned()),
            (Self::Texts { max }, Value::Array(texts))
                if texts.len() <= *max && texts.iter().all(is_text) =>
            {
                None
            }
            (Self::Texts { max }, _) => {
                Some(format!("must be at most {max} texts of 1 to {MAX_TEXT_LENGTH} characters"))
            }
            (Self::Tokens, Value::Object(tokens)) if tokens.len() <= MAX_LIST_LENGTH => {
                let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
                let is_valid = tokens.iter().all(|(name, value)| is_name(name) && is_text(value));
                (!is_valid).then(|| "must be texts by the names of tokens, such as accent".to_owned())
            }
            (Self::Tokens, _) => Some(format!("must be an object of at most {MAX_LIST_LENGTH} tokens")),
        }
    }
}

/// Returns whether an address is one that a browser makes a link of.
fn is_contact(address: &str) -> bool {
    let is_plain = !address.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    is_plain
        && match reqwest::Url::parse(address) {
            Ok(url) if url.scheme() == "https" => url.has_host() && url.username().is_empty(),
            Ok(url) => matches!(url.scheme(), "mailto" | "tel") && !url.path().is_empty(),
            Err(_) => false,
        }
}

/// Returns the attributes of a script tag by which a page sets these options itself.
pub(crate) fn option_attributes() -> Vec<String> {
    let attribute = |name: &str| {
        name.chars().fold("data-".to_owned(), |mut attribute, letter| {
            if letter.is_ascii_uppercase() {
                attribute.push('-');
            }
            attribute.push(letter.to_ascii_lowercase());
            attribute
        })
    };
    table::OPTIONS.iter().map(|(name, _)| attribute(name)).collect()
}

/// Checks options, and returns them as they are stored.
pub(super) fn checked_options(options: &BTreeMap<String, Value>) -> Result<String, FieldError> {
    for (name, value) in options {
        let known = table::OPTIONS.iter().find(|(known, _)| known == name);
        let problem = match known {
            Some((_, check)) => check.problem(value),
            None => Some("is no option that a site sets for its pages".to_owned()),
        };
        if let Some(problem) = problem {
            return Err(FieldError::new(name, problem).within(FIELD));
        }
    }
    let text = serde_json::to_string(options).unwrap_or_default();
    if text.chars().count() > MAX_LENGTH {
        return Err(FieldError::new(FIELD, format!("must have at most {MAX_LENGTH} characters in all")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(options: Value) -> Result<String, String> {
        let options = serde_json::from_value(options).expect("an object");
        checked_options(&options).map_err(|error| error.to_string())
    }

    #[test]
    fn keeps_options_as_a_page_would_set_them() {
        let options = json!({
            "theme": "custom",
            "themeTokens": { "accent": "#0a6b4a" },
            "colorScheme": "auto",
            "position": "start",
            "launcher": "none",
            "greeting": "Hello 👋",
            "suggestedQuestions": ["Do you ship?"],
            "operatorName": "Maren",
            "replyTime": "Within a day",
            "contact": "mailto:shop@shop.example",
        });
        let text = checked(options.clone()).expect("valid options");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), options);
        assert_eq!(table::OPTIONS.len(), options.as_object().expect("an object").len());
        assert_eq!(option_attributes()[..2], ["data-theme", "data-theme-tokens"]);
    }

    #[test]
    fn names_the_option_that_is_wrong() {
        for (options, problem) in [
            (json!({ "theme": "pink" }), "widgetOptions.theme must be one of teal, blue"),
            (json!({ "theme": null }), "widgetOptions.theme must be one of"),
            (json!({ "greeting": "" }), "widgetOptions.greeting must be a text"),
            (json!({ "greeting": "x".repeat(501) }), "widgetOptions.greeting must be a text"),
            (json!({ "suggestedQuestions": "one" }), "widgetOptions.suggestedQuestions must be at most 20"),
            (
                json!({ "suggestedQuestions": vec!["?"; 21] }),
                "widgetOptions.suggestedQuestions must be at most",
            ),
            (
                json!({ "suggestedQuestions": vec!["x".repeat(200); 11] }),
                "widgetOptions must have at most 2000",
            ),
            (json!({ "themeTokens": { "Accent;": "red" } }), "widgetOptions.themeTokens must be texts"),
            (json!({ "themeTokens": { "accent": 7 } }), "widgetOptions.themeTokens must be texts"),
            (json!({ "themeTokens": [] }), "widgetOptions.themeTokens must be an object"),
            (json!({ "contact": "javascript:alert(1)" }), "widgetOptions.contact must be an address"),
            (json!({ "contact": "http://shop.example" }), "widgetOptions.contact must be an address"),
            (json!({ "contact": "mailto:" }), "widgetOptions.contact must be an address"),
            (json!({ "contact": "https://shop.example/a b" }), "widgetOptions.contact must be an address"),
            // They apply before the config is there, or are the page's own.
            (json!({ "consent": "granted" }), "widgetOptions.consent is no option"),
            (json!({ "proxy": "https://evil.example" }), "widgetOptions.proxy is no option"),
        ] {
            let error = checked(options).expect_err(problem);
            assert!(error.contains(problem), "{error}");
        }
    }
}
