//! Publishing: synced content, reviews and jobs.

use chat_protocol::admin::Empty;
use chat_protocol::admin::publishing::{
    DryRun, JobPage, NewArticle, NewReview, PublishingRules, QueuedJob, QueuedJobs, ReviewDetails, ReviewPage,
};

use super::{ApiError, get, post, put};
use crate::location::{Query, encode};

fn path(site: &str, rest: &str) -> String {
    format!("sites/{}/{rest}", encode(site))
}

/// Returns a page of the review-and-publish list.
pub async fn reviews(site: &str, status: Option<&str>, before: Option<i64>) -> Result<ReviewPage, ApiError> {
    let before = before.map(|before| before.to_string());
    let query = Query::default().with("status", status).with("before", before.as_deref());
    get(&path(site, &format!("reviews{query}"))).await
}

/// Returns an entry of the list.
pub async fn review(site: &str, id: &str) -> Result<ReviewDetails, ApiError> {
    get(&path(site, &format!("reviews/{}", encode(id)))).await
}

/// Drafts an article. Returns its id.
pub async fn write_article(site: &str, article: &NewArticle) -> Result<String, ApiError> {
    Ok(post::<NewReview>(&path(site, "reviews"), article).await?.id)
}

/// Acts on an entry: `approve`, `dismiss`, `undo`, `withdraw` or `rollback`.
pub async fn act(site: &str, id: &str, action: &str) -> Result<QueuedJob, ApiError> {
    post(&path(site, &format!("reviews/{}/{action}", encode(id))), &Empty {}).await
}

/// Approves all drafts of page heads. Returns the number of jobs.
pub async fn approve_all(site: &str) -> Result<usize, ApiError> {
    Ok(post::<QueuedJobs>(&path(site, "reviews/approve-overlays"), &Empty {}).await?.job_ids.len())
}

/// Returns a page of the jobs.
pub async fn jobs(site: &str, before: Option<i64>) -> Result<JobPage, ApiError> {
    let before = before.map(|before| before.to_string());
    get(&path(site, &format!("jobs{}", Query::default().with("before", before.as_deref())))).await
}

/// Returns the rules of a site.
pub async fn rules(site: &str) -> Result<PublishingRules, ApiError> {
    get(&path(site, "publishing-rules")).await
}

/// Replaces the rules of a site.
pub async fn save_rules(site: &str, rules: &PublishingRules) -> Result<PublishingRules, ApiError> {
    put(&path(site, "publishing-rules"), rules).await
}

/// Returns what rules would decide about the entries that wait now.
pub async fn try_rules(site: &str, rules: &PublishingRules) -> Result<DryRun, ApiError> {
    post(&path(site, "publishing-rules/dry-run"), rules).await
}
