//! The admin API of a site's content, its review-and-publish list and its jobs.

mod content;
mod entries;
mod rules;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use chat_protocol::admin::publishing::{
    JobPage, NewArticle, NewReview, QueuedJob, QueuedJobs, ReviewDetails, ReviewPage,
};
use chat_protocol::{ArticlePayload, JobId, is_language_tag};
use futures_util::future::BoxFuture;
use serde::Deserialize;

use super::before::{Compared, find};
use super::{
    By, ReviewStatus, approve, approve_overlays, draft_article, jobs, reviews, roll_back, versions, withdraw,
};
use crate::Service;
use crate::accounts::{Actor, Operator, Right};
use crate::body_limit::limited;
use crate::db::{Tx, Wake, transaction, work};
use crate::error::ApiError;
use crate::input::{Body, Params, success};
use crate::limits::{MAX_NAME_LENGTH, MAX_URL_LENGTH, check_text};
use crate::response::ApiResponse;
use crate::sites::{self, Site};

/// Entries of a page, and the maximum that a request may ask for.
const DEFAULT_PAGE: i64 = 50;
const MAX_PAGE: i64 = 200;
/// The shown jobs of an entry.
const SHOWN_JOBS: i64 = 20;
/// Maximum size of a request's body, in bytes. An article of the maximum size fits, with characters escaped.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Maximum bytes of an article.
const MAX_ARTICLE_BYTES: usize = 512 * 1024;

const NO_REVIEW: ApiError = ApiError::NotFound("This entry of the list");

/// Returns the routes, relative to the admin API's path. They must be guarded.
pub(crate) fn routes() -> Router<Service> {
    let routes = Router::new()
        .route("/sites/{site}/content", get(content::list))
        .route("/sites/{site}/reviews", get(list_reviews).post(write_article))
        .route("/sites/{site}/reviews/approve-overlays", post(approve_all))
        .route("/sites/{site}/reviews/{id}", get(show_review).put(entries::edit))
        .route("/sites/{site}/reviews/{id}/dismiss", post(entries::dismiss))
        .route("/sites/{site}/reviews/{id}/undo", post(entries::undo))
        .route("/sites/{site}/reviews/{id}/approve", post(approve_review))
        .route("/sites/{site}/reviews/{id}/withdraw", post(withdraw_review))
        .route("/sites/{site}/reviews/{id}/rollback", post(roll_back_review))
        .route("/sites/{site}/publishing-rules", get(rules::show).put(rules::replace))
        .route("/sites/{site}/publishing-rules/dry-run", post(rules::dry_run))
        .route("/sites/{site}/jobs", get(list_jobs));
    limited(routes, MAX_BODY_BYTES)
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    content::list,
    rules::show,
    rules::replace,
    rules::dry_run,
    list_reviews,
    entries::edit,
    entries::dismiss,
    entries::undo,
    write_article,
    approve_all,
    show_review,
    approve_review,
    withdraw_review,
    roll_back_review,
    list_jobs
))]
pub(crate) struct PublishingApi;

type Segments<T> = Result<Path<T>, PathRejection>;

/// Returns the parts of a path. Text that is not UTF-8 names nothing.
fn segments<T>(path: Segments<T>) -> Result<T, ApiError> {
    path.map(|Path(segments)| segments).map_err(|_| ApiError::NotFound("This path"))
}

/// The page of a list, newest first.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Page {
    status: Option<String>,
    /// `next` of the page before.
    before: Option<i64>,
    limit: Option<i64>,
}

impl Page {
    fn limit(&self) -> i64 {
        self.limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE)
    }

    fn before(&self) -> i64 {
        self.before.unwrap_or(i64::MAX)
    }

    /// Returns the start of the next page, if there may be one.
    fn next(&self, shown: usize, last: Option<i64>) -> Option<i64> {
        let is_full = i64::try_from(shown).is_ok_and(|shown| shown >= self.limit());
        last.filter(|_| is_full)
    }
}

/// Lists the entries of the review-and-publish list, without the bodies.
#[utoipa::path(get, path = "/sites/{site}/reviews", tag = "publishing",
    params(("site" = String, Path), ("status" = Option<String>, Query, description = "draft, queued, published, withdrawn, dismissed or failed"),
        ("before" = Option<i64>, Query), ("limit" = Option<i64>, Query)),
    responses((status = 200, body = ReviewPage)))]
async fn list_reviews(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<String>,
    Params(page): Params<Page>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &segments(path)?).await?;
    let status = match page.status.as_deref() {
        None => None,
        Some(name) => Some(ReviewStatus::from_name(name).ok_or_else(|| {
            let problem = "invalid status: expected draft, queued, published, withdrawn, dismissed or failed";
            ApiError::InvalidRequest(problem.to_owned())
        })?),
    };
    let listed = reviews::list(service.db(), &site.id, status, page.before(), page.limit()).await?;
    let next = page.next(listed.len(), listed.last().map(|review| review.no));
    success(&ReviewPage { reviews: listed.into_iter().map(reviews::Review::shown).collect(), next })
}

/// Shows an entry with its body, what it is compared with, and its last jobs.
#[utoipa::path(get, path = "/sites/{site}/reviews/{id}", tag = "publishing",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = ReviewDetails),
        (status = 404, description = "The site has no such entry")))]
async fn show_review(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let (site, id) = segments(path)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    let Compared { review, before } = find(service.db(), &site.id, &id).await?.ok_or(NO_REVIEW)?;
    let jobs = jobs::of_review(service.db(), &site.id, &review.id, SHOWN_JOBS).await?;
    let jobs = jobs.into_iter().map(jobs::StoredJob::shown).collect();
    let can_roll_back = review.live && versions::has_before(service.db(), &review.id).await?;
    success(&ReviewDetails { review: review.shown(), before, jobs, can_roll_back })
}

fn payload(article: NewArticle) -> Result<ArticlePayload, ApiError> {
    let title = check_text("title", &article.title, 1, MAX_NAME_LENGTH)?;
    let path = check_text("path", &article.path, 1, MAX_URL_LENGTH)?;
    if article.locale.as_deref().is_some_and(|locale| !is_language_tag(locale)) {
        let problem = "invalid locale: expected a language tag such as en-US";
        return Err(ApiError::InvalidRequest(problem.to_owned()));
    }
    if article.content.len() > MAX_ARTICLE_BYTES {
        return Err(ApiError::TooLarge { limit: MAX_ARTICLE_BYTES });
    }
    Ok(ArticlePayload {
        kind: Some("post".to_owned()),
        locale: article.locale,
        path: Some(path),
        title: Some(title),
        content: Some(article.content),
        ..ArticlePayload::default()
    })
}

/// Drafts an article.
#[utoipa::path(post, path = "/sites/{site}/reviews", tag = "publishing", request_body = NewArticle,
    params(("site" = String, Path)),
    responses((status = 200, body = NewReview), (status = 400, description = "A field is not valid")))]
async fn write_article(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<String>,
    Body(article): Body<NewArticle>,
) -> Result<ApiResponse, ApiError> {
    let site = segments(path)?;
    let article = payload(article)?;
    let id = change(
        &service,
        actor,
        &site,
        "review.create",
        work!(|tx, now_ms, site| {
            let id = draft_article(tx, now_ms, &site.id, &article).await?;
            Ok((id.clone(), id))
        }),
    )
    .await?;
    success(&NewReview { id })
}

/// Approves all drafts of overlays, up to 1000.
#[utoipa::path(post, path = "/sites/{site}/reviews/approve-overlays", tag = "publishing",
    params(("site" = String, Path)), responses((status = 200, body = QueuedJobs)))]
async fn approve_all(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<String>,
) -> Result<ApiResponse, ApiError> {
    let site = segments(path)?;
    let name = actor.operator.name.clone();
    let jobs = change(
        &service,
        actor,
        &site,
        "review.approve",
        work!(|tx, now_ms, site| {
            let jobs = approve_overlays(tx, now_ms, &site.id, By::Person(&name)).await?;
            Ok((jobs, site.id.clone()))
        }),
    )
    .await?;
    success(&QueuedJobs { job_ids: jobs.iter().map(|id| id.as_str().to_owned()).collect() })
}

/// Approves an entry, which queues its job.
#[utoipa::path(post, path = "/sites/{site}/reviews/{id}/approve", tag = "publishing",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = QueuedJob), (status = 404, description = "The site has no such entry"),
        (status = 409, description = "A job of this entry is queued already")))]
async fn approve_review(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    transition(
        &service,
        actor,
        path,
        "review.approve",
        work!(|tx, now_ms, site_id, id, by| approve(tx, now_ms, site_id, id, by).await),
    )
    .await
}

/// Withdraws a published article, which queues a job that deletes it.
#[utoipa::path(post, path = "/sites/{site}/reviews/{id}/withdraw", tag = "publishing",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = QueuedJob), (status = 404, description = "The site has no such article"),
        (status = 409, description = "A job of this entry is queued already")))]
async fn withdraw_review(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    transition(
        &service,
        actor,
        path,
        "review.withdraw",
        work!(|tx, now_ms, site_id, id, by| withdraw(tx, now_ms, site_id, id, by).await),
    )
    .await
}

/// Rolls an article back, which queues a job that restores its previous version.
#[utoipa::path(post, path = "/sites/{site}/reviews/{id}/rollback", tag = "publishing",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = QueuedJob), (status = 404, description = "The site has no such article"),
        (status = 409, description = "A job of this entry is queued already")))]
async fn roll_back_review(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    transition(
        &service,
        actor,
        path,
        "review.rollback",
        work!(|tx, now_ms, site_id, id, by| roll_back(tx, now_ms, site_id, id, by).await),
    )
    .await
}

type Transition =
    for<'a> fn(&'a mut Tx, i64, &'a str, &'a str, By<'a>) -> BoxFuture<'a, Result<JobId, ApiError>>;

async fn transition(
    service: &Service,
    actor: Actor,
    path: Segments<(String, String)>,
    action: &'static str,
    transition: Transition,
) -> Result<ApiResponse, ApiError> {
    let (site, id) = segments(path)?;
    let name = actor.operator.name.clone();
    let job = change(
        service,
        actor,
        &site,
        action,
        work!(|tx, now_ms, site| Ok((transition(tx, now_ms, &site.id, &id, By::Person(&name)).await?, id))),
    )
    .await?;
    success(&QueuedJob { job_id: job.as_str().to_owned() })
}

/// Changes a site's list in a transaction, with an entry in the audit log. `work` returns its result and the
/// target of the change.
async fn change<T, F>(
    service: &Service,
    actor: Actor,
    site: &str,
    action: &'static str,
    work: F,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    F: for<'tx> FnOnce(&'tx mut Tx, i64, &'tx Site) -> BoxFuture<'tx, Result<(T, String), ApiError>>
        + Send
        + 'static,
{
    actor.operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &actor.operator.tenant_id, site).await?;
    let now_ms = service.now_ms();
    transaction!(service.db(), |tx| {
        let (result, target) = work(tx, now_ms, &site).await?;
        actor.record(tx, now_ms, action, &target).await?;
        tx.wake(Wake::Site { tenant: site.tenant_id.clone(), site: site.id.clone() });
        Ok(result)
    })
    .await
}

/// Lists the jobs of a site.
#[utoipa::path(get, path = "/sites/{site}/jobs", tag = "publishing",
    params(("site" = String, Path), ("status" = Option<String>, Query, description = "pending, running, succeeded or failed"),
        ("before" = Option<i64>, Query), ("limit" = Option<i64>, Query)),
    responses((status = 200, body = JobPage)))]
async fn list_jobs(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<String>,
    Params(page): Params<Page>,
) -> Result<ApiResponse, ApiError> {
    let db = service.db();
    let site = sites::of_tenant(db, &operator.tenant_id, &segments(path)?).await?;
    let listed = jobs::list(db, &site.id, page.status.as_deref(), page.before(), page.limit()).await?;
    let next = page.next(listed.len(), listed.last().map(|job| job.no));
    let pending = super::pending_count(db, service.now_ms(), &site.id).await?;
    success(&JobPage { jobs: listed.into_iter().map(jobs::StoredJob::shown).collect(), pending, next })
}
