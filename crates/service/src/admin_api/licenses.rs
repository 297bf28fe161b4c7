//! The license codes of a tenant.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, get};
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{License, LicenseRequest, NewLicense};
use secrecy::ExposeSecret;

use crate::Service;
use crate::accounts::{Actor, Operator, Right};
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::licenses;
use crate::response::ApiResponse;

/// Seconds for which a code is valid, if the request names no other: 30 days.
const LIFETIME_S: u32 = 30 * 24 * 60 * 60;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/licenses", get(list).post(create)).route("/licenses/{license}", delete(revoke))
}

/// Lists the licenses, without their codes.
#[utoipa::path(get, path = "/licenses", tag = "licenses", responses((status = 200, body = [License])))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    success(&licenses::list(service.db(), &operator.tenant_id).await?)
}

/// Creates a license. The response shows its code, once.
#[utoipa::path(post, path = "/licenses", tag = "licenses", request_body = LicenseRequest, responses((status = 200, body = NewLicense)))]
pub(super) async fn create(
    State(service): State<Service>,
    actor: Actor,
    Body(request): Body<LicenseRequest>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let now_ms = service.now_ms();
    let new: Result<licenses::NewLicense, ApiError> = transaction!(service.db(), |tx| {
        let lifetime_ms = i64::from(request.expires_in_s.unwrap_or(LIFETIME_S)) * 1000;
        let (tenant_id, site_id) = (&actor.operator.tenant_id, request.site_id.as_deref());
        let new = licenses::create(tx, now_ms, tenant_id, site_id, now_ms + lifetime_ms).await?;
        actor.record(tx, now_ms, "license.create", &new.info.id).await?;
        Ok(new)
    })
    .await;
    let new = new?;
    success(&NewLicense { info: new.info, license_code: new.code.expose_secret().to_owned() })
}

/// Revokes a license that was not used.
#[utoipa::path(delete, path = "/licenses/{license}", tag = "licenses", params(("license" = String, Path, description = "The license's id")), responses((status = 200, body = Empty)))]
pub(super) async fn revoke(
    State(service): State<Service>,
    actor: Actor,
    Path(license): Path<String>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let now_ms = service.now_ms();
    let revoked: Result<(), ApiError> = transaction!(service.db(), |tx| {
        licenses::revoke(tx, now_ms, &actor.operator.tenant_id, &license).await?;
        Ok(actor.record(tx, now_ms, "license.revoke", &license).await?)
    })
    .await;
    revoked.map(|()| done())
}
