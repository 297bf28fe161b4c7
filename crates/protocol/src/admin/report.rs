//! Reports over a period: `GET /report?site=…&from=2026-11-01&to=2026-11-30&timeZone=Europe/Berlin`.

use serde::{Deserialize, Serialize};

/// `data` of `GET /report`. Days and hours are those of the time zone that the request names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The first day, such as `2026-11-01`.
    pub from: String,
    /// The last day. At most 366 days.
    pub to: String,
    /// The whole period.
    pub totals: ReportTotals,
    /// The period of the same length before.
    pub before: ReportTotals,
    /// Every day of the period, also those on which nothing happened.
    pub days: Vec<ReportDay>,
    /// Messages of visitors by day of the week (1 is Monday) and hour.
    pub hours: Vec<HourCount>,
    /// The pages on which most conversations began, at most 20.
    pub pages: Vec<PageCount>,
    /// Messages of visitors that the AI answered, by what became of them.
    #[serde(default)]
    pub outcomes: OutcomeCounts,
}

/// Messages of visitors that the AI answered, in the conversations of the period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OutcomeCounts {
    /// Answered from a source.
    pub answered: i64,
    /// Nothing was asked.
    pub small_talk: i64,
    /// The AI had no answer.
    pub could_not_answer: i64,
    /// The AI refused to answer.
    pub refused: i64,
    /// The AI failed.
    pub failed: i64,
}

/// The figures of a period. Conversations belong to the period in which they began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportTotals {
    /// Conversations that began.
    pub conversations: i64,
    /// Of these, those that the AI answered from a source, and no person.
    pub answered_by_ai: i64,
    /// Of these, those in which the AI left a message without an answer.
    #[serde(default)]
    pub unanswered: i64,
    /// Of these, those that a person answered.
    pub answered_by_person: i64,
    /// Of these, those whose visitor asked for a person, or that an operator took over.
    pub handed_off: i64,
    /// Of these, those with contact details of the visitor.
    pub leads: i64,
    /// Of these, those that are closed.
    pub closed: i64,
    /// The median time until the first answer of anybody, in milliseconds.
    pub first_response_ms: Option<i64>,
    /// The median time from the request for a person to the first answer of one, in milliseconds.
    pub first_person_response_ms: Option<i64>,
    /// The median time until the conversation was closed, in milliseconds.
    pub resolution_ms: Option<i64>,
}

/// The figures of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReportDay {
    /// The day, such as `2026-11-01`.
    pub day: String,
    /// Conversations that began.
    pub conversations: i64,
    /// Of these, those that the AI answered from a source, and no person.
    pub answered_by_ai: i64,
    /// Of these, those in which the AI left a message without an answer.
    #[serde(default)]
    pub unanswered: i64,
    /// Of these, those with contact details.
    pub leads: i64,
}

/// Messages of visitors in an hour of the week.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HourCount {
    /// 1 for Monday to 7 for Sunday.
    pub weekday: u8,
    /// 0 to 23.
    pub hour: u8,
    /// Messages.
    pub messages: i64,
}

/// Conversations that began on a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageCount {
    /// The page's path.
    pub path: String,
    /// Conversations.
    pub conversations: i64,
}
