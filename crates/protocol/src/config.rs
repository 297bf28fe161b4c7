//! The chat's config (2.3).

use crate::{FieldError, Fields, Value};

/// `data` of `GET /chat/config`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatConfig {
    /// `tenantId`.
    pub tenant_id: Option<String>,
    /// `siteId`.
    pub site_id: Option<String>,
    /// `config.enabled`: whether the chat is enabled; true if missing.
    pub enabled: bool,
    /// `config.widgetEnabled`: whether the widget is shown; true if missing.
    pub widget_enabled: bool,
    /// Whether `config.aiAnswers`, an extension, is false: only people answer.
    pub people_only: bool,
    /// Whether `config.peopleAnswer`, an extension, is false: only the AI answers, and no person is offered.
    pub ai_only: bool,
    /// `config.usualReply`, an extension: how fast people usually answer, in the language of the config.
    pub usual_reply: Option<String>,
    /// `config.assistantName`.
    pub assistant_name: Option<String>,
    /// `config.welcomeMessage`.
    pub welcome_message: Option<String>,
    /// `config.avatarUrl`, unchecked.
    pub avatar_url: Option<String>,
    /// `config.options`, an extension: options of the widget that the site has set. Unchecked.
    pub options: Value,
    /// `locale`, the resolved locale; if missing, `config.locale`.
    pub locale: Option<String>,
    /// `supportedLocales`.
    pub supported_locales: Vec<String>,
    /// `stale`: whether the config comes from an outdated copy.
    pub stale: bool,
}

impl ChatConfig {
    /// Returns whether the widget is to be shown.
    pub fn shows_widget(&self) -> bool {
        self.enabled && self.widget_enabled
    }
}

impl TryFrom<Value> for ChatConfig {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut outer = Fields::of(value)?;
        let mut config = match outer.take("config") {
            Value::Null => return Err(FieldError::new("config", "is missing")),
            config => Fields::of(config).map_err(|error| error.within("config"))?,
        };
        let inner_locale = config.lenient_language_tag("locale");
        let mut supported_locales = Vec::new();
        for locale in outer.list("supportedLocales").unwrap_or_default() {
            if let Value::Text(locale) = locale {
                supported_locales.push(locale);
            }
        }
        Ok(Self {
            tenant_id: outer.lenient_text("tenantId"),
            site_id: outer.lenient_text("siteId"),
            enabled: config.lenient_bool("enabled").unwrap_or(true),
            widget_enabled: config.lenient_bool("widgetEnabled").unwrap_or(true),
            people_only: config.lenient_bool("aiAnswers") == Some(false),
            ai_only: config.lenient_bool("peopleAnswer") == Some(false),
            usual_reply: config.lenient_text("usualReply"),
            assistant_name: config.lenient_text("assistantName"),
            welcome_message: config.lenient_text("welcomeMessage"),
            avatar_url: config.lenient_text("avatarUrl"),
            options: config.take("options"),
            locale: outer.lenient_language_tag("locale").or(inner_locale),
            supported_locales,
            stale: outer.lenient_bool("stale").unwrap_or(false),
        })
    }
}

impl From<&ChatConfig> for Value {
    fn from(config: &ChatConfig) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        let mut inner = vec![
            ("enabled".into(), config.enabled.into()),
            ("widgetEnabled".into(), config.widget_enabled.into()),
            ("assistantName".into(), text(&config.assistant_name)),
            ("welcomeMessage".into(), text(&config.welcome_message)),
            ("avatarUrl".into(), text(&config.avatar_url)),
            ("locale".into(), text(&config.locale)),
        ];
        if config.people_only {
            inner.push(("aiAnswers".into(), false.into()));
        }
        if config.ai_only {
            inner.push(("peopleAnswer".into(), false.into()));
        }
        if let Some(words) = &config.usual_reply {
            inner.push(("usualReply".into(), words.as_str().into()));
        }
        if config.options != Value::Null {
            inner.push(("options".into(), config.options.clone()));
        }
        Value::object([
            ("tenantId", text(&config.tenant_id)),
            ("siteId", text(&config.site_id)),
            ("config", Value::Object(inner)),
            ("locale", text(&config.locale)),
            ("supportedLocales", config.supported_locales.iter().map(String::as_str).collect()),
            ("stale", config.stale.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ChatConfig, FieldError> {
        ChatConfig::try_from(serde_json::from_str::<Value>(text).expect("JSON"))
    }

    #[test]
    fn a_config_survives_a_round_trip() {
        let config = ChatConfig {
            site_id: Some("s".into()),
            enabled: true,
            people_only: true,
            ai_only: true,
            usual_reply: Some("Soon".into()),
            assistant_name: Some("Alder".into()),
            options: Value::object([("theme", "rose".into())]),
            locale: Some("de".into()),
            supported_locales: vec!["de".into(), "en".into()],
            stale: true,
            ..ChatConfig::default()
        };
        assert_eq!(ChatConfig::try_from(Value::from(&config)), Ok(config));
    }

    #[test]
    fn an_empty_config_leaves_the_widget_enabled() {
        let config = read(r#"{"config":{"avatarUrl":null,"assistantName":7}, "future":[]}"#).expect("usable");
        assert!(config.shows_widget());
        assert_eq!(config.assistant_name.as_deref(), Some("7"));
    }

    #[test]
    fn omits_an_invalid_locale() {
        let config =
            read(r#"{"config":{"locale":"de"},"locale":"../../x","supportedLocales":["de",7,"en-GB"]}"#)
                .expect("usable");
        assert_eq!(config.locale.as_deref(), Some("de"));
        assert_eq!(config.supported_locales, ["de", "en-GB"]);
    }

    #[test]
    fn either_switch_disables_the_widget() {
        assert!(!read(r#"{"config":{"enabled":false}}"#).expect("usable").shows_widget());
        assert!(!read(r#"{"config":{"widgetEnabled":false}}"#).expect("usable").shows_widget());
    }

    #[test]
    fn names_the_missing_config() {
        assert_eq!(read("{}").unwrap_err().to_string(), "config is missing");
        assert_eq!(
            read(r#"{"config":3}"#).unwrap_err().to_string(),
            "config must be an object, not a number"
        );
    }
}
