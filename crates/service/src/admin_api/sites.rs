//! The sites of a tenant.

use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use chat_protocol::admin::Empty;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Service;
use crate::accounts::{Actor, Operator, Right};
use crate::ai::{Endpoint, EndpointError, quota};
use crate::db::{Tx, transaction, work};
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::response::ApiResponse;
use crate::sites::{self, Site, SiteChange};

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/sites", get(list).post(create))
        .route("/sites/{site}", get(show).patch(change).delete(remove))
        .route("/sites/{site}/disable", post(disable))
        .route("/sites/{site}/enable", post(enable))
}

/// Changes something of a site of the operator's tenant, and records it.
pub(super) async fn change_site<T, F>(
    service: &Service,
    actor: Actor,
    site_id: &str,
    action: &'static str,
    work: F,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    F: for<'tx> FnOnce(&'tx mut Tx, i64, Site) -> BoxFuture<'tx, Result<T, ApiError>> + Send + 'static,
{
    actor.operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &actor.operator.tenant_id, site_id).await?;
    let now_ms = service.now_ms();
    transaction!(service.db(), |tx| {
        actor.record(tx, now_ms, action, &site.id).await?;
        work(tx, now_ms, site).await
    })
    .await
}

/// Lists the sites.
#[utoipa::path(get, path = "/sites", tag = "sites", responses((status = 200, body = [Site])))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    success(&sites::list(service.db(), Some(&operator.tenant_id)).await?)
}

/// Refuses an AI endpoint that would never be used, such as one in the host's own network.
fn check_ai(service: &Service, change: &SiteChange) -> Result<(), ApiError> {
    let Some(Some(ai)) = &change.ai else { return Ok(()) };
    let endpoint = Endpoint {
        base: ai.base.clone(),
        key: ai.key.clone(),
        model: ai.model.clone(),
        timeout: Duration::ZERO,
        options: ai.options()?,
    };
    service.0.ai.check(&endpoint).map_err(|error| {
        let field = if error == EndpointError::Key { "ai.key" } else { "ai.base" };
        ApiError::InvalidRequest(format!("{field}: {error}."))
    })
}

/// A site to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewSite {
    /// The site's name, 1 to 200 characters.
    name: String,
    /// The address of its website, whose origin becomes an allowed one.
    #[serde(default)]
    address: Option<String>,
    /// Its settings.
    #[serde(default)]
    settings: SiteChange,
}

/// Creates a site.
#[utoipa::path(post, path = "/sites", tag = "sites", request_body = NewSite, responses((status = 200, body = Site)))]
pub(super) async fn create(
    State(service): State<Service>,
    actor: Actor,
    Body(mut new): Body<NewSite>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    if let Some(address) = &new.address {
        let origin = sites::origin_of_address(address)?;
        new.settings.allowed_origins.get_or_insert_default().push(origin);
    }
    check_ai(&service, &new.settings)?;
    let now_ms = service.now_ms();
    let key = service.0.options.key.clone();
    let site: Result<Site, ApiError> = transaction!(service.db(), |tx| {
        let site = sites::create(tx, now_ms, &actor.operator.tenant_id, &new.name).await?;
        actor.record(tx, now_ms, "site.create", &site.id).await?;
        sites::change(tx, &key, &site, new.settings).await
    })
    .await;
    success(&site?)
}

/// A site and its use.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SiteShown {
    #[serde(flatten)]
    site: Site,
    /// The replies of the AI this month.
    ai_replies_this_month: i64,
}

/// Shows a site, and how many replies of the AI it has used this month.
#[utoipa::path(get, path = "/sites/{site}", tag = "sites", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = SiteShown)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    let ai_replies_this_month = quota::used(service.db(), &site.id, service.now_ms()).await?;
    success(&SiteShown { site, ai_replies_this_month })
}

/// Changes settings of a site.
#[utoipa::path(patch, path = "/sites/{site}", tag = "sites", params(("site" = String, Path, description = "The site's id")), request_body = SiteChange, responses((status = 200, body = Site)))]
pub(super) async fn change(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(change): Body<SiteChange>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    check_ai(&service, &change)?;
    let key = service.0.options.key.clone();
    let changed = change_site(
        &service,
        actor,
        &site,
        "site.update",
        work!(|tx, _, site| sites::change(tx, &key, &site, change).await),
    );
    success(&changed.await?)
}

/// Deletes a site and all of its data.
#[utoipa::path(delete, path = "/sites/{site}", tag = "sites", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = Empty)))]
pub(super) async fn remove(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    change_site(
        &service,
        actor,
        &site,
        "site.delete",
        work!(|tx, now_ms, site| sites::delete(tx, now_ms, &site).await),
    )
    .await?;
    Ok(done())
}

/// Switches a site off: its tokens are refused.
#[utoipa::path(post, path = "/sites/{site}/disable", tag = "sites", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = Empty)))]
pub(super) async fn disable(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    change_site(
        &service,
        actor,
        &site,
        "site.disable",
        work!(|tx, now_ms, site| sites::set_disabled(tx, now_ms, &site, true).await),
    )
    .await?;
    Ok(done())
}

/// Switches a site on again.
#[utoipa::path(post, path = "/sites/{site}/enable", tag = "sites", params(("site" = String, Path, description = "The site's id")), responses((status = 200, body = Empty)))]
pub(super) async fn enable(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    change_site(
        &service,
        actor,
        &site,
        "site.enable",
        work!(|tx, now_ms, site| sites::set_disabled(tx, now_ms, &site, false).await),
    )
    .await?;
    Ok(done())
}
