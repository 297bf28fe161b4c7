//! Changes of a site's settings, and the checks that they pass.

use std::collections::BTreeMap;

use chat_protocol::FieldError;
use chat_protocol::admin::settings::{AiOptions, AiProvider, BusinessHours};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

use super::Site;
use super::business_hours::checked_hours;
use super::origins::checked_origin;
use super::widget_options::checked_options;
use crate::db::Arg;
use crate::error::ApiError;
use crate::limits::{MAX_LIST_LENGTH, MAX_URL_LENGTH, check_name, check_text};
use crate::secrets::ServiceKey;

/// Maximum characters of a welcome message.
const MAX_WELCOME_LENGTH: usize = 1000;
/// Maximum minutes that a visitor waits for a person before the AI answers: a day.
const MAX_AI_AFTER_MINUTES: i64 = 24 * 60;
/// Bounds of the time after which a reply is mailed: the maximum is a day.
const MIN_MAIL_WAIT_MS: i64 = 5000;
const MAX_MAIL_WAIT_MS: i64 = 24 * 60 * 60 * 1000;
/// Maximum days of retention: ten years.
const MAX_RETENTION_DAYS: i64 = 3650;

/// The settings to change. A missing member keeps its value; `null` removes an optional one.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SiteChange {
    /// The site's name, 1 to 200 characters.
    pub name: Option<String>,
    /// The locale of visitors whose own is not supported, such as `en-US`.
    #[serde(default, deserialize_with = "nullable")]
    pub primary_locale: Option<Option<String>>,
    /// The locales that the chat offers.
    pub supported_locales: Option<Vec<String>>,
    /// Origins whose pages may use the proxy paths of the service itself, such as `https://shop.example`.
    pub allowed_origins: Option<Vec<String>>,
    /// The chat switch (2.3).
    pub chat_enabled: Option<bool>,
    /// The widget switch (2.3).
    pub widget_enabled: Option<bool>,
    /// Whether visitor events are recorded (4.8).
    pub tracking_enabled: Option<bool>,
    /// The assistant's name.
    #[serde(default, deserialize_with = "nullable")]
    pub assistant_name: Option<Option<String>>,
    /// Welcome messages by locale; that of "" is for all others.
    pub welcome: Option<BTreeMap<String, String>>,
    /// The assistant's avatar: an https address.
    #[serde(default, deserialize_with = "nullable")]
    pub avatar_url: Option<Option<String>>,
    /// The widget's options that the chat config delivers, by their names in JavaScript: all of them, without
    /// those that keep their default.
    #[schema(value_type = Option<HashMap<String, Value>>)]
    pub widget_options: Option<BTreeMap<String, Value>>,
    /// `semi_automatic`: a person approves page heads that no rule of the site matches; `automatic`: they are
    /// published, unless a check finds a problem (1.4).
    pub publishing: Option<String>,
    /// `ai_first`: the AI, and a person on request or if the AI has no answer; `people_first`: a person
    /// while an operator is online within the business hours, otherwise the AI; `people_only`: the AI never
    /// answers; `ai_only`: the AI alone, no person is offered, promised or alerted.
    pub answering: Option<String>,
    /// In the mode `people_first`, the minutes that a visitor waits for a person before the AI answers, 1 to
    /// 1440; `null`: the AI does not step in.
    #[serde(default, deserialize_with = "nullable")]
    pub ai_after_minutes: Option<Option<i64>>,
    /// The hours in which people answer; `null` for always.
    #[serde(default, deserialize_with = "nullable")]
    pub business_hours: Option<Option<BusinessHours>>,
    /// The certainty, in thousandths, from which on the built-in assistant answers with a source, 0 to 1000.
    pub answer_threshold: Option<i64>,
    /// Maximum replies of the AI in a calendar month (UTC).
    #[serde(default, deserialize_with = "nullable")]
    pub monthly_ai_replies: Option<Option<i64>>,
    /// Once those are used up: `false` accepts messages and answers with the fallback text
    /// (`aiStatus: quota_insufficient`), `true` refuses messages with 402 `INSUFFICIENT_QUOTA`.
    pub quota_refuses: Option<bool>,
    /// The AI endpoint; `null` uses the built-in assistant.
    #[serde(default, deserialize_with = "nullable")]
    pub ai: Option<Option<AiChange>>,
    /// Milliseconds that the AI stays silent after a message of an operator, up to a day.
    pub ai_pause_ms: Option<i64>,
    /// Whether replies that visitors have not seen are sent to them by e-mail, if the service can send some.
    pub mail_replies: Option<bool>,
    /// Milliseconds after which a reply that was not seen is mailed, 5 seconds to a day.
    pub mail_replies_after_ms: Option<i64>,
    /// Days after which closed and silent conversations are deleted, 1 to 3650; `null` keeps them.
    #[serde(default, deserialize_with = "nullable")]
    pub retention_days: Option<Option<i64>>,
}

/// An AI endpoint.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AiChange {
    /// The base address, such as `https://ai.example/v1`.
    pub base: String,
    /// The model's name.
    pub model: String,
    /// The key, which is stored encrypted and never shown. Missing: the stored key is kept, unless `base`
    /// names another server.
    #[serde(default, deserialize_with = "secret")]
    #[schema(value_type = Option<String>)]
    pub key: Option<SecretString>,
    /// Milliseconds until a request to the AI is given up, 1,000 to 120,000.
    #[serde(default)]
    pub timeout_ms: Option<i64>,
    /// The provider: `openai`, `azure`, `anthropic`, `gemini`, `mistral`, `deepseek`, `openrouter`, `groq`,
    /// `ollama`, `vllm`, `llamacpp`, `lmstudio`, or `custom` for any other endpoint that speaks OpenAI's chat
    /// completions. Missing: `custom`.
    #[serde(default)]
    pub provider: Option<String>,
    /// The model that is asked when the first one fails. Missing: none.
    #[serde(default)]
    pub second_model: Option<String>,
    /// The tokens that question and answer may have together, 1,024 to 1,000,000. Missing: the provider's.
    #[serde(default)]
    pub context_tokens: Option<u32>,
}

impl AiChange {
    /// Checks what is particular to the provider.
    pub(crate) fn options(&self) -> Result<AiOptions, FieldError> {
        let provider = self.provider.clone().unwrap_or_else(|| AiOptions::default().provider);
        if AiProvider::of(&provider).is_none() {
            return Err(FieldError::new("ai.provider", "is not known"));
        }
        let second_model = self.second_model.as_deref();
        let second_model = second_model.map(|model| check_name("ai.secondModel", model)).transpose()?;
        within("ai.contextTokens", self.context_tokens.map(i64::from), 1024, 1_000_000)?;
        Ok(AiOptions { provider, second_model, context_tokens: self.context_tokens })
    }
}

/// Reads a member that may be null: then it is `Some(None)`.
#[expect(clippy::option_option, reason = "a missing member is not null")]
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// Reads a secret, which `Debug` does not show from then on.
fn secret<'de, D: Deserializer<'de>>(value: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(value)?.map(SecretString::from))
}

type Columns = Vec<(&'static str, Arg)>;

impl SiteChange {
    /// Refuses to keep the stored AI key for another server: who may change the address, but does not know
    /// the key, would have it sent to a server of theirs.
    pub(super) fn check_ai_key(&self, site: &Site) -> Result<(), FieldError> {
        let (Some(Some(change)), Some(stored)) = (&self.ai, &site.ai) else { return Ok(()) };
        let origin = |base: &str| reqwest::Url::parse(base.trim()).ok().map(|url| url.origin());
        if change.key.is_none() && stored.has_key && origin(&change.base) != origin(&stored.base) {
            return Err(FieldError::new("ai.key", "is missing: another server needs it anew"));
        }
        Ok(())
    }

    /// Checks all values, and returns the columns to set.
    pub(super) fn checked(self, key: &ServiceKey, site_id: &str) -> Result<Columns, ApiError> {
        let mut columns = Columns::new();
        let mut set = |column, value: Arg| columns.push((column, value));
        if let Some(name) = self.name {
            set("name", check_name("name", &name)?.into());
        }
        if let Some(locale) = self.primary_locale {
            set("primary_locale", locale.map(|tag| language_tag("primaryLocale", &tag)).transpose()?.into());
        }
        if let Some(locales) = self.supported_locales {
            let locales = list("supportedLocales", &locales, |tag| language_tag("supportedLocales", tag))?;
            set("supported_locales", locales);
        }
        if let Some(origins) = self.allowed_origins {
            set("allowed_origins", list("allowedOrigins", &origins, checked_origin)?);
        }
        for (column, flag) in [
            ("chat_enabled", self.chat_enabled),
            ("widget_enabled", self.widget_enabled),
            ("tracking_enabled", self.tracking_enabled),
            ("quota_refuses", self.quota_refuses),
            ("mail_replies", self.mail_replies),
        ] {
            if let Some(flag) = flag {
                set(column, flag.into());
            }
        }
        if let Some(name) = self.assistant_name {
            let name = name.map(|name| check_name("assistantName", &name)).transpose()?;
            set("assistant_name", name.into());
        }
        if let Some(welcome) = self.welcome {
            set("welcome", welcome_messages(welcome)?);
        }
        if let Some(address) = self.avatar_url {
            let address = address.map(|address| web_address("avatarUrl", &address)).transpose()?;
            set("avatar_url", address.into());
        }
        if let Some(options) = self.widget_options {
            set("widget_options", checked_options(&options)?.into());
        }
        if let Some(publishing) = self.publishing {
            if !["semi_automatic", "automatic"].contains(&publishing.as_str()) {
                return Err(FieldError::new("publishing", "must be semi_automatic or automatic").into());
            }
            set("publishing", publishing.into());
        }
        if let Some(answering) = self.answering {
            if !["ai_first", "people_first", "people_only", "ai_only"].contains(&answering.as_str()) {
                let problem = "must be ai_first, people_first, people_only or ai_only";
                return Err(FieldError::new("answering", problem).into());
            }
            set("answering", answering.into());
        }
        if let Some(minutes) = self.ai_after_minutes {
            set("ai_after_minutes", within("aiAfterMinutes", minutes, 1, MAX_AI_AFTER_MINUTES)?);
        }
        if let Some(hours) = self.business_hours {
            let hours = hours.map(checked_hours).transpose()?;
            let text = hours.map(|hours| serde_json::to_string(&hours).unwrap_or_default());
            set("business_hours", text.into());
        }
        if let Some(threshold) = self.answer_threshold {
            set("answer_threshold", within("answerThreshold", Some(threshold), 0, 1000)?);
        }
        if let Some(replies) = self.monthly_ai_replies {
            set("monthly_ai_replies", within("monthlyAiReplies", replies, 0, i64::MAX)?);
        }
        if let Some(pause) = self.ai_pause_ms {
            set("ai_pause_ms", within("aiPauseMs", Some(pause), 0, 24 * 60 * 60 * 1000)?);
        }
        if let Some(wait) = self.mail_replies_after_ms {
            let wait = within("mailRepliesAfterMs", Some(wait), MIN_MAIL_WAIT_MS, MAX_MAIL_WAIT_MS)?;
            set("mail_replies_after_ms", wait);
        }
        if let Some(days) = self.retention_days {
            set("retention_days", within("retentionDays", days, 1, MAX_RETENTION_DAYS)?);
        }
        match self.ai {
            None => {}
            Some(None) => {
                for column in ["ai_base", "ai_model", "ai_options"] {
                    set(column, None::<String>.into());
                }
                set("ai_key", None::<Vec<u8>>.into());
            }
            Some(Some(ai)) => {
                set("ai_options", serde_json::to_string(&ai.options()?).unwrap_or_default().into());
                set("ai_base", web_address("ai.base", &ai.base)?.into());
                set("ai_model", check_name("ai.model", &ai.model)?.into());
                if let Some(timeout) = ai.timeout_ms {
                    set("ai_timeout_ms", within("ai.timeoutMs", Some(timeout), 1000, 120_000)?);
                }
                if let Some(secret) = ai.key {
                    let secret = check_text("ai.key", secret.expose_secret(), 1, MAX_URL_LENGTH)?;
                    set("ai_key", key.seal(&Site::ai_key_purpose(site_id), &secret).into());
                }
            }
        }
        Ok(columns)
    }
}

fn within(field: &'static str, value: Option<i64>, min: i64, max: i64) -> Result<Arg, FieldError> {
    match value {
        Some(number) if !(min..=max).contains(&number) => {
            Err(FieldError::new(field, format!("must be {min} to {max}")))
        }
        value => Ok(value.into()),
    }
}

fn list(
    field: &'static str,
    items: &[String],
    check: impl Fn(&str) -> Result<String, FieldError>,
) -> Result<Arg, FieldError> {
    if items.len() > MAX_LIST_LENGTH {
        return Err(FieldError::new(field, format!("must have at most {MAX_LIST_LENGTH} entries")));
    }
    let mut checked: Vec<String> = Vec::new();
    for item in items {
        let item = check(item)?;
        if !checked.contains(&item) {
            checked.push(item);
        }
    }
    Ok(serde_json::to_string(&checked).unwrap_or_default().into())
}

fn welcome_messages(welcome: BTreeMap<String, String>) -> Result<Arg, FieldError> {
    if welcome.len() > MAX_LIST_LENGTH {
        return Err(FieldError::new("welcome", format!("must have at most {MAX_LIST_LENGTH} entries")));
    }
    let mut checked = BTreeMap::new();
    for (locale, text) in welcome {
        let locale = if locale.is_empty() { locale } else { language_tag("welcome", &locale)? };
        if text.chars().count() > MAX_WELCOME_LENGTH {
            let limit = format!("must have at most {MAX_WELCOME_LENGTH} characters each");
            return Err(FieldError::new("welcome", limit));
        }
        checked.insert(locale, text);
    }
    Ok(serde_json::to_string(&checked).unwrap_or_default().into())
}

/// Returns a language tag, which consists of letters, digits and hyphens.
pub(super) fn language_tag(field: &'static str, tag: &str) -> Result<String, FieldError> {
    let parts = tag
        .split('-')
        .all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if !parts || tag.len() > 35 {
        return Err(FieldError::new(field, "must be a language tag such as en-US"));
    }
    Ok(tag.to_owned())
}

fn web_address(field: &'static str, address: &str) -> Result<String, FieldError> {
    let address = check_text(field, address, 1, MAX_URL_LENGTH)?;
    match reqwest::Url::parse(&address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.username().is_empty() => Ok(address),
        _ => Err(FieldError::new(field, "must be an address such as https://example.com/path")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        let change: SiteChange = match serde_json::from_str(json) {
            Ok(change) => change,
            Err(error) => return error.to_string(),
        };
        change.checked(&ServiceKey::random(), "site_1").expect_err(json).to_string()
    }

    #[test]
    fn names_the_setting_that_is_wrong() {
        for (json, field) in [
            (r#"{"name": " "}"#, "name"),
            (r#"{"allowedOrigins": ["https://*.example"]}"#, "allowedOrigins"),
            (r#"{"allowedOrigins": ["https://shop.example/path"]}"#, "allowedOrigins"),
            (r#"{"allowedOrigins": ["null"]}"#, "allowedOrigins"),
            (r#"{"allowedOrigins": ["javascript:alert(1)"]}"#, "allowedOrigins"),
            (r#"{"primaryLocale": "en_US!"}"#, "primaryLocale"),
            (r#"{"avatarUrl": "javascript:alert(1)"}"#, "avatarUrl"),
            (r#"{"publishing": "yes"}"#, "publishing"),
            (r#"{"answering": "nobody"}"#, "answering"),
            (r#"{"aiAfterMinutes": 0}"#, "aiAfterMinutes"),
            (r#"{"aiAfterMinutes": 1441}"#, "aiAfterMinutes"),
            (r#"{"businessHours": {"timeZone": "Mars/Base", "intervals": []}}"#, "businessHours.timeZone"),
            (r#"{"businessHours": {"timeZone": "UTC", "intervals": []}}"#, "businessHours.intervals"),
            (r#"{"businessHours": {"timeZone": "UTC", "days": []}}"#, "days"),
            (r#"{"answerThreshold": 1001}"#, "answerThreshold"),
            (r#"{"monthlyAiReplies": -1}"#, "monthlyAiReplies"),
            (r#"{"retentionDays": 0}"#, "retentionDays"),
            (r#"{"mailRepliesAfterMs": 4999}"#, "mailRepliesAfterMs"),
            (r#"{"ai": {"base": "ai.example", "model": "m"}}"#, "ai.base"),
            (r#"{"ai": {"base": "https://ai.example", "model": "m", "key": "two\nlines"}}"#, "ai.key"),
            (r#"{"widgetenabled": true}"#, "widgetenabled"),
        ] {
            let error = error(json);
            assert!(error.contains(field), "{json}: {error}");
        }
    }

    #[test]
    fn null_removes_an_optional_setting_and_a_missing_member_keeps_it() {
        let change: SiteChange = serde_json::from_str(r#"{"avatarUrl": null}"#).expect("a change");
        let columns = change.checked(&ServiceKey::random(), "site_1").expect("valid");
        assert_eq!(columns, [("avatar_url", Arg::Text(None))]);
    }
}
