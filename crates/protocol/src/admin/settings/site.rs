//! Sites, and the changes of their settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{BusinessHours, CUSTOM_AI_PROVIDER};

/// A site. What the settings mean is described in [`SiteChange`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Site {
    /// The site's id, as in the proxy path `/connector/{id}`.
    pub id: String,
    /// The tenant that the site belongs to.
    pub tenant_id: String,
    /// The site's name.
    pub name: String,
    /// The site's origin, as its activation named it.
    pub domain: Option<String>,
    /// The site's platform, as its activation named it.
    pub platform: Option<String>,
    /// The locale of visitors whose own is not supported.
    pub primary_locale: Option<String>,
    /// The locales that the chat offers.
    pub supported_locales: Vec<String>,
    /// Origins whose pages may use the proxy paths of the service itself.
    pub allowed_origins: Vec<String>,
    /// The chat switch (2.3).
    pub chat_enabled: bool,
    /// The widget switch (2.3).
    pub widget_enabled: bool,
    /// Whether visitor events are recorded (4.8).
    pub tracking_enabled: bool,
    /// The assistant's name.
    pub assistant_name: Option<String>,
    /// Welcome messages by locale; that of "" is for all others.
    pub welcome: BTreeMap<String, String>,
    /// The assistant's avatar.
    pub avatar_url: Option<String>,
    /// The widget's options that the chat config delivers, by their names in JavaScript.
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::HashMap<String, Value>))]
    pub widget_options: BTreeMap<String, Value>,
    /// `semi_automatic` or `automatic` (1.4).
    pub publishing: String,
    /// The first to answer visitors: `ai_first`, `people_first`, `people_only` or `ai_only`.
    pub answering: String,
    /// In the mode `people_first`, the minutes after which the AI answers; none: it does not.
    pub ai_after_minutes: Option<i64>,
    /// The hours in which people answer; none: always.
    pub business_hours: Option<BusinessHours>,
    /// The certainty, in thousandths, from which on the built-in assistant answers with a source.
    pub answer_threshold: i64,
    /// Maximum replies of the AI in a calendar month.
    pub monthly_ai_replies: Option<i64>,
    /// Whether messages are refused with 402 once those are used up.
    pub quota_refuses: bool,
    /// The AI endpoint, without its key.
    pub ai: Option<AiSettings>,
    /// Milliseconds that the AI stays silent after a message of an operator.
    pub ai_pause_ms: i64,
    /// Whether replies that visitors have not seen are sent to them by e-mail.
    pub mail_replies: bool,
    /// Milliseconds after which a reply that was not seen is mailed.
    pub mail_replies_after_ms: i64,
    /// Days after which closed and silent conversations are deleted.
    pub retention_days: Option<i64>,
    /// The time of its creation, ISO 8601.
    pub created_at: String,
    /// The time of its activation, ISO 8601.
    pub activated_at: Option<String>,
    /// Whether the site is switched off: its tokens are not valid.
    pub disabled: bool,
    /// The creation time of the secret with which the site proves who its visitors are, ISO 8601.
    pub visitor_secret_created_at: Option<String>,
}

/// An AI endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AiSettings {
    /// The base address, such as `https://ai.example/v1`.
    pub base: String,
    /// The model's name.
    pub model: String,
    /// Whether a key is stored.
    pub has_key: bool,
    /// Milliseconds until a request to the AI is given up.
    pub timeout_ms: i64,
    /// The options of the provider and its models.
    #[serde(flatten)]
    pub options: AiOptions,
}

/// The options of an AI provider and its models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AiOptions {
    /// The provider, such as `openai`; `custom` for any other endpoint that speaks OpenAI's chat completions.
    pub provider: String,
    /// The model that is asked when the first one fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_model: Option<String>,
    /// The tokens that question and answer may have together, 1,024 to 1,000,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u32>,
}

impl Default for AiOptions {
    fn default() -> Self {
        Self { provider: CUSTOM_AI_PROVIDER.to_owned(), second_model: None, context_tokens: None }
    }
}

/// What happens to an optional setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// It keeps its value: the member is left out.
    #[default]
    Keep,
    /// It is removed: the member is null.
    Remove,
    /// It gets a value.
    Set(T),
}

impl<T> Patch<T> {
    /// Returns whether the setting keeps its value.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T> From<Option<T>> for Patch<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Remove, Self::Set)
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Remove => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

/// The body of `PATCH /sites/{site}`. A missing member keeps its value. See [`Site`] for the members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteChange {
    /// The site's name, 1 to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The locale of visitors whose own is not supported.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub primary_locale: Patch<String>,
    /// The locales that the chat offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported_locales: Option<Vec<String>>,
    /// Origins such as `https://shop.example`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_origins: Option<Vec<String>>,
    /// The chat switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_enabled: Option<bool>,
    /// The widget switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widget_enabled: Option<bool>,
    /// Whether visitor events are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracking_enabled: Option<bool>,
    /// The assistant's name.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub assistant_name: Patch<String>,
    /// All welcome messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub welcome: Option<BTreeMap<String, String>>,
    /// The address of the assistant's avatar.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub avatar_url: Patch<String>,
    /// All options of the widget that the chat config delivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widget_options: Option<BTreeMap<String, Value>>,
    /// `semi_automatic` or `automatic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publishing: Option<String>,
    /// `ai_first`, `people_first`, `people_only` or `ai_only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answering: Option<String>,
    /// In the mode `people_first`, the minutes after which the AI answers; `Remove` for never.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub ai_after_minutes: Patch<i64>,
    /// The hours in which people answer; `Remove` for always.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub business_hours: Patch<BusinessHours>,
    /// The certainty, in thousandths, from which on the built-in assistant answers with a source, 0 to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_threshold: Option<i64>,
    /// Maximum replies of the AI in a calendar month.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub monthly_ai_replies: Patch<i64>,
    /// Whether messages are refused once those are used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_refuses: Option<bool>,
    /// The AI endpoint; `Remove` for the built-in assistant.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub ai: Patch<AiChange>,
    /// Milliseconds that the AI stays silent after a message of an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_pause_ms: Option<i64>,
    /// Whether replies that visitors have not seen are sent to them by e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail_replies: Option<bool>,
    /// Milliseconds after which a reply that was not seen is mailed, 5 seconds to a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail_replies_after_ms: Option<i64>,
    /// Days after which closed and silent conversations are deleted; `Remove` keeps them.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub retention_days: Patch<i64>,
}

/// An AI endpoint to use.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AiChange {
    /// The base address.
    pub base: String,
    /// The model's name.
    pub model: String,
    /// A new key; `None` keeps the stored one, unless `base` names another server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Milliseconds until a request to the AI is given up, 1,000 to 120,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<i64>,
    /// The options of the provider and its models. A missing member resets its option.
    #[serde(flatten)]
    pub options: AiOptions,
}

impl core::fmt::Debug for AiChange {
    /// Writes everything but the key.
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { base, model, timeout_ms, options, .. } = self;
        out.debug_struct("AiChange")
            .field("base", base)
            .field("model", model)
            .field("timeout_ms", timeout_ms)
            .field("options", options)
            .finish_non_exhaustive()
    }
}

/// The body of `POST /sites`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSite {
    /// The site's name, 1 to 200 characters.
    pub name: String,
    /// The address of its website, whose origin becomes an allowed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Its settings.
    pub settings: SiteChange,
}
