//! The use of what is limited.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::admin::settings::Quota;

use crate::Service;
use crate::accounts::{Operator, Right};
use crate::ai::quota;
use crate::error::ApiError;
use crate::input::success;
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/quota", get(show))
}

/// Shows how many replies of the AI each site has used this month, and how many it may use.
#[utoipa::path(get, path = "/quota", tag = "sites", responses((status = 200, body = Quota)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    success(&quota::of_tenant(service.db(), &operator.tenant_id, service.now_ms()).await?)
}
