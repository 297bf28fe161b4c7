//! The check of a site's proxy.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::post;
use chat_protocol::admin::settings::{ProxyCheck, ProxyChecked};

use crate::Service;
use crate::accounts::Actor;
use crate::accounts::Right;
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::proxy_check;
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::sites;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/sites/{site}/check-proxy", post(check))
}

/// Requests a page of the site and its proxy, and tells what is wrong with them.
#[utoipa::path(post, path = "/sites/{site}/check-proxy", tag = "sites", params(("site" = String, Path, description = "The site's id")), request_body = ProxyCheck,
    responses((status = 200, description = "The result of each part", body = Vec<ProxyChecked>),
        (status = 400, description = "An address is not valid, or leads into a private network"),
        (status = 429, description = "Too many checks and questions in a minute")))]
pub(super) async fn check(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(request): Body<ProxyCheck>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &actor.operator.tenant_id, &site).await?;
    let allows_private = service.0.options.allow_private_webhooks;
    let addresses = proxy_check::Addresses::parse(&request.page, &request.proxy, allows_private)?;
    service.0.rates.trials.take(&service, &site.tenant_id, Caller::Anybody).await?.check()?;
    success(&proxy_check::check(&addresses, &site.id, &sites::option_attributes(), allows_private).await?)
}
