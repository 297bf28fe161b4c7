//! Pushes to the browsers of operators.

use serde::{Deserialize, Serialize};

/// The pushes of the operator who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PushState {
    /// The public key that a subscription is made with, in base64url. `None` where the service sends no
    /// pushes.
    pub public_key: Option<String>,
    /// The operator's own devices, the last added first.
    pub devices: Vec<PushDevice>,
}

/// A browser that receives pushes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PushDevice {
    /// The id.
    pub id: String,
    /// Whether it belongs to the session that asks.
    pub current: bool,
    /// The browser, as it calls itself.
    pub user_agent: String,
    /// The time at which it was added.
    pub created_at: String,
    /// The time of the last push that the push service accepted.
    pub used_at: Option<String>,
}

/// The subscription of a browser, as `PushManager.subscribe` gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PushSubscription {
    /// The URL that pushes are sent to.
    pub endpoint: String,
    /// The browser's public key, in base64url.
    pub p256dh: String,
    /// The secret of 16 bytes that the browser shares with the service, in base64url.
    pub auth: String,
    /// The language tag of the console, for the texts of notifications.
    #[serde(default)]
    pub locale: Option<String>,
}
