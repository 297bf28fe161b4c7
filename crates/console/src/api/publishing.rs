//! Publishing: synced content, reviews and jobs.

use chat_protocol::Value;
use chat_protocol::admin::publishing::{
    Before, Decision, DryRun, Entry, EntryKind, PublishingRules, text_of,
};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{ApiError, get, post, put};
use crate::location::{Query, encode};

/// An entry of the review-and-publish list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Review {
    /// The id.
    pub id: String,
    /// `article` or `overlay`, which is the head of a page.
    pub kind: String,
    /// `draft`, `queued`, `published`, `withdrawn` or `failed`.
    pub status: String,
    /// The page's path.
    pub path: String,
    /// The page's language; empty for all.
    pub locale: String,
    /// The page's title.
    pub title: String,
    /// The article or the overlay. Lists leave it out.
    pub body: Value,
    /// When it last changed.
    pub updated_at: String,
    /// Why it waits, if a rule has decided that.
    pub decision: Option<Decision>,
}

impl Review {
    /// Returns whether it is an article.
    pub fn is_article(&self) -> bool {
        self.kind == "article"
    }

    /// Returns what checks and comparisons look at.
    pub fn entry<'a>(&'a self, before: &'a Before) -> Entry<'a> {
        let kind = if self.is_article() { EntryKind::Article } else { EntryKind::Overlay };
        Entry { kind, path: &self.path, locale: &self.locale, body: &self.body, before }
    }

    /// Returns a text of the body.
    pub fn text(&self, name: &str) -> Option<&str> {
        text_of(&self.body, name)
    }
}

/// A job of a site.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Job {
    /// The id.
    pub id: String,
    /// The type, such as `publish_article`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `pending`, `running`, `succeeded` or `failed`.
    pub status: String,
    /// The title.
    pub title: Option<String>,
    /// How often a site has taken it.
    pub attempts: i64,
    /// How often a site may take it.
    pub max_attempts: i64,
    /// When it was queued.
    pub created_at: String,
    /// When it ended.
    pub completed_at: Option<String>,
    /// What the site reports.
    pub result: Value,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether a rule has queued it.
    pub automatic: bool,
    /// The name of the rule or of the operator, as far as it is known.
    pub decided_by: Option<String>,
}

impl Job {
    /// Returns the public address of the result, if it is one of the web.
    pub fn address(&self) -> Option<&str> {
        text_of(&self.result, "url").filter(|url| url.starts_with("https://") || url.starts_with("http://"))
    }
}

/// A review with what it is compared with, and its history.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ReviewDetails {
    /// The entry.
    pub review: Review,
    /// What it is compared with.
    pub before: Before,
    /// Its jobs, newest first.
    pub jobs: Vec<Job>,
}

/// A page of the review-and-publish list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ReviewPage {
    /// The entries, newest first.
    pub reviews: Vec<Review>,
    /// The parameter of the next page.
    pub next: Option<i64>,
}

/// A page of jobs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct JobPage {
    /// The jobs, newest first.
    pub jobs: Vec<Job>,
    /// The number of jobs that wait.
    pub pending: i64,
    /// The parameter of the next page.
    pub next: Option<i64>,
}

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
pub async fn write_article(site: &str, article: &Map<String, Json>) -> Result<String, ApiError> {
    let answer: Value = post(&path(site, "reviews"), article).await?;
    Ok(text_of(&answer, "id").unwrap_or_default().to_owned())
}

/// Approves, withdraws or rolls back an entry: `approve`, `withdraw` or `rollback`.
pub async fn act(site: &str, id: &str, action: &str) -> Result<Value, ApiError> {
    post(&path(site, &format!("reviews/{}/{action}", encode(id))), &json!({})).await
}

/// Approves all drafts of page heads. Returns the number of jobs.
pub async fn approve_all(site: &str) -> Result<usize, ApiError> {
    let answer: Value = post(&path(site, "reviews/approve-overlays"), &json!({})).await?;
    Ok(match answer.get("jobIds") {
        Some(Value::List(jobs)) => jobs.len(),
        _ => 0,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_become_links() {
        let job = |url: &str| Job { result: Value::object([("url", url.into())]), ..Job::default() };
        assert_eq!(job("https://shop.example/news").address(), Some("https://shop.example/news"));
        assert_eq!(job("javascript:alert(1)").address(), None);
        assert_eq!(Job::default().address(), None);
    }

    #[test]
    fn a_review_without_a_synced_page_is_read() {
        let json =
            json!({"review": {"id": "r1", "kind": "overlay"}, "before": {"page": null, "overlay": null}});
        let details: ReviewDetails = serde_json::from_value(json).unwrap();
        assert_eq!((details.before.page, details.jobs.len()), (None, 0));
        assert!(!details.review.is_article());
    }
}
