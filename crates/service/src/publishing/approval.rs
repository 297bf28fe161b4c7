//! The approval of drafts, and the jobs that it queues.

use chat_protocol::{ArticlePayload, JobId, JobType, Overlay, Value};

use super::jobs::{NewJob, add};
use super::reviews::{
    NewDraft, Review, ReviewKind, ReviewStatus, lock, overlay_drafts, replace_overlays, set_status,
};
use super::{reviews, versions};
use crate::db::Tx;
use crate::error::ApiError;

/// Maximum overlays that one request approves; the next request approves further ones.
const MAX_APPROVED: i64 = 1000;

const IN_PROGRESS: &str = "A job of this entry is queued already: wait until the site has carried it out.";
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
    reviews::lock_site(tx, site_id).await?;
    let review = lock(tx, site_id, id).await?.ok_or(NO_REVIEW)?;
    let job_type = match review.kind {
        ReviewKind::Article => JobType::PublishArticle,
        ReviewKind::Overlay => JobType::ApplySeoOverlay,
    };
    match review.kind {
        ReviewKind::Overlay => replace_overlays(tx, site_id, &review).await?,
        ReviewKind::Article => check_path(tx, site_id, Some(id), &review.path).await?,
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
    let is_on_site = review.live || matches!(review.status, ReviewStatus::Published | ReviewStatus::Failed);
    if !is_on_site && review.status != ReviewStatus::Queued {
        let problem = "This article is not published: dismiss it instead.";
        return Err(ApiError::Conflict(problem.to_owned()));
    }
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
    let problem = match review.status {
        ReviewStatus::Queued => None,
        ReviewStatus::Published | ReviewStatus::Failed if review.live => {
            let has_earlier = versions::before(tx, id).await?.is_some();
            (!has_earlier).then_some("There is no earlier version of this article: withdraw it instead.")
        }
        _ => Some("Only a published article can be rolled back."),
    };
    if let Some(problem) = problem {
        return Err(ApiError::Conflict(problem.to_owned()));
    }
    queue(tx, now_ms, site_id, &review, JobType::RollbackArticle, by).await
}

/// Dismisses an entry that waits. Its page head is not suggested again.
pub(crate) async fn dismiss(tx: &mut Tx, now_ms: i64, site_id: &str, id: &str) -> Result<(), ApiError> {
    let review = lock(tx, site_id, id).await?.ok_or(NO_REVIEW)?;
    match review.status {
        ReviewStatus::Dismissed => Ok(()),
        ReviewStatus::Draft => Ok(set_status(tx, now_ms, site_id, id, ReviewStatus::Dismissed).await?),
        _ => Err(ApiError::Conflict("Only an entry that waits for review can be dismissed.".to_owned())),
    }
}

/// Undoes what a person or a rule has decided about an entry: a dismissed one waits again, and the page head
/// of a published one is taken back, for which this returns the job.
pub(crate) async fn undo(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    by: By<'_>,
) -> Result<Option<JobId>, ApiError> {
    let review = lock(tx, site_id, id).await?.ok_or(NO_REVIEW)?;
    match (review.kind, review.status) {
        (_, ReviewStatus::Dismissed) => {
            set_status(tx, now_ms, site_id, id, ReviewStatus::Draft).await?;
            Ok(None)
        }
        (ReviewKind::Overlay, ReviewStatus::Published | ReviewStatus::Failed | ReviewStatus::Queued) => {
            let empty = Overlay {
                id: Some(review.id.clone()),
                path: Some(review.path.clone()),
                locale: Some(review.locale.clone()).filter(|locale| !locale.is_empty()),
                ..Overlay::default()
            };
            let body = Value::from(&empty);
            let job =
                queue(tx, now_ms, site_id, &Review { body, ..review }, JobType::ApplySeoOverlay, by).await?;
            reviews::set_undoing(tx, site_id, id, true).await?;
            Ok(Some(job))
        }
        _ => Err(ApiError::Conflict("There is nothing to undo.".to_owned())),
    }
}

/// Replaces the text of an article, which then waits for review. The version that the site shows stays until
/// the new one is published.
pub(crate) async fn edit(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    article: &ArticlePayload,
) -> Result<(), ApiError> {
    reviews::lock_site(tx, site_id).await?;
    let review = self::article(tx, site_id, id).await?;
    if review.status == ReviewStatus::Queued {
        return Err(ApiError::Conflict(IN_PROGRESS.to_owned()));
    }
    let known = ArticlePayload::try_from(review.body)?;
    let body = ArticlePayload {
        content_id: known.content_id,
        external_id: known.external_id,
        kind: known.kind,
        ..article.clone()
    };
    let title = body.title.clone().unwrap_or_default();
    let path = body.path.clone().unwrap_or_default();
    let locale = body.locale.clone().unwrap_or_default();
    let new = NewDraft { kind: ReviewKind::Article, path: &path, locale: &locale, title: &title };
    check_path(tx, site_id, Some(id), &path).await?;
    Ok(reviews::rewrite(tx, now_ms, site_id, id, new, ReviewStatus::Draft, &Value::from(&body)).await?)
}

/// Fails if another article has a path, which each of the two would take from the other.
pub(crate) async fn check_path(
    tx: &mut Tx,
    site_id: &str,
    id: Option<&str>,
    path: &str,
) -> Result<(), ApiError> {
    match reviews::article_at(tx, site_id, id, path).await? {
        None => Ok(()),
        Some(title) => Err(ApiError::Conflict(format!(
            "Another article has the path {path}: \u{201c}{title}\u{201d}. Withdraw or dismiss it, or choose another path."
        ))),
    }
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
        return Err(ApiError::Conflict(IN_PROGRESS.to_owned()));
    }
    let is_empty = review.kind == ReviewKind::Overlay
        && Overlay::try_from(review.body.clone()).is_ok_and(|overlay| !overlay.has_content());
    let (verb, action) = match job_type {
        JobType::ApplySeoOverlay if is_empty => ("Undo", "publish"),
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
    reviews::set_undoing(tx, site_id, &review.id, false).await?;
    Ok(id)
}
