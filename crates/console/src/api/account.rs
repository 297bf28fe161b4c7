//! The operator's own account: signing in, one-time links, password, sessions, authenticator app.

use chat_protocol::admin::settings::{EndedSessions, SessionInfo, Sessions};
use chat_protocol::admin::{
    Empty, LinkToken, PasswordChange, PasswordForgotten, PasswordMail, PasswordProof, RecoveryCodes, Setup,
    SetupLink, SignIn, SignedIn, SwitchWorkspace, TotpConfirmation, TotpEnrolment,
};

use super::{ApiError, delete, get, post};

/// Returns who is signed in.
pub async fn session() -> Result<SignedIn, ApiError> {
    get("session").await
}

/// Signs in.
pub async fn sign_in(email: &str, password: &str, code: Option<&str>) -> Result<SignedIn, ApiError> {
    let code = code.map(str::to_owned);
    post("session", &SignIn { email: email.to_owned(), password: password.into(), code }).await
}

/// Ends the session.
pub async fn sign_out() -> Result<Empty, ApiError> {
    delete("session").await
}

/// Switches to another workspace of the account, by the id of its operator there.
pub async fn switch_workspace(operator_id: &str) -> Result<SignedIn, ApiError> {
    post("session/switch", &SwitchWorkspace { operator_id: operator_id.to_owned() }).await
}

/// Joins the workspace of a one-time link with the signed-in account.
pub async fn join(token: &str) -> Result<SignedIn, ApiError> {
    post("setup/join", &LinkToken { token: token.into() }).await
}

/// Returns what a one-time link is for.
pub async fn check_link(token: &str) -> Result<SetupLink, ApiError> {
    post("setup/check", &LinkToken { token: token.into() }).await
}

/// Uses a one-time link: creates the account, or sets its password.
pub async fn use_link(
    token: &str,
    name: Option<&str>,
    email: &str,
    password: &str,
) -> Result<SignedIn, ApiError> {
    let (name, email) = (name.map(str::to_owned), Some(email.to_owned()));
    post("setup", &Setup { token: token.into(), name, email, password: password.into() }).await
}

/// Asks for an e-mail with a link for a new password. Returns whether the service can send e-mails.
pub async fn forgot_password(email: &str) -> Result<bool, ApiError> {
    let forgotten = PasswordForgotten { email: email.to_owned() };
    Ok(post::<PasswordMail>("password/forgot", &forgotten).await?.mailed)
}

/// Changes the password. All other sessions end.
pub async fn change_password(current: &str, new: &str) -> Result<Empty, ApiError> {
    post("password", &PasswordChange { current_password: current.into(), new_password: new.into() }).await
}

/// Returns the own sessions.
pub async fn sessions() -> Result<Vec<SessionInfo>, ApiError> {
    Ok(get::<Sessions>("sessions").await?.sessions)
}

/// Ends an own session.
pub async fn end_session(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("sessions/{}", crate::location::encode(id))).await
}

/// Ends all own sessions but this one.
pub async fn end_other_sessions() -> Result<EndedSessions, ApiError> {
    delete("sessions").await
}

/// Begins to set up an authenticator app.
pub async fn enrol_totp(password: &str) -> Result<TotpEnrolment, ApiError> {
    post("totp", &PasswordProof { password: password.into() }).await
}

/// Confirms the authenticator app. Returns the recovery codes, which are shown once.
pub async fn confirm_totp(enrolment: &str, code: &str) -> Result<Vec<String>, ApiError> {
    let body = TotpConfirmation { enrolment: enrolment.into(), code: code.to_owned() };
    Ok(post::<RecoveryCodes>("totp/confirm", &body).await?.recovery_codes)
}

/// Removes the authenticator app.
pub async fn disable_totp(password: &str) -> Result<Empty, ApiError> {
    post("totp/disable", &PasswordProof { password: password.into() }).await
}

/// Returns new recovery codes; the old ones are not valid any more.
pub async fn renew_recovery_codes(password: &str) -> Result<Vec<String>, ApiError> {
    let body = PasswordProof { password: password.into() };
    Ok(post::<RecoveryCodes>("totp/recovery-codes", &body).await?.recovery_codes)
}
