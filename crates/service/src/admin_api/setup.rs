//! The first steps of a site.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use chat_protocol::admin::settings::SiteSetup;

use crate::accounts::{Operator, Right};
use crate::error::ApiError;
use crate::input::success;
use crate::response::ApiResponse;
use crate::{Service, onboarding, sites};

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/sites/{site}/setup", get(show))
}

/// Shows which of the first steps of a site are done, and the websites that asked for the chat and were
/// refused.
#[utoipa::path(get, path = "/sites/{site}/setup", tag = "sites", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = SiteSetup)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    success(&onboarding::steps(&service, &site).await?)
}
