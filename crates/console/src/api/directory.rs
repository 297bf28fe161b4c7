//! The lists that all pages share: colleagues, sites, labels, canned replies; and the operator's preferences
//! and devices.

use chat_protocol::admin::settings::SiteSetup;
use chat_protocol::admin::{CannedReply, Empty, Label, Preferences, PushState, PushSubscription, TeamMember};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{ApiError, delete, get, post, put};
use crate::location::encode;

/// A site, as far as the inbox shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SiteName {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The first to answer visitors: `ai_first`, `people_first`, `people_only` or `ai_only`.
    pub answering: String,
}

/// A list, which some endpoints wrap in an object with one member.
struct Listed<T>(Vec<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rows = match Value::deserialize(deserializer)? {
            Value::Array(rows) => rows,
            Value::Object(members) => {
                let list = members.into_iter().find_map(|(_, member)| match member {
                    Value::Array(rows) => Some(rows),
                    _ => None,
                });
                list.unwrap_or_default()
            }
            _ => Vec::new(),
        };
        // A row that this console cannot read is left out, not the list.
        Ok(Self(rows.into_iter().filter_map(|row| serde_json::from_value(row).ok()).collect()))
    }
}

/// Returns the tenant's operators.
pub async fn team() -> Result<Vec<TeamMember>, ApiError> {
    get("team").await.map(|Listed(rows)| rows)
}

/// Returns the tenant's sites.
pub async fn sites() -> Result<Vec<SiteName>, ApiError> {
    get("sites").await.map(|Listed(rows)| rows)
}

/// Returns which of the first steps of a site are done.
pub async fn site_setup(site: &str) -> Result<SiteSetup, ApiError> {
    get(&format!("sites/{}/setup", encode(site))).await
}

/// Returns the tenant's labels.
pub async fn labels() -> Result<Vec<Label>, ApiError> {
    get("labels").await.map(|Listed(rows)| rows)
}

/// Returns the tenant's canned replies.
pub async fn replies() -> Result<Vec<CannedReply>, ApiError> {
    get("replies").await.map(|Listed(rows)| rows)
}

/// Returns the operator's preferences.
pub async fn preferences() -> Result<Preferences, ApiError> {
    get("preferences").await
}

/// Stores the operator's preferences.
pub async fn save_preferences(preferences: &Preferences) -> Result<Preferences, ApiError> {
    put("preferences", preferences).await
}

/// Returns the key for subscriptions to pushes, and the operator's devices.
pub async fn push_state() -> Result<PushState, ApiError> {
    get("push").await
}

/// Adds this browser to the operator's devices.
pub async fn add_push_device(subscription: &PushSubscription) -> Result<PushState, ApiError> {
    post("push/devices", subscription).await
}

/// Removes one of the operator's devices.
pub async fn remove_push_device(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("push/devices/{}", encode(id))).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_be_wrapped_and_unreadable_rows_are_left_out() {
        let Listed(sites) = serde_json::from_str::<Listed<SiteName>>(
            r#"{"sites":[{"id":"s1","name":"Shop"},7,{"id":"s2","name":"Blog","more":true}]}"#,
        )
        .unwrap();
        assert_eq!(sites.iter().map(|site| site.id.as_str()).collect::<Vec<_>>(), ["s1", "s2"]);
        assert_eq!(serde_json::from_str::<Listed<SiteName>>("[]").unwrap().0, []);
    }
}
