//! The use of what is limited.

use serde::{Deserialize, Serialize};

/// The AI replies of a site in the current month.
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
}
