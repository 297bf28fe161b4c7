//! The envelope of every response (2.1), and the errors that it may contain (7).

use std::fmt::{self, Display, Formatter};

use crate::{FieldError, Fields, Value, decimal};

/// The code of an error (7). The contract does not close the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// 400: the request is invalid.
    InvalidRequest,
    /// 401: the proxy's token is missing or wrong.
    InvalidToken,
    /// 402: the quota of the site's account is exhausted.
    InsufficientQuota,
    /// 404: the named resource does not exist.
    NotFound,
    /// 409: the request conflicts with another claim or request.
    ResourceConflict,
    /// 409: this key was used with another body.
    IdempotencyConflict,
    /// 429: too many requests.
    RateLimited,
    /// Any other code, as the service sent it; empty when it sent none.
    Other(String),
}

impl ErrorCode {
    /// Returns the code as it is on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::InvalidToken => "INVALID_TOKEN",
            Self::InsufficientQuota => "INSUFFICIENT_QUOTA",
            Self::NotFound => "NOT_FOUND",
            Self::ResourceConflict => "RESOURCE_CONFLICT",
            Self::IdempotencyConflict => "IDEMPOTENCY_CONFLICT",
            Self::RateLimited => "RATE_LIMITED",
            Self::Other(code) => code,
        }
    }
}

impl From<String> for ErrorCode {
    fn from(code: String) -> Self {
        match code.as_str() {
            "INVALID_REQUEST" => Self::InvalidRequest,
            "INVALID_TOKEN" => Self::InvalidToken,
            "INSUFFICIENT_QUOTA" => Self::InsufficientQuota,
            "NOT_FOUND" => Self::NotFound,
            "RESOURCE_CONFLICT" => Self::ResourceConflict,
            "IDEMPOTENCY_CONFLICT" => Self::IdempotencyConflict,
            "RATE_LIMITED" => Self::RateLimited,
            _ => Self::Other(code),
        }
    }
}

/// An error that the service reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceError {
    /// The HTTP status.
    pub status: u16,
    /// `error.code`.
    pub code: ErrorCode,
    /// `error.message`: for developers, never shown to visitors.
    pub message: String,
    /// `requestId`, if the response has one.
    pub request_id: Option<String>,
}

impl Display for ServiceError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.sentence())
    }
}

impl ServiceError {
    /// Returns the text that `Display` writes: status, code, message and, if known, the request id.
    pub fn sentence(&self) -> String {
        let status = decimal(self.status.into());
        let mut sentence = [&status, " ", self.code.as_str(), ": ", &self.message].concat();
        if let Some(id) = &self.request_id {
            sentence = [&sentence, " (request ", id, ")"].concat();
        }
        sentence
    }
}

impl std::error::Error for ServiceError {}

/// Opens the envelope of a response: returns its `data`, or the error that it carries.
///
/// `body` is the parsed body, null if it was not JSON. Without an envelope the error has the status and an
/// empty code.
pub fn open_envelope(status: u16, body: Value) -> Result<Value, ServiceError> {
    let success = (200..300).contains(&status);
    let mut fields = Fields::lenient(body);
    let request_id = fields.lenient_text("requestId");
    if success && fields.lenient_bool("ok") == Some(true) {
        return Ok(fields.take("data"));
    }
    let mut error = Fields::lenient(fields.take("error"));
    let code = error.lenient_text("code").unwrap_or_default();
    let message = error.lenient_text("message").unwrap_or_else(|| {
        if success {
            "the response has no envelope".to_owned()
        } else {
            "the response contains no error message".to_owned()
        }
    });
    Err(ServiceError { status, code: code.into(), message, request_id })
}

/// Returns the envelope of a success.
pub fn success(data: Value, request_id: &str) -> Value {
    Value::Object(vec![
        ("ok".into(), true.into()),
        ("data".into(), data),
        ("requestId".into(), request_id.into()),
    ])
}

/// Returns the envelope of a failure.
pub fn failure(code: &ErrorCode, message: &str, request_id: &str) -> Value {
    let error =
        Value::Object(vec![("code".into(), code.as_str().into()), ("message".into(), message.into())]);
    Value::Object(vec![
        ("ok".into(), false.into()),
        ("error".into(), error),
        ("requestId".into(), request_id.into()),
    ])
}

impl From<FieldError> for ServiceError {
    /// Converts the error of a response with status 200 and invalid data.
    fn from(error: FieldError) -> Self {
        let message = ["invalid response: ", &error.sentence()].concat();
        Self { status: 200, code: ErrorCode::Other("UNUSABLE_ANSWER".to_owned()), message, request_id: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_envelope_returns_the_data_or_the_error() {
        assert_eq!(open_envelope(200, success("hi".into(), "r1")), Ok("hi".into()));
        let envelope = failure(&ErrorCode::RateLimited, "slow down", "r2");
        let error = open_envelope(429, envelope).unwrap_err();
        assert_eq!(error.code, ErrorCode::RateLimited);
        assert_eq!(error.to_string(), "429 RATE_LIMITED: slow down (request r2)");
    }

    #[test]
    fn reports_the_status_without_an_envelope() {
        let error = open_envelope(502, Value::Null).unwrap_err();
        assert_eq!((error.status, error.code.as_str()), (502, ""));
        assert!(
            open_envelope(200, "<html>".into()).is_err(),
            "a response without an envelope is not a success"
        );
        assert!(
            open_envelope(500, success(Value::Null, "r")).is_err(),
            "an error status is not a success, whatever the body says"
        );
    }

    #[test]
    fn keeps_an_unknown_error_code() {
        assert_eq!(ErrorCode::from("MAINTENANCE".to_owned()), ErrorCode::Other("MAINTENANCE".to_owned()));
    }
}
