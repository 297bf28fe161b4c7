//! Errors of the admin API.

use crate::text::shell;

/// The code of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The service was not reached, or its response broke off.
    NotReached,
    /// Nobody is signed in.
    SignedOut,
    /// The session is in another workspace than the console shows.
    OperatorChanged,
    /// A code of the authenticator app is required.
    TotpRequired,
    /// The one-time link is not valid.
    InvalidLink,
    /// Somebody else took the conversation over.
    ConversationTaken,
    /// The idempotency key was used for another request.
    IdempotencyConflict,
    /// There is no such thing.
    NotFound,
    /// Any other code of the service.
    Other(String),
}

impl ErrorCode {
    pub(super) fn parse(code: &str) -> Self {
        match code {
            "SIGNED_OUT" => Self::SignedOut,
            "OPERATOR_CHANGED" => Self::OperatorChanged,
            "TOTP_REQUIRED" => Self::TotpRequired,
            "INVALID_LINK" => Self::InvalidLink,
            "CONVERSATION_TAKEN" => Self::ConversationTaken,
            "IDEMPOTENCY_CONFLICT" => Self::IdempotencyConflict,
            "NOT_FOUND" => Self::NotFound,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// A request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status; 0 when the service was not reached.
    pub status: u16,
    /// The code.
    pub code: ErrorCode,
    /// A sentence for the operator.
    pub message: String,
    /// The seconds after which a repetition may succeed.
    pub retry_after_s: Option<u32>,
}

impl ApiError {
    pub(super) fn from_request(_error: gloo_net::Error) -> Self {
        Self::not_reached()
    }

    /// The service was not reached.
    pub fn not_reached() -> Self {
        Self {
            status: 0,
            code: ErrorCode::NotReached,
            message: shell::NOT_REACHED.get().to_owned(),
            retry_after_s: None,
        }
    }

    /// Returns whether the same request may succeed later: the service was not reached, is busy or failed.
    pub fn is_transient(&self) -> bool {
        matches!(self.status, 0 | 408 | 429) || self.status >= 500
    }
}
