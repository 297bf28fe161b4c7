//! Publishing: synced content, reviews and jobs.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ApiError, get, patch, post};
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
}

impl Review {
    /// Returns whether it is an article.
    pub fn is_article(&self) -> bool {
        self.kind == "article"
    }

    /// Returns a text of the body.
    pub fn text(&self, name: &str) -> Option<&str> {
        text_of(&self.body, name)
    }
}

/// The page as the site has synced it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyncedPage {
    /// The title.
    pub title: Option<String>,
    /// The summary, as text.
    pub description: Option<String>,
    /// The public address.
    pub url: Option<String>,
    /// The content, as text.
    pub text: Option<String>,
}

/// What a review is compared with.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Before {
    /// The page, if the site has synced it.
    pub page: Option<SyncedPage>,
    /// The overlay that is published for it.
    pub overlay: Value,
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

/// Returns a text of an object, if it is not empty.
pub fn text_of<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
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
pub async fn write_article(site: &str, article: &Map<String, Value>) -> Result<String, ApiError> {
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
    Ok(answer.get("jobIds").and_then(Value::as_array).map_or(0, Vec::len))
}

/// Returns a page of the jobs.
pub async fn jobs(site: &str, before: Option<i64>) -> Result<JobPage, ApiError> {
    let before = before.map(|before| before.to_string());
    get(&path(site, &format!("jobs{}", Query::default().with("before", before.as_deref())))).await
}

/// Returns whether suggestions are published without a person.
pub async fn is_automatic(site: &str) -> Result<bool, ApiError> {
    let answer: Value = get(&format!("sites/{}", encode(site))).await?;
    let site = answer.get("site").unwrap_or(&answer);
    Ok(text_of(site, "publishing") == Some("automatic"))
}

/// Sets whether suggestions are published without a person.
pub async fn set_automatic(site: &str, automatic: bool) -> Result<Value, ApiError> {
    let mode = if automatic { "automatic" } else { "semi_automatic" };
    patch(&format!("sites/{}", encode(site)), &json!({"publishing": mode})).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_become_links() {
        let job = |url: &str| Job { result: json!({"url": url}), ..Job::default() };
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
