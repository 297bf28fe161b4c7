//! The first steps of a site.

use serde::{Deserialize, Serialize};

/// The first steps of a site, as far as they are done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SiteSetup {
    /// Whether the address of a website is known: an allowed origin, or that of an activation.
    pub has_address: bool,
    /// The time at which a page with the chat was first seen, ISO 8601.
    pub page_first_seen_at: Option<String>,
    /// The time at which a page with the chat was last seen, ISO 8601; up to five minutes behind.
    pub page_last_seen_at: Option<String>,
    /// The origins, at most 10, whose pages were refused within 7 days and are not allowed, the last one
    /// first.
    pub refused_origins: Vec<RefusedOrigin>,
    /// The number of questions and answers that the team wrote.
    pub answers: i64,
    /// The number of pages that the assistant knows, counted up to 1,000.
    pub pages: i64,
    /// The number of websites that the assistant reads.
    pub sources: i64,
    /// The number of operators of the workspace who can sign in.
    pub operators: i64,
    /// The number of open invitations of the workspace.
    pub invitations: i64,
    /// Whether the workspace has a conversation.
    pub has_conversations: bool,
}

/// An origin whose pages asked for the chat and were refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RefusedOrigin {
    /// The origin, as in `allowedOrigins`.
    pub origin: String,
    /// The number of refused requests.
    pub count: i64,
    /// The time of the last one, ISO 8601.
    pub last_at: String,
}
