//! What became of a visitor's message.

use chat_protocol::AiStatus;

pub(crate) use chat_protocol::admin::AnswerOutcome as Outcome;

use super::talk::Understood;

/// Returns the outcome of an endpoint's answer. One without a source is not known to be right, unless nothing
/// was asked.
pub(super) fn of_endpoint(status: &AiStatus, has_sources: bool, understood: &Understood) -> Outcome {
    match status {
        AiStatus::Blocked => Outcome::Refused,
        _ if has_sources => Outcome::Answered,
        _ if understood.asked.is_empty() => Outcome::SmallTalk,
        _ => Outcome::CouldNotAnswer,
    }
}
