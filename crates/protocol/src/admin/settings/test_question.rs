//! The questions by which the owner of a site tests the assistant.

use serde::{Deserialize, Serialize};

use crate::admin::AnswerOutcome;

/// The kind of answer that a test question expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// An answer from a page, or from an answer that operators wrote.
    #[default]
    Page,
    /// An answer that contains some words.
    Words,
    /// No answer: the assistant says that it does not know.
    NoAnswer,
}

impl Expectation {
    /// All expectations.
    pub const ALL: [Self; 3] = [Self::Page, Self::Words, Self::NoAnswer];

    /// Returns the expectation's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Words => "words",
            Self::NoAnswer => "no_answer",
        }
    }

    /// Returns the expectation of a name; `None` for an unknown one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|expectation| expectation.as_str() == name)
    }
}

/// The body of `POST /sites/{site}/test-questions` and `PUT /sites/{site}/test-questions/{question}`, and a
/// line of a file of `site-connector ask --test`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestQuestionText {
    /// The question, 1 to 500 characters.
    pub question: String,
    /// The language tag of the visitor's page; empty if it does not matter.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub locale: String,
    /// The kind of answer that passes.
    pub expects: Expectation,
    /// For `page`, the path or the address of the page, or the id of the entry. For `words`, what the answer
    /// must contain: all of several lines. Up to 500 characters; empty for `no_answer`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expected: String,
}

/// The body of `PUT /sites/{site}/test-questions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestQuestionList {
    /// All test questions of the site, at most 200.
    pub questions: Vec<TestQuestionText>,
}

/// A source of a tested answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TestSource {
    /// `content:` and the site's id of the item, or `answer:` and the id of the answer.
    pub id: String,
    /// The title of the page, or the question.
    pub title: String,
    /// The path or the address of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How certain it is that it answers the question, in thousandths.
    pub certainty: i64,
}

/// The result of a test question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TestResult {
    /// Whether it was as expected.
    pub passed: bool,
    /// The outcome for a visitor; `None` for a site with an AI endpoint, which is not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AnswerOutcome>,
    /// The beginning of the answer, in Markdown; empty for a site with an AI endpoint.
    pub answer: String,
    /// The sources of the answer, or the passages that the AI endpoint would get, best first.
    pub sources: Vec<TestSource>,
}

/// How the outcome of a test question has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestChange {
    /// It failed before, and passes now.
    Better,
    /// It passed before, and fails now.
    Worse,
}

/// A test question with its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TestQuestion {
    /// The question's id.
    pub id: String,
    /// The question.
    pub question: String,
    /// The language tag of the visitor's page; empty if it does not matter.
    pub locale: String,
    /// The kind of answer that passes.
    pub expects: Expectation,
    /// The page or the words.
    pub expected: String,
    /// The result of the last run; `None` if the question is newer than the run, or was changed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<TestResult>,
    /// The difference from the run before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<TestChange>,
}

/// A run of the test questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TestRun {
    /// When it ended.
    pub ended_at: String,
    /// The certainty, in thousandths, from which on a source was an answer.
    pub threshold: i64,
    /// Whether the site had an AI endpoint, so that only the passages were tested that the AI would get.
    pub only_passages: bool,
    /// The number of questions that passed.
    pub passed: i64,
    /// The number of questions that failed.
    pub failed: i64,
    /// The number of questions that failed in the run before.
    pub better: i64,
    /// The number of questions that passed in the run before.
    pub worse: i64,
    /// When the run before ended: the last one with another outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// `data` of `GET /sites/{site}/test-questions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TestQuestions {
    /// The questions, oldest first.
    pub questions: Vec<TestQuestion>,
    /// The last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<TestRun>,
    /// Whether a run is under way, or about to begin.
    pub is_running: bool,
}
