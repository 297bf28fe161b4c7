//! What the assistant knows about a site.

use serde::{Deserialize, Serialize};

use crate::admin::AnswerOutcome;

/// A question and its answer, as an operator wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Answer {
    /// The answer's id.
    pub id: String,
    /// The question; several ways to ask it stand on lines of their own.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// The language tag of both; empty for any language.
    pub locale: String,
    /// When it was written.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
}

/// `data` of `GET /sites/{site}/answers`, whose parameters are `before`, `limit` and `q`, which finds a part
/// of the question or the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerPage {
    /// The answers, newest first.
    pub answers: Vec<Answer>,
    /// The parameter `before` of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

/// The body of `POST /sites/{site}/answers` and `PUT /sites/{site}/answers/{answer}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerText {
    /// The question, 1 to 500 characters.
    pub question: String,
    /// The answer, 1 to 4,000 characters.
    pub answer: String,
    /// The language tag of both; empty for any language.
    #[serde(default)]
    pub locale: String,
}

/// `data` of a change of one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerChange {
    /// The answer as it is now.
    pub answer: Answer,
}

/// A synced page, product or another item of the site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContentItem {
    /// The type, such as `page`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The id that the site has for it.
    pub external_id: String,
    /// Its language tag.
    pub locale: String,
    /// Its path or address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The title.
    pub title: String,
    /// The beginning of its text.
    pub excerpt: String,
    /// When the site sent it.
    pub synced_at: String,
}

/// `data` of `GET /sites/{site}/content`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ContentPage {
    /// The items, in the order of types and ids.
    pub items: Vec<ContentItem>,
    /// The number of all items.
    pub count: i64,
    /// The parameter `after` of the next page; `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The body of `POST /sites/{site}/knowledge/search` and `…/ask`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgeQuestion {
    /// The question, 1 to 4,000 characters.
    pub question: String,
    /// The language tag of the visitor's page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The certainty from which on the built-in assistant answers with a source, in thousandths, 0 to 1000.
    /// It holds for this question only. Without it, that of the site does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<i64>,
}

/// A part of a site's knowledge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Passage {
    /// `content:` and the site's id of the item, or `answer:` and the id of the answer.
    pub id: String,
    /// The title of the page, or the question.
    pub title: String,
    /// The path or the address of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The text.
    pub text: String,
    /// How certain it is that it answers the question, in thousandths. 0 if a service does not tell.
    pub certainty: i64,
}

/// `data` of `POST /sites/{site}/knowledge/search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Passages {
    /// The passages that the assistant would answer the question from, best first.
    pub passages: Vec<Passage>,
    /// The certainty, in thousandths, from which on the built-in assistant answers with a passage.
    pub threshold: i64,
}

/// `data` of `POST /sites/{site}/knowledge/ask`: what the assistant would answer a visitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AskedAnswer {
    /// The text, in Markdown; `None` when the AI endpoint blocked the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// `ok`, `provider_error`, `quota_insufficient` or another status of the AI.
    pub status: String,
    /// Whether the text is the fallback text, because the AI gave no answer.
    pub used_fallback: bool,
    /// Whether the question asks for a person.
    pub wants_person: bool,
    /// What would become of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AnswerOutcome>,
    /// What the answer is based on, best first.
    pub sources: Vec<Passage>,
    /// The certainty of a source, in thousandths, from which on the built-in assistant answers with it. A
    /// source below it is introduced as what may help.
    pub threshold: i64,
    /// Why the AI endpoint gave no answer, in the provider's own words where it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Milliseconds that the answer took.
    pub duration_ms: i64,
}
