//! The approval of drafts, and the jobs that it queues.

use chat_protocol::{ArticlePayload, JobId, JobType, Value};

use super::jobs::{NewJob, add};
use super::reviews::{Review, ReviewKind, ReviewStatus, lock, overlay_drafts, replace_overlays, set_status};
use crate::db::Tx;
use crate::error::ApiError;

/// Maximum overlays that one request approves; the next request approves further ones.
const MAX_APPROVED: i64 = 1000;

const NO_REVIEW: ApiError = ApiError::NotFound("This entry of the list");

/// The origin of the decision to queue a job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By<'a> {
    /// An operator, by name.
    Person(&'a str),
    /// A rule, by name; `None` is everything else.
    Rule(Option<&'a str>),
}

/// Approves an entry of the list, which queues its job.
pub(crate) async fn approve(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    by: By<'_>,
) -> Result<JobId, ApiError> {
    let review = lock(tx, site_id, id).await?.ok_or(NO_REVIEW)?;
    let job_type = match review.kind {
        ReviewKind::Article => JobType::PublishArticle,
        ReviewKind::Overlay => JobType::ApplySeoOverlay,
    };
    if review.kind == ReviewKind::Overlay {
        replace_overlays(tx, site_id, &review).await?;
    }
    queue(tx, now_ms, site_id, &review, job_type, by).await
}

/// Approves the drafts of overlays, and returns their jobs.
pub(crate) async fn approve_overlays(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    by: By<'_>,
) -> Result<Vec<JobId>, ApiError> {
    let mut jobs = Vec::new();
    for id in overlay_drafts(tx, site_id, MAX_APPROVED).await? {
        match approve(tx, now_ms, site_id, &id, by).await {
            Ok(job) => jobs.push(job),
            // Another draft for the same page, which was newer, has replaced it.
            Err(ApiError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(jobs)
}

/// Queues a job that deletes a published article.
pub(crate) async fn withdraw(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    by: By<'_>,
) -> Result<JobId, ApiError> {
    let review = article(tx, site_id, id).await?;
    queue(tx, now_ms, site_id, &review, JobType::DeleteArticle, by).await
}

/// Queues a job that restores the previous version of an article.
pub(crate) async fn roll_back(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    by: By<'_>,
) -> Result<JobId, ApiError> {
    let review = article(tx, site_id, id).await?;
    queue(tx, now_ms, site_id, &review, JobType::RollbackArticle, by).await
}

async fn article(tx: &mut Tx, site_id: &str, id: &str) -> Result<Review, ApiError> {
    lock(tx, site_id, id).await?.filter(|review| review.kind == ReviewKind::Article).ok_or(NO_REVIEW)
}

/// Queues a job for an entry. An entry has one job at a time: a repeated click, or a second operator, does
/// not queue another one.
async fn queue(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    review: &Review,
    job_type: JobType,
    by: By<'_>,
) -> Result<JobId, ApiError> {
    if review.status == ReviewStatus::Queued {
        let problem = "A job of this entry is queued already: wait until the site has carried it out.";
        return Err(ApiError::Conflict(problem.to_owned()));
    }
    let (verb, action) = match job_type {
        JobType::ApplySeoOverlay => ("Overlay", "publish"),
        JobType::DeleteArticle => ("Delete", "delete"),
        JobType::RollbackArticle => ("Roll back", "rollback"),
        _ => ("Publish", "publish"),
    };
    let (automatic, decided_by) = match by {
        By::Person(name) => (false, Some(name).filter(|name| !name.is_empty())),
        By::Rule(name) => (true, name),
    };
    let payload = match review.kind {
        ReviewKind::Article => {
            let mut payload = ArticlePayload::try_from(review.body.clone())?;
            if job_type != JobType::PublishArticle {
                payload.content = None;
            }
            Value::from(&ArticlePayload { action: Some(action.to_owned()), ..payload })
        }
        ReviewKind::Overlay => review.body.clone(),
    };
    let job = NewJob {
        job_type,
        title: format!("{verb}: {}", review.title),
        payload,
        review_id: Some(review.id.clone()),
        automatic,
        decided_by: decided_by.map(str::to_owned),
    };
    let id = add(tx, now_ms, site_id, &job).await?;
    set_status(tx, now_ms, site_id, &review.id, ReviewStatus::Queued).await?;
    Ok(id)
}
