//! The limits of requests' bodies.
//!
//! A body that declares more than its limit is refused before it arrives. A client that declares ten
//! gigabytes and sends nothing would otherwise hold its connection until the body's time limit.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};

use crate::Service;
use crate::error::ApiError;

/// Limits the bodies of a router's requests, in bytes.
pub(crate) fn limited(routes: Router<Service>, limit: usize) -> Router<Service> {
    let check = move |request: Request, next: Next| async move { refuse_or_run(request, next, limit).await };
    routes.layer(DefaultBodyLimit::max(limit)).layer(from_fn(check))
}

async fn refuse_or_run(request: Request, next: Next, limit: usize) -> Response {
    match check_declared(request.headers(), limit) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Refuses a body that declares more than `limit` bytes.
pub(crate) fn check_declared(headers: &HeaderMap, limit: usize) -> Result<(), ApiError> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    match declared.and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if usize::try_from(length).unwrap_or(usize::MAX) > limit => {
            Err(ApiError::TooLarge { limit })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_declares_more_than_the_limit() {
        let declared = |length: &str| {
            let length = length.parse().expect("a value");
            check_declared(&HeaderMap::from_iter([(header::CONTENT_LENGTH, length)]), 10)
        };
        assert_eq!(declared("10"), Ok(()));
        for length in ["11", "10737418240", "18446744073709551615"] {
            assert_eq!(declared(length), Err(ApiError::TooLarge { limit: 10 }), "{length}");
        }
        assert_eq!(check_declared(&HeaderMap::new(), 10), Ok(()), "chunked");
    }
}
