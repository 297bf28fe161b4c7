//! Turns synced content into suggestions, and approved suggestions into jobs (1).

use std::time::Duration;

use chat_protocol::{ArticlePayload, ContentItem, ContentKind, JobId, JobType, Overlay, Value};

use crate::error::ApiError;
use crate::store::{NewJob, Review, ReviewKind, ReviewStatus, Store};
use crate::text::truncate_words;

/// The approval that publishing needs (1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Publishing {
    /// A person approves each entry of the list.
    #[default]
    SemiAutomatic,
    /// Suggestions are approved automatically.
    Automatic,
}

impl Publishing {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::SemiAutomatic => "semi_automatic",
            Self::Automatic => "automatic",
        }
    }
}

/// The lease and the retries of jobs. The contract specifies no numbers (8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRules {
    /// The lease of a claim.
    pub lease: Duration,
    /// Maximum attempts before a job has failed.
    pub max_attempts: u32,
}

impl Default for JobRules {
    /// 60 s, 3 attempts.
    fn default() -> Self {
        Self { lease: Duration::from_secs(60), max_attempts: 3 }
    }
}

/// Maximum characters of a title in the list.
const MAX_TITLE_LENGTH: usize = 200;

/// Maximum characters of an overlay's title, as search engines show it.
const MAX_OVERLAY_TITLE_LENGTH: usize = 60;
/// Maximum characters of an overlay's description, as search engines show it.
const MAX_DESCRIPTION_LENGTH: usize = 155;

/// A suggested overlay for a synced page.
#[derive(Debug)]
pub(crate) struct Suggestion {
    path: String,
    locale: String,
    title: String,
    overlay: Overlay,
}

/// Adds overlays to the list as drafts; in automatic mode, approves them.
pub(crate) fn suggest_overlays(
    store: &Store,
    publishing: Publishing,
    rules: JobRules,
    suggestions: Vec<Suggestion>,
) -> Result<(), ApiError> {
    let change = store.db().unchecked_transaction()?;
    for Suggestion { path, locale, title, overlay } in suggestions {
        let id = store.add_draft(ReviewKind::Overlay, (&path, &locale, &title), |id| {
            Value::from(&Overlay { id: Some(id.to_owned()), ..overlay })
        })?;
        if publishing == Publishing::Automatic {
            approve(store, rules, &id)?;
        }
    }
    change.commit()?;
    Ok(())
}

impl Suggestion {
    /// Suggests an overlay for an item that has a path and a title; `text` is the text of the page.
    pub(crate) fn new(item: &ContentItem, text: &str) -> Option<Self> {
        let path = item.path.clone()?;
        let title = truncate_words(item.title.as_deref()?, MAX_TITLE_LENGTH);
        let overlay = suggestion(item, &path, &title, text);
        Some(Self { path, locale: item.locale.clone().unwrap_or_default(), title, overlay })
    }
}

fn suggestion(item: &ContentItem, path: &str, title: &str, text: &str) -> Overlay {
    let description = truncate_words(text, MAX_DESCRIPTION_LENGTH);
    let short = truncate_words(title, MAX_OVERLAY_TITLE_LENGTH);
    let kind = match item.kind {
        ContentKind::Product => "Product",
        ContentKind::Article => "Article",
        _ => "WebPage",
    };
    let title_property = if kind == "Article" { "headline" } else { "name" };
    let structured_data = Value::object([
        ("@context", "https://schema.org".into()),
        ("@type", kind.into()),
        (title_property, title.into()),
        ("description", description.as_str().into()),
        ("url", item.url.clone().into()),
    ]);
    Overlay {
        path: Some(path.to_owned()),
        locale: item.locale.clone(),
        open_graph: vec![
            ("title".to_owned(), short.clone()),
            ("description".to_owned(), description.clone()),
        ],
        title: Some(short),
        description: Some(description),
        canonical_url: item.url.clone(),
        structured_data: vec![structured_data],
        ..Overlay::default()
    }
}

/// Adds an article to the list as a draft.
pub(crate) fn draft_article(store: &Store, article: &ArticlePayload) -> Result<String, ApiError> {
    let path = article.path.as_deref().unwrap_or_default();
    let title = article.title.as_deref().unwrap_or_default();
    if title.trim().is_empty() || !path.starts_with('/') {
        return Err(ApiError::InvalidRequest(
            "An article needs a title, and a path that begins with /.".to_owned(),
        ));
    }
    let locale = article.locale.as_deref().unwrap_or_default();
    Ok(store.add_draft(ReviewKind::Article, (path, locale, title), |id| {
        Value::from(&ArticlePayload { content_id: Some(id.to_owned()), ..article.clone() })
    })?)
}

const NO_REVIEW: ApiError = ApiError::NotFound("This entry of the list");

/// Approves an entry of the list, which queues its job.
pub(crate) fn approve(store: &Store, rules: JobRules, id: &str) -> Result<JobId, ApiError> {
    let review = store.review(id)?.ok_or(NO_REVIEW)?;
    let (job_type, verb) = match review.kind {
        ReviewKind::Article => (JobType::PublishArticle, "Publish"),
        ReviewKind::Overlay => (JobType::ApplySeoOverlay, "Overlay"),
    };
    if review.kind == ReviewKind::Overlay {
        store.replace_overlays(&review)?;
    }
    queue(store, rules, &review, job_type, verb, "publish")
}

/// Queues a job that deletes a published article.
pub(crate) fn withdraw(store: &Store, rules: JobRules, id: &str) -> Result<JobId, ApiError> {
    let review = article(store, id)?;
    queue(store, rules, &review, JobType::DeleteArticle, "Delete", "delete")
}

/// Queues a job that restores the previous version of an article.
pub(crate) fn roll_back(store: &Store, rules: JobRules, id: &str) -> Result<JobId, ApiError> {
    let review = article(store, id)?;
    queue(store, rules, &review, JobType::RollbackArticle, "Roll back", "rollback")
}

fn article(store: &Store, id: &str) -> Result<Review, ApiError> {
    store.review(id)?.filter(|review| review.kind == ReviewKind::Article).ok_or(NO_REVIEW)
}

fn queue(
    store: &Store,
    rules: JobRules,
    review: &Review,
    job_type: JobType,
    verb: &str,
    action: &str,
) -> Result<JobId, ApiError> {
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
    let title = format!("{verb}: {}", review.title);
    let review_id = Some(review.id.clone());
    let id = store.add_job(&NewJob {
        job_type,
        title,
        payload,
        review: review_id,
        max_attempts: rules.max_attempts,
    })?;
    store.set_review_status(&review.id, ReviewStatus::Queued)?;
    Ok(id)
}
