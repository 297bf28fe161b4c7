//! A visitor's profile, and its changes.

use serde::{Deserialize, Deserializer, Serialize};

/// Reads a list; null is an empty one.
pub(super) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A visitor's profile (2.8), with contact details that were found in messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Visitor {
    /// The id that the visitor's browser has.
    pub visitor_id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The e-mail address.
    pub email: Option<String>,
    /// The phone number.
    pub phone: Option<String>,
    /// The company.
    pub company: Option<String>,
    /// The `WeChat` id.
    pub wechat: Option<String>,
    /// The `WhatsApp` number.
    pub whatsapp: Option<String>,
    /// The country or region.
    pub country: Option<String>,
    /// The names of the fields that the site has proved. All others are claims of the visitor's page; without
    /// `visitorId`, so is who the visitor is.
    #[serde(deserialize_with = "null_is_empty")]
    pub verified_fields: Vec<String>,
}

impl Visitor {
    /// Returns whether the site has proved who the visitor is.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.verified_fields.iter().any(|name| name == "visitorId")
    }
}

/// The body of `PATCH /conversations/{id}/visitor`. A missing member changes nothing, an empty text removes.
/// What an operator wrote is not replaced by what the visitor's page sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProfileChange {
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The phone number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// The company.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    /// The `WeChat` id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wechat: Option<String>,
    /// The `WhatsApp` number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whatsapp: Option<String>,
    /// The country or region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// Why a lead has its score.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LeadReason {
    /// A name for programs and translations, such as `contact`, `asked_person` or `visited_again`.
    pub reason: String,
    /// The points that it adds.
    pub points: i64,
}

/// An event of a visitor: a page view, a click, or one that the site reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TimelineEntry {
    /// The type, such as `page_view`.
    pub event_type: String,
    /// The page's path.
    pub path: Option<String>,
    /// The page's title.
    pub title: Option<String>,
    /// The visitor's time zone, an IANA name, if the page reported it.
    pub time_zone: Option<String>,
    /// When the service received it.
    pub received_at: String,
}

/// `data` of `GET /conversations/{id}/timeline`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TimelinePage {
    /// The visitor's events, newest first.
    pub entries: Vec<TimelineEntry>,
    /// The parameter `before` of the next page; `None` on the last one.
    pub next_before: Option<i64>,
}

/// The body of `POST /sites/{site}/privacy/search`, `…/export` and `…/erase`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailAddress {
    /// The address, in any case.
    pub email: String,
}

/// The number of erased rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Erased {
    /// Visitors.
    pub visitors: i64,
    /// Conversations.
    pub conversations: i64,
    /// Messages.
    pub messages: i64,
    /// Events.
    pub events: i64,
}

/// `data` of `DELETE /sites/{site}/visitors/{id}` and `POST /sites/{site}/privacy/erase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Erasure {
    /// The erased records.
    pub erased: Erased,
}
