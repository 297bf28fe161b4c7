//! The operator's own settings.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::admin::Preferences;

use crate::Service;
use crate::accounts::{Operator, preferences, quiet_hours};
use crate::db::{Wake, args, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/preferences", get(show).put(change))
}

/// Shows the settings of the operator who asks.
#[utoipa::path(get, path = "/preferences", tag = "inbox", responses((status = 200, body = Preferences)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    let sql = "SELECT availability, preferences FROM operators WHERE id = $1 AND tenant_id = $2";
    let row = service.db().optional(sql, args![&operator.id, &operator.tenant_id]).await?;
    success(&preferences::stored(&row.ok_or(ApiError::NotFound("This operator"))?, 0)?)
}

/// Changes the settings of the operator who asks.
#[utoipa::path(put, path = "/preferences", tag = "inbox", request_body = Preferences,
    responses((status = 200, body = Preferences)))]
pub(super) async fn change(
    State(service): State<Service>,
    operator: Operator,
    Body(changed): Body<Preferences>,
) -> Result<ApiResponse, ApiError> {
    if let Some(hours) = &changed.quiet_hours {
        quiet_hours::check(hours)?;
    }
    let json = serde_json::to_string(&changed).map_err(|_| ApiError::Internal)?;
    let availability = preferences::as_text(changed.availability);
    let written: Result<(), ApiError> = transaction!(service.db(), |tx| {
        let sql = "UPDATE operators SET availability = $3, preferences = $4
                   WHERE id = $1 AND tenant_id = $2";
        tx.execute(sql, args![&operator.id, &operator.tenant_id, availability, json]).await?;
        tx.wake(Wake::Presence { tenant: operator.tenant_id });
        Ok(())
    })
    .await;
    written?;
    success(&changed)
}
