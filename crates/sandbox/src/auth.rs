//! Authentication of API calls: the site token (5), and the one call that needs none.

use axum::http::{HeaderMap, header};
use chat_protocol::ServerEndpoint;
use secrecy::{ExposeSecret, SecretString};

use crate::call::Call;
use crate::error::ApiError;
use crate::fingerprint::is_same_secret;

/// Headers that a browser adds, and no site's server.
const BROWSER_HEADERS: [&str; 2] = ["origin", "sec-fetch-site"];

/// How a request was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// With the site token.
    Token,
    /// Without one: the call activates the site, and returns the token.
    Public,
}

/// Checks the token of a request. `call` is `None` when the path or the method is unknown: that is told only to whoever
/// has the token.
pub(crate) fn authorize(
    call: Option<Call>,
    headers: &HeaderMap,
    token: &SecretString,
) -> Result<Access, ApiError> {
    if matches!(call, Some(Call::Server(endpoint)) if !ServerEndpoint::needs_token(endpoint)) {
        // A page must not get a token, even one that reaches this port under a name of its own.
        if BROWSER_HEADERS.iter().any(|name| headers.contains_key(*name)) {
            return Err(ApiError::Forbidden("A site is activated by its server, not by a browser."));
        }
        return Ok(Access::Public);
    }
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = authorization.and_then(|value| value.strip_prefix("Bearer "));
    match bearer {
        Some(bearer) if is_same_secret(bearer, token.expose_secret()) => Ok(Access::Token),
        _ => Err(ApiError::InvalidToken),
    }
}
