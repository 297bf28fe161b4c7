//! The client's error type.

use std::time::Duration;

use chat_protocol::{ErrorCode, ServiceError};

use crate::printable::Printable;

/// The stage at which a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Before the request: the origin, the token or an id is invalid.
    Setup,
    /// The service cannot be reached, or the connection broke.
    Unreachable,
    /// No response arrived in time.
    Timeout,
    /// The service refused the call.
    Refused,
    /// The response is not one of this API.
    InvalidResponse,
}

/// A failed call. Neither `Display` nor `Debug` shows the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConnectorError {
    /// The stage of the failure.
    pub kind: ErrorKind,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// `error.code` (7); empty if the service gave none.
    pub code: ErrorCode,
    /// The reason and, where possible, what to do: one line, without terminal control characters.
    pub message: String,
    /// `requestId`, for the operator of the service.
    pub request_id: Option<String>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// The delay that the service asks for before a retry.
    pub retry_after: Option<Duration>,
}

impl ConnectorError {
    pub(crate) fn setup(message: String) -> Self {
        Self::plain(ErrorKind::Setup, message, false)
    }

    pub(crate) fn unreachable(what: &str, reason: &str) -> Self {
        Self::plain(ErrorKind::Unreachable, format!("{what}: {reason}"), true)
    }

    pub(crate) fn timeout(after: Duration) -> Self {
        Self::plain(ErrorKind::Timeout, format!("the service did not answer within {after:?}"), true)
    }

    pub(crate) fn invalid_response(status: u16, message: &str, request_id: Option<String>) -> Self {
        let message = Printable(message).to_string();
        Self { status: Some(status), request_id, ..Self::plain(ErrorKind::InvalidResponse, message, false) }
    }

    fn plain(kind: ErrorKind, message: String, retryable: bool) -> Self {
        let code = ErrorCode::Other(String::new());
        Self { kind, status: None, code, message, request_id: None, retryable, retry_after: None }
    }

    /// Creates the error of a refusal. Retryable are 408, 425, 429, the 5xx statuses of overload, and a
    /// conflict with `Retry-After` (2.1) unless the key itself conflicts.
    pub(crate) fn refused(error: ServiceError, retry_after: Option<Duration>) -> Self {
        let retryable = match error.status {
            408 | 425 | 429 | 500 | 502 | 503 | 504 | 507 => true,
            409 => retry_after.is_some() && error.code != ErrorCode::IdempotencyConflict,
            _ => false,
        };
        let advice = match error.code {
            ErrorCode::InvalidToken => "; check the site token, or activate the site again",
            ErrorCode::InsufficientQuota => "; the account's quota is exhausted",
            _ => "",
        };
        let message = if error.code.as_str().is_empty() {
            format!("the service answered {} without an error code", error.status)
        } else {
            format!("the service refused: {}{advice}", Printable(&error.to_string()))
        };
        Self {
            kind: ErrorKind::Refused,
            status: Some(error.status),
            message,
            code: error.code,
            request_id: error.request_id,
            retryable,
            retry_after,
        }
    }

    /// Returns whether the claim no longer holds the reported job, so that nothing is left to do for it (7).
    pub fn is_job_lost(&self) -> bool {
        matches!(self.code, ErrorCode::NotFound | ErrorCode::ResourceConflict) && !self.retryable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, code: ErrorCode, retry_after: Option<u64>) -> ConnectorError {
        let error = ServiceError { status, code, message: "no".into(), request_id: Some("r1".into()) };
        ConnectorError::refused(error, retry_after.map(Duration::from_secs))
    }

    #[test]
    fn distinguishes_transient_from_permanent_errors() {
        for status in [408, 425, 429, 500, 502, 503, 504, 507] {
            assert!(refused(status, ErrorCode::Other(String::new()), None).retryable, "{status}");
        }
        for (status, code) in
            [(400, ErrorCode::InvalidRequest), (401, ErrorCode::InvalidToken), (404, ErrorCode::NotFound)]
        {
            assert!(!refused(status, code, Some(1)).retryable, "{status}");
        }
    }

    #[test]
    fn a_conflict_is_retryable_only_with_retry_after() {
        assert!(refused(409, ErrorCode::ResourceConflict, Some(1)).retryable);
        assert!(refused(409, ErrorCode::ResourceConflict, None).is_job_lost());
        assert!(!refused(409, ErrorCode::IdempotencyConflict, Some(1)).retryable);
    }

    #[test]
    fn escapes_and_truncates_the_services_text() {
        let error = ServiceError {
            status: 400,
            code: ErrorCode::Other("A\x1b[2J".into()),
            message: format!("\u{9b}2J\nerror: forged{}", "x".repeat(1_000_000)),
            request_id: Some("\u{202e}".into()),
        };
        let message = ConnectorError::refused(error, None).to_string();
        assert!(
            !message.chars().any(crate::printable::is_unprintable) && message.len() < 10_000,
            "{message}"
        );
    }

    #[test]
    fn a_message_contains_the_request_id_and_advice() {
        let message = refused(401, ErrorCode::InvalidToken, None).to_string();
        assert!(message.contains("r1") && message.contains("activate the site again"), "{message}");
    }
}
