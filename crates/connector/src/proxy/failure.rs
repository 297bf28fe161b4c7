//! The proxy's own errors, as failure envelopes (2.1).

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use chat_protocol::{ErrorCode, failure};

use super::response::{ProxyResponse, own_request_id};

/// An error of the proxy. Its response is a failure envelope (2.1).
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("This path does not exist.")]
    NotFound,
    #[error("This path supports {allow} only.")]
    MethodNotAllowed { allow: &'static str },
    #[error("Content-Type must be application/json.")]
    NotJson,
    #[error("The body may have at most {limit} bytes.")]
    TooLarge { limit: usize },
    #[error("The body did not arrive in time.")]
    SlowRequest,
    #[error("The body cannot be read.")]
    BrokenRequest,
    #[error("Too many requests.")]
    RateLimited { wait: Duration },
    #[error("The chat service cannot be reached.")]
    Unavailable,
    #[error("The chat service did not answer in time.")]
    Timeout,
}

impl Failure {
    /// Returns whether the request's body may not have been read to its end.
    pub(crate) fn leaves_body_unread(&self) -> bool {
        !matches!(self, Self::Unavailable | Self::Timeout)
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::SlowRequest => StatusCode::REQUEST_TIMEOUT,
            Self::BrokenRequest => StatusCode::BAD_REQUEST,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::BAD_GATEWAY,
            Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    fn code(&self) -> ErrorCode {
        let other = |code: &str| ErrorCode::Other(code.to_owned());
        match self {
            Self::NotFound => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => other("METHOD_NOT_ALLOWED"),
            Self::NotJson | Self::TooLarge { .. } | Self::SlowRequest | Self::BrokenRequest => {
                ErrorCode::InvalidRequest
            }
            Self::RateLimited { .. } => ErrorCode::RateLimited,
            Self::Unavailable => other("UPSTREAM_UNAVAILABLE"),
            Self::Timeout => other("UPSTREAM_TIMEOUT"),
        }
    }
}

impl From<&Failure> for ProxyResponse {
    fn from(error: &Failure) -> Self {
        let request_id = own_request_id();
        let body = failure(&error.code(), &error.to_string(), &request_id).to_string();
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(request_id) = HeaderValue::try_from(request_id) {
            headers.insert(HeaderName::from_static("x-request-id"), request_id);
        }
        match error {
            Failure::MethodNotAllowed { allow } => {
                headers.insert(header::ALLOW, HeaderValue::from_static(allow));
            }
            Failure::RateLimited { wait } => {
                // Rounded up, so that a request after this time is accepted.
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                headers.insert(header::RETRY_AFTER, seconds.into());
            }
            _ => {}
        }
        Self { status: error.status(), headers, body: body.into() }
    }
}
