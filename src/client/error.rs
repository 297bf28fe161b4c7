//! The error of a call, and whether repeating the call may help.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use chat_protocol::{ErrorCode, FieldError, IdempotencyKey, ServiceError};

/// The failure of a call, after its retries.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientError {
    /// The reason of the last attempt's failure.
    pub kind: ErrorKind,
    /// `Retry-After` of the response.
    pub retry_after: Option<Duration>,
    /// The idempotency key of a call that sends data. A repetition of the call must use it again.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// The reason of a failure.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The service refused the request, or its response is invalid.
    Service(ServiceError),
    /// There is no connection to the proxy, or it broke.
    Network,
    /// The proxy did not respond before the timeout.
    Timeout,
    /// An event is invalid. It was not sent.
    InvalidEvent(FieldError),
}

impl ClientError {
    /// Creates an error of a call without a response.
    pub(super) fn of(kind: ErrorKind) -> Self {
        Self { kind, retry_after: None, idempotency_key: None }
    }

    /// Returns whether the error is transient, so that the call may succeed later.
    pub fn is_transient(&self) -> bool {
        match &self.kind {
            ErrorKind::Network | ErrorKind::Timeout => true,
            ErrorKind::InvalidEvent(_) => false,
            // An invalid response with a status of success comes from a network in between: a log-in page, or
            // a cache.
            ErrorKind::Service(error) => {
                matches!(error.status, 200..=299 | 408 | 409 | 425 | 429 | 500..=599)
                    && error.code != ErrorCode::IdempotencyConflict
            }
        }
    }
}

impl From<ErrorKind> for ClientError {
    fn from(kind: ErrorKind) -> Self {
        Self::of(kind)
    }
}

impl Display for ClientError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Service(error) => error.fmt(out),
            ErrorKind::Network => out.write_str("no connection to the proxy"),
            ErrorKind::Timeout => out.write_str("the proxy did not respond before the timeout"),
            ErrorKind::InvalidEvent(invalid) => write!(out, "invalid event: {invalid}"),
        }
    }
}

impl std::error::Error for ClientError {}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn transient_errors_are_those_of_the_clients_table() {
        let table: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/clients.json")).expect("JSON");
        for case in table["transient"].as_array().expect("cases") {
            let code = case["code"].as_str().expect("a code").to_owned();
            let status = u16::try_from(case["status"].as_u64().expect("a status")).expect("a status");
            let kind = match code.as_str() {
                "NETWORK" => ErrorKind::Network,
                "TIMEOUT" => ErrorKind::Timeout,
                _ => ErrorKind::Service(ServiceError {
                    status,
                    code: code.into(),
                    message: String::new(),
                    request_id: None,
                }),
            };
            assert_eq!(
                ClientError::of(kind).is_transient(),
                case["transient"].as_bool().expect("a bool"),
                "{case}"
            );
        }
    }
}
