//! Authentication of API calls by the site token (5). Only activation needs none.

use axum::http::{HeaderMap, header};
use chat_protocol::ServerEndpoint;
use secrecy::{ExposeSecret, SecretString};

use crate::call::Call;
use crate::error::ApiError;
use crate::fingerprint::is_same_secret;

/// Headers that browsers add and servers do not.
const BROWSER_HEADERS: [&str; 2] = ["origin", "sec-fetch-site"];

/// The way in which a request was authorized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// By the site token.
    Token,
    /// Without a token: the call activates the site and returns the token.
    Public,
}

/// Checks the token of a request. `call` is `None` when the path or the method is unknown, which only the
/// token's holder is told.
pub(crate) fn authorize(
    call: Option<Call>,
    headers: &HeaderMap,
    token: &SecretString,
) -> Result<Access, ApiError> {
    if matches!(call, Some(Call::Server(endpoint)) if !ServerEndpoint::needs_token(endpoint)) {
        // A web page must not obtain a token, even if it reaches this port through DNS rebinding.
        if BROWSER_HEADERS.iter().any(|name| headers.contains_key(*name)) {
            return Err(ApiError::Forbidden(
                "A browser cannot activate a site: activate it from its server.",
            ));
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
