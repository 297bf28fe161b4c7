//! The license codes of a tenant.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, get};
use chat_protocol::Value;
use secrecy::ExposeSecret;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::Service;
use crate::accounts::Actor;
use crate::accounts::{Operator, Right};
use crate::error::ApiError;
use crate::input::{Body, done, success, to_value};
use crate::licenses::{self, License, NewLicense};
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

/// A license to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LicenseRequest {
    /// The site that it activates; without one, it creates a site.
    #[serde(default)]
    site_id: Option<String>,
    /// Seconds after which it expires; 30 days, if missing.
    #[serde(default)]
    expires_in_s: Option<u32>,
}

/// Creates a license. The response shows its code, once.
#[utoipa::path(post, path = "/licenses", tag = "licenses", request_body = LicenseRequest, responses((status = 200, body = License)))]
pub(super) async fn create(
    State(service): State<Service>,
    actor: Actor,
    Body(request): Body<LicenseRequest>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let now_ms = service.now_ms();
    let new: Result<NewLicense, ApiError> = service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let lifetime_ms = i64::from(request.expires_in_s.unwrap_or(LIFETIME_S)) * 1000;
                let (tenant_id, site_id) = (&actor.operator.tenant_id, request.site_id.as_deref());
                let new = licenses::create(tx, now_ms, tenant_id, site_id, now_ms + lifetime_ms).await?;
                actor.record(tx, now_ms, "license.create", &new.info.id).await?;
                Ok(new)
            })
        })
        .await;
    let new = new?;
    let mut shown = to_value(&new.info)?;
    if let Value::Object(members) = &mut shown {
        members.push(("licenseCode".to_owned(), new.code.expose_secret().into()));
    }
    Ok(ApiResponse::success(shown))
}

/// Revokes a license that was not used.
#[utoipa::path(delete, path = "/licenses/{license}", tag = "licenses", params(("license" = String, Path, description = "The license's id")), responses((status = 200)))]
pub(super) async fn revoke(
    State(service): State<Service>,
    actor: Actor,
    Path(license): Path<String>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let now_ms = service.now_ms();
    let revoked: Result<(), ApiError> = service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                licenses::revoke(tx, now_ms, &actor.operator.tenant_id, &license).await?;
                Ok(actor.record(tx, now_ms, "license.revoke", &license).await?)
            })
        })
        .await;
    revoked.map(|()| done())
}
