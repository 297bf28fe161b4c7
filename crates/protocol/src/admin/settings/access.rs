//! The secrets by which a site's server is known: tokens, and the licenses that are exchanged for them.

use serde::{Deserialize, Serialize};

/// A site token, without its secret: `GET /sites/{site}/tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Token {
    /// The token's id, which is no secret.
    pub id: String,
    /// The purpose of the token.
    pub name: String,
    /// The time of its creation, ISO 8601.
    pub created_at: String,
    /// The time at which it expires, ISO 8601.
    pub expires_at: Option<String>,
    /// The time at which it was revoked, ISO 8601.
    pub revoked_at: Option<String>,
    /// The time of its last use, ISO 8601, to about a minute.
    pub last_used_at: Option<String>,
}

/// A new token. Its secret is shown this once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewToken {
    /// The token.
    #[serde(flatten)]
    pub info: Token,
    /// The secret.
    pub token: String,
}

/// The body of `POST /sites/{site}/tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenRequest {
    /// The purpose of the token, up to 200 characters.
    #[serde(default)]
    pub name: String,
    /// Seconds after which it expires; never, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_s: Option<u32>,
}

/// The body of `POST /sites/{site}/tokens/rotate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rotation {
    /// The purpose of the new token, up to 200 characters.
    #[serde(default)]
    pub name: String,
    /// Seconds for which the old tokens stay valid, up to 90 days; a day, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap_s: Option<u32>,
}

/// A new secret with which a site proves who its visitors are. It is shown this once.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewVisitorSecret {
    /// The secret: the key of HS256, as it is.
    pub secret: String,
    /// The time of its creation, ISO 8601.
    pub created_at: String,
}

impl core::fmt::Debug for NewVisitorSecret {
    /// Writes everything but the secret.
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("NewVisitorSecret").field("created_at", &self.created_at).finish_non_exhaustive()
    }
}

/// The body of `POST /sites/{site}/visitor-secret/rotate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VisitorSecretRotation {
    /// Seconds for which the old secret stays valid, up to 90 days; a day, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap_s: Option<u32>,
}

/// A license, without its code: `GET /licenses`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct License {
    /// The license's id, which is no secret.
    pub id: String,
    /// The site that it activates; without one, it creates a site.
    pub site_id: Option<String>,
    /// The time of its creation, ISO 8601.
    pub created_at: String,
    /// The time at which it expires, ISO 8601.
    pub expires_at: String,
    /// The time at which it was used, ISO 8601.
    pub used_at: Option<String>,
    /// Whether it was revoked.
    pub revoked: bool,
}

/// A new license. Its code is shown this once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewLicense {
    /// The license.
    #[serde(flatten)]
    pub info: License,
    /// The code.
    pub license_code: String,
}

/// The body of `POST /licenses`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LicenseRequest {
    /// The site that it activates; without one, it creates a site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_id: Option<String>,
    /// Seconds after which it expires; 30 days, if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_s: Option<u32>,
}
