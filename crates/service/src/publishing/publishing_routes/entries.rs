//! Entries that are edited, dismissed and undone.

use axum::extract::State;
use chat_protocol::JobId;
use chat_protocol::admin::Empty;
use chat_protocol::admin::publishing::{NewArticle, QueuedJob};

use super::{Segments, change, payload, segments};
use crate::Service;
use crate::accounts::Actor;
use crate::db::work;
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::publishing::By;
use crate::publishing::approval;
use crate::response::ApiResponse;

/// Replaces the text of an article, which then waits for review. The published version stays until then.
#[utoipa::path(put, path = "/sites/{site}/reviews/{id}", tag = "publishing", request_body = NewArticle,
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Empty), (status = 400, description = "A field is not valid"),
        (status = 404, description = "The site has no such article"),
        (status = 409, description = "A job of this entry is queued, or another article has the path")))]
pub(super) async fn edit(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
    Body(article): Body<NewArticle>,
) -> Result<ApiResponse, ApiError> {
    let (site, id) = segments(path)?;
    let article = payload(article)?;
    if !article.path.as_deref().unwrap_or_default().starts_with('/') {
        return Err(ApiError::InvalidRequest("invalid path: expected / at the beginning".to_owned()));
    }
    change(
        &service,
        actor,
        &site,
        "review.edit",
        work!(|tx, now_ms, site| {
            approval::edit(tx, now_ms, &site.id, &id, &article).await?;
            Ok(((), id))
        }),
    )
    .await?;
    success(&Empty {})
}

/// Dismisses an entry that waits. The same is not suggested again.
#[utoipa::path(post, path = "/sites/{site}/reviews/{id}/dismiss", tag = "publishing",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Empty), (status = 404, description = "The site has no such entry"),
        (status = 409, description = "The entry does not wait")))]
pub(super) async fn dismiss(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let (site, id) = segments(path)?;
    change(
        &service,
        actor,
        &site,
        "review.dismiss",
        work!(|tx, now_ms, site| {
            approval::dismiss(tx, now_ms, &site.id, &id).await?;
            Ok(((), id))
        }),
    )
    .await?;
    success(&Empty {})
}

/// Undoes a decision: a dismissed entry waits again, and a published page head is taken back, which queues a
/// job with an empty overlay.
#[utoipa::path(post, path = "/sites/{site}/reviews/{id}/undo", tag = "publishing",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = QueuedJob, description = "Without a job, the entry waits again"),
        (status = 404, description = "The site has no such entry"),
        (status = 409, description = "There is nothing to undo, or a job of this entry is queued")))]
pub(super) async fn undo(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let (site, id) = segments(path)?;
    let name = actor.operator.name.clone();
    let job: Option<JobId> = change(
        &service,
        actor,
        &site,
        "review.undo",
        work!(|tx, now_ms, site| {
            Ok((approval::undo(tx, now_ms, &site.id, &id, By::Person(&name)).await?, id))
        }),
    )
    .await?;
    success(&QueuedJob { job_id: job.map_or_else(String::new, |job| job.as_str().to_owned()) })
}
