//! The tokens of a site.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, get, post};
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{NewToken, Rotation, Token, TokenRequest};
use secrecy::ExposeSecret;

use super::sites::change_site;
use crate::Service;
use crate::accounts::{Actor, Operator, Right};
use crate::db::work;
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::response::ApiResponse;
use crate::sites;
use crate::tokens;

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
#[utoipa::path(get, path = "/sites/{site}/tokens", tag = "tokens", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = [Token])))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    success(&tokens::list(service.db(), &site).await?)
}

/// Creates a token. The response shows its secret, once.
#[utoipa::path(post, path = "/sites/{site}/tokens", tag = "tokens", params(("site" = String, Path, description = "The site's id")), request_body = TokenRequest, responses((status = 200, body = NewToken)))]
pub(super) async fn create(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(request): Body<TokenRequest>,
) -> Result<ApiResponse, ApiError> {
    let new = change_site(
        &service,
        actor,
        &site,
        "token.create",
        work!(|tx, now_ms, site| {
            let expires_ms = request.expires_in_s.map(|seconds| now_ms + i64::from(seconds) * 1000);
            tokens::create(tx, now_ms, &site, &request.name, expires_ms).await
        }),
    );
    with_secret(new.await?)
}

/// Creates a token, and lets the others expire. The response shows its secret, once.
#[utoipa::path(post, path = "/sites/{site}/tokens/rotate", tag = "tokens", params(("site" = String, Path, description = "The site's id")), request_body = Rotation, responses((status = 200, body = NewToken)))]
pub(super) async fn rotate(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(rotation): Body<Rotation>,
) -> Result<ApiResponse, ApiError> {
    let overlap_ms = overlap_ms(rotation.overlap_s);
    let new = change_site(
        &service,
        actor,
        &site,
        "token.rotate",
        work!(|tx, now_ms, site| tokens::rotate(tx, now_ms, &site, &rotation.name, overlap_ms).await),
    );
    with_secret(new.await?)
}

/// Returns the overlap of a rotation, in milliseconds.
pub(super) fn overlap_ms(overlap_s: Option<u32>) -> i64 {
    i64::from(overlap_s.unwrap_or(OVERLAP_S).min(MAX_OVERLAP_S)) * 1000
}

fn with_secret(new: tokens::NewToken) -> Result<ApiResponse, ApiError> {
    success(&NewToken { info: new.info, token: new.secret.expose_secret().to_owned() })
}

/// Revokes a token.
#[utoipa::path(delete, path = "/sites/{site}/tokens/{token}", tag = "tokens", params(("site" = String, Path, description = "The site's id"), ("token" = String, Path, description = "The token's id")), responses((status = 200, body = Empty)))]
pub(super) async fn revoke(
    State(service): State<Service>,
    actor: Actor,
    Path((site, token)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    change_site(
        &service,
        actor,
        &site,
        "token.revoke",
        work!(|tx, now_ms, site| tokens::revoke(tx, now_ms, &site, &token).await),
    )
    .await?;
    Ok(done())
}
