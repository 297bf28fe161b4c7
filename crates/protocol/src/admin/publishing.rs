//! Publishing: the rules by which entries are published automatically, and what rules and people decide by.
//!
//! The checks and the comparison are written once: the service decides by them, and the console shows them.

mod because;
mod changes;
mod checks;
mod html;
mod list;
mod rules;

use serde::{Deserialize, Serialize};

use crate::{PageHead, Value};

pub use because::{Because, Fault, TextSource};
pub use changes::{Change, Field, change_size, changed_fields, head_changes};
pub use checks::{Finding, Level, MAX_DESCRIPTION, MAX_TITLE, MIN_DESCRIPTION, check, repeats_title};
pub use html::text_of_html;
pub use list::{
    Job, JobPage, NewArticle, NewReview, QueuedJob, QueuedJobs, Review, ReviewDetails, ReviewPage,
};
pub use rules::{
    Decision, DryRun, DryRunItem, PublishingRule, PublishingRules, Reason, RuleAction, RuleChecks,
};

/// The kind of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum EntryKind {
    /// The head of a page.
    #[default]
    Overlay,
    /// An article.
    Article,
}

/// The page as the site has synced it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncedPage {
    /// The title.
    pub title: Option<String>,
    /// The summary, as text.
    pub description: Option<String>,
    /// The public address.
    pub url: Option<String>,
    /// What the page has in its own head; `None` where the site does not say it.
    pub head: Option<PageHead>,
    /// The content, as text.
    pub text: Option<String>,
    /// The time of its last change, as the site tells it.
    pub updated_at: Option<String>,
}

/// The present state of an entry's page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Before {
    /// The page, if the site has synced it.
    pub page: Option<SyncedPage>,
    /// The overlay that is published for it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub overlay: Value,
}

/// An entry of the review-and-publish list, with the present state of its page.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The kind.
    pub kind: EntryKind,
    /// The path of the page.
    pub path: &'a str,
    /// The language of the page; empty for all.
    pub locale: &'a str,
    /// The article or the overlay.
    pub body: &'a Value,
    /// The present state.
    pub before: &'a Before,
}

/// Returns a text of an object, if it is not empty.
pub fn text_of<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_text).filter(|text| !text.is_empty())
}
