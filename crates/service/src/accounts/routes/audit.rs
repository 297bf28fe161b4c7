//! Reading the audit log.

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::routing::get;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Service;
use crate::accounts::{Operator, Right};
use crate::audit;
use crate::error::ApiError;
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/audit", get(list))
}

/// A page of the audit log.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Page {
    /// Returns entries older than this one: the `next` of the page before.
    before: Option<i64>,
    /// Maximum entries: 1 to 200, 50 by default.
    limit: Option<i64>,
}

#[utoipa::path(
    get,
    path = "/audit",
    tag = "accounts",
    params(Page),
    responses(
        (status = 200, description = "Entries, the newest first; `next` if there are older ones"),
        (status = 403, description = "Only owners and admins may do this"),
    ),
)]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ReadAudit)?;
    let Query(page) = page?;
    let entries = audit::list(&service, &operator.tenant_id, page.before, page.limit).await?;
    Ok(ApiResponse::success(entries))
}
