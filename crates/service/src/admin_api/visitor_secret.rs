//! The secret with which a site proves who its visitors are.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, post};
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{NewVisitorSecret, VisitorSecretRotation};

use super::sites::change_site;
use super::tokens::overlap_ms;
use crate::Service;
use crate::accounts::Actor;
use crate::db::work;
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::response::ApiResponse;
use crate::sites;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/sites/{site}/visitor-secret/rotate", post(rotate))
        .route("/sites/{site}/visitor-secret", delete(remove))
}

/// Creates a secret, and lets the one before expire. The response shows it, once.
#[utoipa::path(post, path = "/sites/{site}/visitor-secret/rotate", tag = "sites", params(("site" = String, Path, description = "The site's id")), request_body = VisitorSecretRotation, responses((status = 200, body = NewVisitorSecret)))]
pub(super) async fn rotate(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(rotation): Body<VisitorSecretRotation>,
) -> Result<ApiResponse, ApiError> {
    let overlap_ms = overlap_ms(rotation.overlap_s);
    let key = service.0.options.key.clone();
    let new = change_site(
        &service,
        actor,
        &site,
        "visitor_secret.rotate",
        work!(|tx, now_ms, site| sites::rotate_visitor_secret(tx, &key, now_ms, &site, overlap_ms).await),
    );
    success(&new.await?)
}

/// Removes the secrets. All visitors are unverified from now on, and tokens are refused.
#[utoipa::path(delete, path = "/sites/{site}/visitor-secret", tag = "sites", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = Empty)))]
pub(super) async fn remove(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    change_site(
        &service,
        actor,
        &site,
        "visitor_secret.remove",
        work!(|tx, _, site| sites::remove_visitor_secret(tx, &site).await),
    )
    .await?;
    Ok(done())
}
