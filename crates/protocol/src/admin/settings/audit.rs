//! The audit log.

use serde::{Deserialize, Serialize};

use crate::Value;

/// An entry of the audit log: the action, its author, and the author's address.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AuditEntry {
    /// The number of the entry.
    pub no: i64,
    /// When it was done.
    pub at: String,
    /// The operator's id, `command` for the command line, or `service`.
    pub actor_id: String,
    /// The operator's name and e-mail address, or who else did it.
    pub actor: String,
    /// The kind of change, such as `site.update`.
    pub action: String,
    /// The id of what was changed.
    pub target: String,
    /// An object with details.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub detail: Value,
    /// The client's address.
    pub address: String,
}

/// `data` of `GET /audit`, whose parameters are `before`, `limit`, `action` (the beginning of an action's
/// name), `q` (a part of the actor or the target), `from` and `to` (times in RFC 3339).
/// `GET /audit.csv` has the same parameters, but for `before` and `limit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AuditPage {
    /// Entries, newest first.
    pub entries: Vec<AuditEntry>,
    /// The parameter `before` of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}
