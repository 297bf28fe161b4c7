//! The admin API of a site's sources.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, patch, post};
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{NewSource, SourceChange, SourceShown, Sources};

use super::records;
use crate::Service;
use crate::accounts::{Actor, Operator, SiteChange};
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::response::ApiResponse;
use crate::sites;

/// Returns the routes, relative to the admin API's path. They must be guarded.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/sites/{site}/sources", get(list).post(add))
        .route("/sites/{site}/sources/{source}", patch(change).delete(remove))
        .route("/sites/{site}/sources/{source}/run", post(read_again))
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list, add, change, remove, read_again))]
pub(crate) struct SourcesApi;

#[utoipa::path(get, path = "/sites/{site}/sources", tag = "knowledge", params(("site" = String, Path)),
    responses((status = 200, description = "The websites that the service reads, with their state", body = Sources),
        (status = 404, description = "The site does not exist"))
)]
async fn list(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    success(&Sources { sources: records::list(service.db(), &site.id).await? })
}

#[utoipa::path(post, path = "/sites/{site}/sources", tag = "knowledge", request_body = NewSource,
    params(("site" = String, Path)), responses(
    (status = 200, description = "The new source, which is read soon", body = SourceShown),
    (status = 400, description = "The address is not valid, or leads into a private network"),
    (status = 403, description = "The role does not allow it"),
    (status = 409, description = "The site has the maximum number of sources"),
))]
async fn add(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(new): Body<NewSource>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "source.create").await?;
    let site_id = change.site_id.clone();
    let fetcher = super::Sources::fetcher(&service).map_err(|_| ApiError::Internal)?.clone();
    let id = transaction!(service.db(), |tx| {
        let id = records::add(tx, change.now_ms, &change.site_id, &new, &fetcher).await?;
        change.record(tx, &id).await?;
        Ok::<_, ApiError>(id)
    })
    .await?;
    shown(&service, &site_id, &id).await
}

#[utoipa::path(patch, path = "/sites/{site}/sources/{source}", tag = "knowledge", request_body = SourceChange,
    params(("site" = String, Path), ("source" = String, Path)), responses(
    (status = 200, description = "The changed source", body = SourceShown),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the source does not exist"),
))]
async fn change(
    State(service): State<Service>,
    actor: Actor,
    Path((site, id)): Path<(String, String)>,
    Body(wanted): Body<SourceChange>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "source.update").await?;
    let (site_id, source) = (change.site_id.clone(), id.clone());
    transaction!(service.db(), |tx| {
        records::change(tx, change.now_ms, &change.site_id, &id, &wanted).await?;
        change.record(tx, &id).await
    })
    .await?;
    shown(&service, &site_id, &source).await
}

#[utoipa::path(delete, path = "/sites/{site}/sources/{source}", tag = "knowledge",
    params(("site" = String, Path), ("source" = String, Path)), responses(
    (status = 200, description = "Removed with its pages", body = Empty),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the source does not exist"),
))]
async fn remove(
    State(service): State<Service>,
    actor: Actor,
    Path((site, id)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "source.delete").await?;
    let source = id.clone();
    transaction!(service.db(), |tx| {
        records::mark_removed(tx, change.now_ms, &change.site_id, &id).await?;
        change.record(tx, &id).await
    })
    .await?;
    records::remove_pages(service.db(), &source).await?;
    Ok(done())
}

#[utoipa::path(post, path = "/sites/{site}/sources/{source}/run", tag = "knowledge",
    params(("site" = String, Path), ("source" = String, Path)), responses(
    (status = 200, description = "The source, which is read again soon", body = SourceShown),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the source does not exist"),
))]
async fn read_again(
    State(service): State<Service>,
    actor: Actor,
    Path((site, id)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "source.run").await?;
    let (site_id, source) = (change.site_id.clone(), id.clone());
    transaction!(service.db(), |tx| {
        records::read_again(tx, change.now_ms, &change.site_id, &id).await?;
        change.record(tx, &id).await
    })
    .await?;
    shown(&service, &site_id, &source).await
}

async fn shown(service: &Service, site_id: &str, id: &str) -> Result<ApiResponse, ApiError> {
    success(&SourceShown { source: records::find(service.db(), site_id, id).await? })
}
