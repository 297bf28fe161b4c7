//! The operator's own account: signing in, one-time links, the password and the authenticator app.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize};

use super::settings::OperatorRole;

/// A secret in a request, which `Debug` does not write.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Secret(String);

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Deref for Secret {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

/// The signed-in operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Me {
    /// The operator's id.
    pub id: String,
    /// The e-mail address, which signs in.
    pub email: String,
    /// The name that visitors see.
    pub name: String,
    /// The role.
    #[serde(deserialize_with = "known_role")]
    pub role: OperatorRole,
    /// Whether signing in needs an authenticator app.
    pub totp: bool,
    /// Whether the mailbox has proved the address. Only then can the account join further workspaces.
    pub confirmed: bool,
}

impl Me {
    /// Returns whether the operator may change sites and settings.
    pub fn is_admin(&self) -> bool {
        self.role >= OperatorRole::Admin
    }
}

/// Reads a role. One of a newer service gives the fewest rights.
fn known_role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OperatorRole, D::Error> {
    let name = String::deserialize(deserializer)?;
    Ok(OperatorRole::parse(&name).unwrap_or_default())
}

/// The company whose conversations the operator answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Tenant {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
}

/// A company that the signed-in account works for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Workspace {
    /// The id of the account's operator there, which is what [`SwitchWorkspace`] names.
    pub operator_id: String,
    /// The company.
    pub tenant: Tenant,
}

/// The body of `POST /session/switch`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SwitchWorkspace {
    /// The id of the account's operator in the other workspace.
    pub operator_id: String,
}

/// The signed-in operator and their tenant: `data` of `GET` and `POST /session`, of `POST /session/switch`,
/// of `POST /setup` and of `POST /setup/join`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SignedIn {
    /// The operator.
    pub operator: Me,
    /// The company.
    pub tenant: Tenant,
    /// All companies that the account works for and can switch to, this one included.
    pub workspaces: Vec<Workspace>,
    /// After the use of a one-time link: whether the operator is signed in now. Those with a second factor
    /// have to show it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_in: Option<bool>,
}

/// The body of `POST /session`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignIn {
    /// The e-mail address.
    pub email: String,
    /// The password.
    pub password: Secret,
    /// A one-time password or a recovery code, where the account has a second factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The purpose of a one-time link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// Creates an owner, with an e-mail address of their choice.
    Owner,
    /// Creates an operator with the address of the link.
    #[default]
    Invitation,
    /// Sets an operator's password anew.
    Password,
}

/// The body of `POST /setup/check`, which does not use the link up, and of `POST /setup/join`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LinkToken {
    /// The part of the link behind `#setup=`.
    pub token: Secret,
}

/// `data` of `POST /setup/check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SetupLink {
    /// The purpose of the link.
    pub kind: LinkKind,
    /// The address of the account, if the link names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The role of a new account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<OperatorRole>,
    /// The company's name.
    pub tenant: String,
    /// Whether the address has an account already, which joins by `POST /setup/join` once it is signed in.
    /// Only the mailbox of the address is told; for others it is always false.
    pub has_account: bool,
}

/// The body of `POST /setup`: a new account, or a new password.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Setup {
    /// The part of the link behind `#setup=`.
    pub token: Secret,
    /// The name that visitors see; for new accounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For the link of an owner. An invitation names it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// 10 to 1000 characters.
    pub password: Secret,
}

/// The body of `POST /password`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordChange {
    /// The password that is replaced.
    pub current_password: Secret,
    /// 10 to 1000 characters.
    pub new_password: Secret,
}

/// The body of `POST /password/forgot`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordForgotten {
    /// The address of the account.
    pub email: String,
}

/// `data` of `POST /password/forgot`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PasswordMail {
    /// Whether the service sends e-mails. If there is such an account, it gets one with a link.
    pub mailed: bool,
}

/// The body of the requests that ask for the operator's own password, as proof.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordProof {
    /// The password.
    pub password: Secret,
}

/// `data` of `POST /totp`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TotpEnrolment {
    /// The secret, to type into the authenticator app.
    pub secret: String,
    /// The address that opens the app.
    pub uri: String,
    /// The address as a QR code.
    pub qr: QrCode,
    /// The member of the same name of the confirmation.
    pub enrolment: String,
}

/// A QR code as a drawing, with the margin that readers need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct QrCode {
    /// The width and height of the drawing.
    pub size: i32,
    /// The dark modules, as the data of an SVG path.
    pub path: String,
}

/// The body of `POST /totp/confirm`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TotpConfirmation {
    /// See [`TotpEnrolment::enrolment`].
    pub enrolment: Secret,
    /// The first one-time password.
    pub code: String,
}

/// `data` of `POST /totp/confirm` and `POST /totp/recovery-codes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RecoveryCodes {
    /// The codes, which are shown this once.
    pub recovery_codes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_role_of_the_signed_in_operator_is_the_least_one() {
        let role = |json: &str| serde_json::from_str::<Me>(json).map(|me| (me.role, me.is_admin()));
        assert_eq!(role(r#"{"role":"owner"}"#).expect("known"), (OperatorRole::Owner, true));
        assert_eq!(role(r#"{"role":"auditor"}"#).expect("unknown"), (OperatorRole::Agent, false));
        assert_eq!(role("{}").expect("none"), (OperatorRole::Agent, false));
    }

    #[test]
    fn secrets_are_not_written_for_debugging() {
        let proof = PasswordProof { password: "correct horse".into() };
        assert_eq!(format!("{proof:?}"), "PasswordProof { password: Secret(…) }");
        assert_eq!(serde_json::to_string(&proof).expect("JSON"), r#"{"password":"correct horse"}"#);
    }
}
