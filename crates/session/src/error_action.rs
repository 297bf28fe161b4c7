//! The action that an error calls for.

use chat_protocol::{ErrorCode, ServiceError};

/// The action after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorAction {
    /// Repeat the same request later.
    Retry,
    /// Poll whether an earlier attempt arrived.
    InDoubt,
    /// Start a new conversation: the service does not know this one.
    ConversationGone,
    /// Fail: a repetition would have the same result.
    Fail,
}

impl ErrorAction {
    pub(crate) fn of(error: &ServiceError) -> Self {
        match (error.status, &error.code) {
            (409, ErrorCode::IdempotencyConflict) => Self::InDoubt,
            (404, ErrorCode::NotFound) => Self::ConversationGone,
            // No response, or a success without an envelope, for example from the log-in page of a network or
            // a cache.
            (0 | 200..=299 | 408 | 409 | 425 | 429 | 500..=599, _) => Self::Retry,
            _ => Self::Fail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients_table;

    #[test]
    fn transient_errors_match_the_shared_table_of_all_clients() {
        for case in clients_table()["transient"].as_array().expect("cases") {
            let error = ServiceError {
                status: u16::try_from(case["status"].as_u64().expect("a status")).expect("a status"),
                code: ErrorCode::from(case["code"].as_str().expect("a code").to_owned()),
                message: String::new(),
                request_id: None,
            };
            let is_retried = ErrorAction::of(&error) == ErrorAction::Retry;
            assert_eq!(is_retried, case["transient"].as_bool().expect("a bool"), "{case}");
        }
    }
}
