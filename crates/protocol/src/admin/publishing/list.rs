//! The review-and-publish list of a site, and its jobs.

use serde::{Deserialize, Serialize};

use super::{Before, Decision, Entry, EntryKind, text_of};
use crate::Value;

/// An entry of the review-and-publish list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Review {
    /// The id.
    pub id: String,
    /// The kind.
    pub kind: EntryKind,
    /// `draft`, `queued`, `published`, `withdrawn`, `dismissed` or `failed`.
    pub status: String,
    /// The page's path.
    pub path: String,
    /// The page's language; empty for all.
    pub locale: String,
    /// The page's title.
    pub title: String,
    /// The article or the overlay. Lists leave it out.
    #[serde(skip_serializing_if = "is_null")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub body: Value,
    /// When it was written.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// Why it waits, if a rule has decided that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Whether the site shows it now, as far as it has reported.
    pub live: bool,
}

impl Review {
    /// Returns whether it is an article.
    pub fn is_article(&self) -> bool {
        self.kind == EntryKind::Article
    }

    /// Returns what checks and comparisons look at.
    pub fn entry<'a>(&'a self, before: &'a Before) -> Entry<'a> {
        Entry { kind: self.kind, path: &self.path, locale: &self.locale, body: &self.body, before }
    }

    /// Returns a text of the body.
    pub fn text(&self, name: &str) -> Option<&str> {
        text_of(&self.body, name)
    }
}

/// A job of a site, as the console shows it: without the claim token, which is for the holder of the claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How often a site has taken it.
    pub attempts: i64,
    /// How often a site may take it.
    pub max_attempts: i64,
    /// When the lease of the claim expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<String>,
    /// The article or the overlay.
    #[serde(skip_serializing_if = "is_null")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub payload: Value,
    /// When it was queued.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// What the site reports; null until it is done.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub result: Value,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether a rule has queued it.
    pub automatic: bool,
    /// The name of the rule or of the operator, as far as it is known.
    pub decided_by: Option<String>,
}

impl Job {
    /// Returns whether it takes a page head back.
    pub fn is_undo(&self) -> bool {
        let parts = ["title", "description", "canonicalUrl", "robots", "openGraph", "structuredData"];
        self.kind == "apply_seo_overlay" && parts.iter().all(|part| self.payload.get(part).is_none())
    }

    /// Returns the public address of the result, if it is one of the web.
    pub fn address(&self) -> Option<&str> {
        text_of(&self.result, "url").filter(|url| url.starts_with("https://") || url.starts_with("http://"))
    }
}

fn is_null(value: &Value) -> bool {
    matches!(value, Value::Null)
}

/// A review with what it is compared with, and its history: `data` of `GET /sites/{site}/reviews/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewDetails {
    /// The entry.
    pub review: Review,
    /// What it is compared with.
    pub before: Before,
    /// Its jobs, newest first.
    pub jobs: Vec<Job>,
    /// Whether an article has a version before the one that the site shows.
    pub can_roll_back: bool,
}

/// `data` of `GET /sites/{site}/reviews`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewPage {
    /// The entries, newest first.
    pub reviews: Vec<Review>,
    /// The parameter `before` of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// `data` of `GET /sites/{site}/jobs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct JobPage {
    /// The jobs, newest first.
    pub jobs: Vec<Job>,
    /// The number of jobs that wait.
    pub pending: i64,
    /// The parameter `before` of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// The body of `POST /sites/{site}/reviews`: an article to draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewArticle {
    /// 1 to 200 characters.
    pub title: String,
    /// The path on the site, which begins with `/`.
    pub path: String,
    /// A language tag such as `en-US`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// HTML, up to 512 KiB.
    pub content: String,
}

/// `data` of `POST /sites/{site}/reviews`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewReview {
    /// The id of the draft.
    pub id: String,
}

/// `data` of the approval, the withdrawal and the rollback of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct QueuedJob {
    /// The id of the job that carries it out; empty if nothing has to be.
    pub job_id: String,
}

/// `data` of `POST /sites/{site}/reviews/approve-overlays`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct QueuedJobs {
    /// The ids of the jobs, one for each overlay.
    pub job_ids: Vec<String>,
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
            r#"{"review": {"id": "r1", "kind": "overlay"}, "before": {"page": null, "overlay": null}}"#;
        let details: ReviewDetails = serde_json::from_str(json).expect("details");
        assert_eq!((details.before.page, details.jobs.len()), (None, 0));
        assert!(!details.review.is_article());
    }
}
