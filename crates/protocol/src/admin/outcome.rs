//! The outcomes of visitors' messages, and the questions without an answer.

use serde::{Deserialize, Serialize};

/// What became of a visitor's message that the AI answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerOutcome {
    /// Answered from the site's knowledge, or by a tool.
    Answered,
    /// Nothing was asked.
    SmallTalk,
    /// At least one question has no answer that is known to be right.
    CouldNotAnswer,
    /// The AI refused to answer.
    Refused,
    /// The AI failed, or the quota is used up.
    Failed,
}

impl AnswerOutcome {
    /// All outcomes.
    pub const ALL: [Self; 5] =
        [Self::Answered, Self::SmallTalk, Self::CouldNotAnswer, Self::Refused, Self::Failed];

    /// Returns the outcome's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::SmallTalk => "small_talk",
            Self::CouldNotAnswer => "could_not_answer",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }

    /// Returns whether the visitor still needs an answer, which only a person can give.
    pub const fn needs_person(self) -> bool {
        matches!(self, Self::CouldNotAnswer | Self::Failed)
    }

    /// Returns the outcome of a name; `None` for an unknown one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// A message of a visitor that the AI could not answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UnansweredQuestion {
    /// The site's id.
    pub site_id: String,
    /// The conversation's id.
    pub conversation_id: String,
    /// The number of the message in the conversation.
    pub sequence: i64,
    /// The message.
    pub text: String,
    /// `could_not_answer` or `failed`.
    pub outcome: Option<AnswerOutcome>,
    /// When it was written.
    pub created_at: String,
}

/// `data` of `GET /questions/unanswered`, whose parameters are `site`, `before` and `limit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UnansweredQuestions {
    /// The messages, newest first.
    pub questions: Vec<UnansweredQuestion>,
    /// The parameter `before` of the next page; `None` on the last one.
    pub next_before: Option<i64>,
}
