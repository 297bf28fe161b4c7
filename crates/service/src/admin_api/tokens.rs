//! The tokens of a site.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, get, post};
use chat_protocol::Value;
use secrecy::ExposeSecret;
use serde::Deserialize;
use utoipa::ToSchema;

use super::sites::change_site;
use crate::Service;
use crate::accounts::Actor;
use crate::accounts::{Operator, Right};
use crate::error::ApiError;
use crate::input::{Body, done, success, to_value};
use crate::response::ApiResponse;
use crate::sites;
use crate::tokens::{self, NewToken, TokenInfo};

/// Seconds for which old tokens stay valid after a rotation, if the request names no other.
const OVERLAP_S: u32 = 24 * 60 * 60;
/// Maximum overlap of a rotation, in seconds: 90 days.
const MAX_OVERLAP_S: u32 = 90 * 24 * 60 * 60;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/sites/{site}/tokens", get(list).post(create))
        .route("/sites/{site}/tokens/rotate", post(rotate))
        .route("/sites/{site}/tokens/{token}", delete(revoke))
}

/// Lists the tokens, without their secrets.
#[utoipa::path(get, path = "/sites/{site}/tokens", tag = "tokens", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = [TokenInfo])))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    success(&tokens::list(service.db(), &site).await?)
}

/// A token to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TokenRequest {
    /// The purpose of the token, up to 200 characters.
    #[serde(default)]
    name: String,
    /// Seconds after which it expires; never, if missing.
    #[serde(default)]
    expires_in_s: Option<u32>,
}

/// Creates a token. The response shows its secret, once.
#[utoipa::path(post, path = "/sites/{site}/tokens", tag = "tokens", params(("site" = String, Path, description = "The site's id")), request_body = TokenRequest, responses((status = 200, body = TokenInfo)))]
pub(super) async fn create(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(request): Body<TokenRequest>,
) -> Result<ApiResponse, ApiError> {
    let new = change_site(&service, actor, &site, "token.create", move |tx, now_ms, site| {
        Box::pin(async move {
            let expires_ms = request.expires_in_s.map(|seconds| now_ms + i64::from(seconds) * 1000);
            tokens::create(tx, now_ms, &site, &request.name, expires_ms).await
        })
    });
    with_secret(&new.await?)
}

/// A rotation.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Rotation {
    /// The purpose of the new token, up to 200 characters.
    #[serde(default)]
    name: String,
    /// Seconds for which the old tokens stay valid, up to 90 days; a day, if missing.
    #[serde(default)]
    overlap_s: Option<u32>,
}

/// Creates a token, and lets the others expire. The response shows its secret, once.
#[utoipa::path(post, path = "/sites/{site}/tokens/rotate", tag = "tokens", params(("site" = String, Path, description = "The site's id")), request_body = Rotation, responses((status = 200, body = TokenInfo)))]
pub(super) async fn rotate(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(rotation): Body<Rotation>,
) -> Result<ApiResponse, ApiError> {
    let overlap_s = rotation.overlap_s.unwrap_or(OVERLAP_S).min(MAX_OVERLAP_S);
    let new = change_site(&service, actor, &site, "token.rotate", move |tx, now_ms, site| {
        Box::pin(async move {
            tokens::rotate(tx, now_ms, &site, &rotation.name, i64::from(overlap_s) * 1000).await
        })
    });
    with_secret(&new.await?)
}

fn with_secret(new: &NewToken) -> Result<ApiResponse, ApiError> {
    let mut shown = to_value(&new.info)?;
    if let Value::Object(members) = &mut shown {
        members.push(("token".to_owned(), new.secret.expose_secret().into()));
    }
    Ok(ApiResponse::success(shown))
}

/// Revokes a token.
#[utoipa::path(delete, path = "/sites/{site}/tokens/{token}", tag = "tokens", params(("site" = String, Path, description = "The site's id"), ("token" = String, Path, description = "The token's id")), responses((status = 200)))]
pub(super) async fn revoke(
    State(service): State<Service>,
    actor: Actor,
    Path((site, token)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    change_site(&service, actor, &site, "token.revoke", move |tx, now_ms, site| {
        Box::pin(async move { tokens::revoke(tx, now_ms, &site, &token).await })
    })
    .await?;
    Ok(done())
}
