//! The use of what is limited.

use serde::{Deserialize, Serialize};

/// The AI replies of a site in the current month, and the bytes that it stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SiteQuota {
    /// The site's id.
    pub site_id: String,
    /// The site's name.
    pub name: String,
    /// The replies of the AI this month.
    pub used: i64,
    /// Maximum replies of a month; `None` without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Whether messages are refused once those are used up.
    pub refuses: bool,
    /// The bytes that its visitors and its content use.
    pub stored_bytes: u64,
    /// Maximum bytes. From three quarters on, events and content are refused, and beyond it messages.
    pub max_bytes: u64,
}

/// `data` of `GET /quota`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Quota {
    /// The current month, such as `2026-11`, in UTC.
    pub month: String,
    /// The sites of the tenant, oldest first.
    pub sites: Vec<SiteQuota>,
    /// The bytes that all sites use.
    pub stored_bytes: u64,
    /// Maximum bytes of all sites together.
    pub max_bytes: u64,
    /// What the service refuses for lack of disk space: `bulk` for events and content, or `messages` for
    /// these as well; `None` if it stores everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_refuses: Option<String>,
}
