//! The operator's own account: signing in, one-time links, password, sessions, authenticator app.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ApiError, delete, get, post};

/// An operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Me {
    /// The id.
    pub id: String,
    /// The e-mail address.
    pub email: String,
    /// The name, as the team sees it.
    pub name: String,
    /// `agent`, `admin` or `owner`.
    pub role: String,
    /// Whether signing in needs an authenticator app.
    pub totp: bool,
}

impl Me {
    /// Returns whether the operator may change sites and settings.
    pub fn is_admin(&self) -> bool {
        matches!(self.role.as_str(), "admin" | "owner")
    }
}

/// The company whose conversations the operator answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Tenant {
    /// The id.
    pub id: String,
    /// The name.
    pub name: String,
}

/// The signed-in operator and their tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SignedIn {
    /// The operator.
    pub operator: Me,
    /// The company.
    pub tenant: Tenant,
    /// After the use of a one-time link: whether the operator is signed in now.
    #[serde(rename = "signedIn")]
    pub is_complete: Option<bool>,
}

/// What a one-time link is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SetupLink {
    /// `owner`, `invitation` or `password`.
    pub kind: String,
    /// The address of the account, if the link names it.
    pub email: Option<String>,
    /// The company's name.
    pub tenant: String,
}

/// An own session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnSession {
    /// The id.
    pub id: String,
    /// The browser, as it calls itself.
    pub user_agent: Option<String>,
    /// The network address.
    pub address: Option<String>,
    /// When the session began.
    pub created_at: Option<String>,
    /// When it was last used.
    pub seen_at: Option<String>,
    /// Whether it is this one.
    pub current: bool,
}

/// The secret of an authenticator app that is being set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct NewTotp {
    /// The secret, to type into the app.
    pub secret: String,
    /// The address that opens the app.
    pub uri: String,
    /// What the confirmation repeats.
    pub enrolment: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RecoveryCodes {
    recovery_codes: Vec<String>,
}

/// Returns who is signed in.
pub async fn session() -> Result<SignedIn, ApiError> {
    get("session").await
}

/// Signs in.
pub async fn sign_in(email: &str, password: &str, code: Option<&str>) -> Result<SignedIn, ApiError> {
    let mut body = json!({"email": email, "password": password});
    if let (Some(code), Some(members)) = (code, body.as_object_mut()) {
        members.insert("code".to_owned(), code.into());
    }
    post("session", &body).await
}

/// Ends the session.
pub async fn sign_out() -> Result<Value, ApiError> {
    delete("session").await
}

/// Returns what a one-time link is for.
pub async fn check_link(token: &str) -> Result<SetupLink, ApiError> {
    post("setup/check", &json!({"token": token})).await
}

/// Uses a one-time link: creates the account, or sets its password.
pub async fn use_link(
    token: &str,
    name: Option<&str>,
    email: &str,
    password: &str,
) -> Result<SignedIn, ApiError> {
    let mut body = json!({"token": token, "email": email, "password": password});
    if let (Some(name), Some(members)) = (name, body.as_object_mut()) {
        members.insert("name".to_owned(), name.into());
    }
    post("setup", &body).await
}

/// Asks for an e-mail with a link for a new password. Returns whether the service can send e-mails.
pub async fn forgot_password(email: &str) -> Result<bool, ApiError> {
    let answer: Value = post("password/forgot", &json!({"email": email})).await?;
    Ok(answer.get("mailed").and_then(Value::as_bool).unwrap_or_default())
}

/// Changes the password. All other sessions end.
pub async fn change_password(current: &str, new: &str) -> Result<Value, ApiError> {
    post("password", &json!({"currentPassword": current, "newPassword": new})).await
}

/// Returns the own sessions.
pub async fn sessions() -> Result<Vec<OwnSession>, ApiError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Sessions {
        sessions: Vec<OwnSession>,
    }
    Ok(get::<Sessions>("sessions").await?.sessions)
}

/// Ends an own session.
pub async fn end_session(id: &str) -> Result<Value, ApiError> {
    delete(&format!("sessions/{}", crate::location::encode(id))).await
}

/// Ends all own sessions but this one.
pub async fn end_other_sessions() -> Result<Value, ApiError> {
    delete("sessions").await
}

/// Begins to set up an authenticator app.
pub async fn enrol_totp(password: &str) -> Result<NewTotp, ApiError> {
    post("totp", &json!({"password": password})).await
}

/// Confirms the authenticator app. Returns the recovery codes, which are shown once.
pub async fn confirm_totp(enrolment: &str, code: &str) -> Result<Vec<String>, ApiError> {
    let body = json!({"enrolment": enrolment, "code": code});
    Ok(post::<RecoveryCodes>("totp/confirm", &body).await?.recovery_codes)
}

/// Removes the authenticator app.
pub async fn disable_totp(password: &str) -> Result<Value, ApiError> {
    post("totp/disable", &json!({"password": password})).await
}

/// Returns new recovery codes; the old ones are not valid any more.
pub async fn renew_recovery_codes(password: &str) -> Result<Vec<String>, ApiError> {
    let body = json!({"password": password});
    Ok(post::<RecoveryCodes>("totp/recovery-codes", &body).await?.recovery_codes)
}
