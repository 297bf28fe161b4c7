//! The action that an error calls for.

use chat_protocol::{ErrorCode, ServiceError};

/// What to do about an attempt that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorAction {
    /// The same again, later.
    Retry,
    /// Look what became of an earlier attempt.
    InDoubt,
    /// The service does not know the conversation.
    ConversationGone,
    /// Nothing that a repetition would change.
    Fail,
}

impl ErrorAction {
    pub(crate) fn of(error: &ServiceError) -> Self {
        match (error.status, &error.code) {
            (409, ErrorCode::IdempotencyConflict) => Self::InDoubt,
            (404, ErrorCode::NotFound) => Self::ConversationGone,
            // No answer at all; or a page that is no envelope, with a status of success: a network in between, such as
            // a log-in page or a cache.
            (0 | 200..=299 | 408 | 409 | 425 | 429 | 500..=599, _) => Self::Retry,
            _ => Self::Fail,
        }
    }
}
