//! The chat's config (2.3).

use crate::{FieldError, Fields, Value};

/// `data` of `GET /chat/config`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatConfig {
    /// `tenantId`.
    pub tenant_id: Option<String>,
    /// `siteId`.
    pub site_id: Option<String>,
    /// `config.enabled`: whether there is a chat at all. True when it is not said.
    pub enabled: bool,
    /// `config.widgetEnabled`: whether the widget shows it. True when it is not said.
    pub widget_enabled: bool,
    /// `config.assistantName`.
    pub assistant_name: Option<String>,
    /// `config.welcomeMessage`.
    pub welcome_message: Option<String>,
    /// `config.avatarUrl`, as it came: whoever shows it checks it.
    pub avatar_url: Option<String>,
    /// `locale`: the one that the service resolved; else `config.locale`.
    pub locale: Option<String>,
    /// `supportedLocales`.
    pub supported_locales: Vec<String>,
    /// `stale`: whether the service answered from an old copy.
    pub stale: bool,
}

impl ChatConfig {
    /// Whether the site's owner wants the widget to be seen.
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
            config => Fields::of(config).map_err(|unusable| unusable.within("config"))?,
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
            assistant_name: config.lenient_text("assistantName"),
            welcome_message: config.lenient_text("welcomeMessage"),
            avatar_url: config.lenient_text("avatarUrl"),
            locale: outer.lenient_language_tag("locale").or(inner_locale),
            supported_locales,
            stale: outer.lenient_bool("stale").unwrap_or(false),
        })
    }
}

impl From<&ChatConfig> for Value {
    fn from(config: &ChatConfig) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        let inner = Value::Object(vec![
            ("enabled".into(), config.enabled.into()),
            ("widgetEnabled".into(), config.widget_enabled.into()),
            ("assistantName".into(), text(&config.assistant_name)),
            ("welcomeMessage".into(), text(&config.welcome_message)),
            ("avatarUrl".into(), text(&config.avatar_url)),
            ("locale".into(), text(&config.locale)),
        ]);
        Value::object([
            ("tenantId", text(&config.tenant_id)),
            ("siteId", text(&config.site_id)),
            ("config", inner),
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
    fn a_config_is_read_back_as_it_was_written() {
        let config = ChatConfig {
            site_id: Some("s".into()),
            enabled: true,
            assistant_name: Some("Alder".into()),
            locale: Some("de".into()),
            supported_locales: vec!["de".into(), "en".into()],
            stale: true,
            ..ChatConfig::default()
        };
        assert_eq!(ChatConfig::try_from(Value::from(&config)), Ok(config));
    }

    #[test]
    fn a_config_that_says_little_leaves_the_widget_on() {
        let config = read(r#"{"config":{"avatarUrl":null,"assistantName":7}, "future":[]}"#).expect("usable");
        assert!(config.shows_widget());
        assert_eq!(config.assistant_name.as_deref(), Some("7"));
    }

    #[test]
    fn a_locale_that_is_no_language_tag_is_left_out() {
        let config =
            read(r#"{"config":{"locale":"de"},"locale":"../../x","supportedLocales":["de",7,"en-GB"]}"#)
                .expect("usable");
        assert_eq!(config.locale.as_deref(), Some("de"));
        assert_eq!(config.supported_locales, ["de", "en-GB"]);
    }

    #[test]
    fn either_switch_turns_the_widget_off() {
        assert!(!read(r#"{"config":{"enabled":false}}"#).expect("usable").shows_widget());
        assert!(!read(r#"{"config":{"widgetEnabled":false}}"#).expect("usable").shows_widget());
    }

    #[test]
    fn a_config_without_its_config_is_refused_by_name() {
        assert_eq!(read("{}").unwrap_err().to_string(), "config is missing");
        assert_eq!(
            read(r#"{"config":3}"#).unwrap_err().to_string(),
            "config must be an object, not a number"
        );
    }
}
