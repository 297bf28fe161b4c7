//! Webhooks, and the log of their deliveries.

use serde::{Deserialize, Serialize};

/// A webhook, without its secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Webhook {
    /// The webhook's id.
    pub id: String,
    /// The site whose events are sent; `None` for all sites of the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_id: Option<String>,
    /// The address that receives the events.
    pub url: String,
    /// The names of the events; none for all of them.
    pub events: Vec<String>,
    /// Whether events are sent.
    pub enabled: bool,
    /// When it was created.
    pub created_at: String,
    /// When it was disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<String>,
    /// Why it was disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    /// Since then, all deliveries have failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
}

/// `data` of `GET /webhooks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Webhooks {
    /// The webhooks, oldest first.
    pub webhooks: Vec<Webhook>,
    /// The names of all events.
    pub events: Vec<String>,
}

/// `data` of `GET` and `PATCH /webhooks/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookShown {
    /// The webhook.
    pub webhook: Webhook,
}

/// `data` of `POST /webhooks` and `POST /webhooks/{id}/secret`. The secret is shown this once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookSecret {
    /// The webhook.
    pub webhook: Webhook,
    /// The secret.
    pub secret: String,
    /// Until then, requests are signed with the old secret too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_secret_valid_until: Option<String>,
}

/// The body of `POST /webhooks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWebhook {
    /// The address that receives the events, with `https://`.
    pub url: String,
    /// The site whose events are sent; `None` for all sites of the tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_id: Option<String>,
    /// The names of the events; none for all of them.
    #[serde(default)]
    pub events: Vec<String>,
}

/// The body of `PATCH /webhooks/{id}`. A missing member keeps its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookChange {
    /// The address that receives the events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The names of the events; none for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// Whether events are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// An attempt to deliver an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryAttempt {
    /// Its number, from 1.
    pub attempt: i64,
    /// When it was made.
    pub at: String,
    /// The HTTP status of the receiver's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i64>,
    /// What went wrong, if there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Milliseconds that it took.
    pub duration_ms: i64,
}

/// A delivery of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Delivery {
    /// The delivery's id.
    pub id: String,
    /// The event's id, which stays the same when it is sent again.
    pub event_id: String,
    /// The event's name.
    pub event: String,
    /// The body that is sent, in JSON.
    pub body: String,
    /// `pending`, `delivered` or `failed`.
    pub status: String,
    /// The number of attempts.
    pub attempt_count: i64,
    /// The attempts that have ended.
    pub attempts: Vec<DeliveryAttempt>,
    /// Whether it is being sent.
    pub in_progress: bool,
    /// When it is tried next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<String>,
    /// When the event happened.
    pub created_at: String,
    /// When it was delivered, or given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
}

/// `data` of `GET /webhooks/{id}/deliveries`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryPage {
    /// The deliveries, newest first.
    pub deliveries: Vec<Delivery>,
    /// The parameter `before` of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_before: Option<String>,
}

/// `data` of a test or a replay of one delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DeliveryShown {
    /// The delivery.
    pub delivery: Delivery,
}
