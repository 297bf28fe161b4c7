//! The limits of requests' bodies.
//!
//! A body that declares more than its limit is refused before it arrives. A client that declares ten
//! gigabytes and sends nothing would otherwise hold its connection until the body's time limit.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::Service;
use crate::error::ApiError;

/// Maximum bytes that are read of a body that is refused.
const MAX_DISCARDED_BYTES: u64 = 16 * 1024 * 1024;
/// The time without a byte after which a refused body is read no further.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);

/// Limits the bodies of a router's requests, in bytes.
pub(crate) fn limited(routes: Router<Service>, limit: usize) -> Router<Service> {
    let check = move |request: Request, next: Next| async move { refuse_or_run(request, next, limit).await };
    routes.layer(DefaultBodyLimit::max(limit)).layer(from_fn(check))
}

async fn refuse_or_run(request: Request, next: Next, limit: usize) -> Response {
    let (parts, body) = request.into_parts();
    match check_declared(&parts.headers, body, limit).await {
        Ok(body) => next.run(Request::from_parts(parts, body)).await,
        Err(error) => error.into_response(),
    }
}

/// Refuses a body that declares more than `limit` bytes, and returns any other.
pub(crate) async fn check_declared(headers: &HeaderMap, body: Body, limit: usize) -> Result<Body, ApiError> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    match declared.and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if usize::try_from(length).unwrap_or(usize::MAX) > limit => {
            if length <= MAX_DISCARDED_BYTES {
                discard(body).await;
            }
            Err(ApiError::TooLarge { limit })
        }
        _ => Ok(body),
    }
}

async fn discard(body: Body) {
    let mut body = body.into_data_stream();
    // An error ends it: the body's time limit, or a closed connection. So does a client that sends nothing:
    // it waits for the response.
    while let Ok(Some(Ok(_))) = timeout(DISCARD_TIMEOUT, body.next()).await {}
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::stream;

    use super::*;

    /// Returns whether a body of this declared length is refused, and how many of its two chunks were read.
    async fn refused(length: Option<&str>) -> (bool, usize) {
        let read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&read);
        let chunks = stream::iter([b"some", b"more"]).map(move |chunk| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(chunk.as_slice())
        });
        let length = length.map(|length| (header::CONTENT_LENGTH, length.parse().expect("a value")));
        let checked = check_declared(&length.into_iter().collect(), Body::from_stream(chunks), 10).await;
        (checked.is_err(), read.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn refuses_what_declares_more_than_the_limit() {
        assert_eq!(refused(Some("10")).await, (false, 0));
        assert_eq!(refused(None).await, (false, 0), "chunked");
        for length in ["16777217", "10737418240", "18446744073709551615"] {
            assert_eq!(refused(Some(length)).await, (true, 0), "{length}");
        }
    }

    #[tokio::test]
    async fn reads_what_is_refused_to_its_end_so_that_its_client_sees_the_response() {
        for length in ["11", "16777216"] {
            assert_eq!(refused(Some(length)).await, (true, 2), "{length}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn refuses_what_declares_more_and_never_comes() {
        let headers = [(header::CONTENT_LENGTH, "11".parse().expect("a value"))].into_iter().collect();
        let begun = tokio::time::Instant::now();
        let body = Body::from_stream(stream::pending::<Result<&[u8], Infallible>>());
        assert!(check_declared(&headers, body, 10).await.is_err());
        assert_eq!(begun.elapsed(), DISCARD_TIMEOUT);
    }
}
