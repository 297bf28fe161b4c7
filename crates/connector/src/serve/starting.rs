//! Responses before the database is open and migrated.

use axum::Router;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chat_protocol::{ErrorCode, failure};
use uuid::Uuid;

/// The time after which clients try again, in seconds.
const RETRY_AFTER_S: u64 = 2;

/// Returns the application of a service that starts. It closes each connection, so that the next request
/// finds the service.
pub(super) fn router() -> Router {
    let live = || async { (closing(), "ok\n") };
    let starting = || async { (StatusCode::SERVICE_UNAVAILABLE, closing(), "starting\n") };
    Router::new().route("/livez", get(live)).route("/readyz", get(starting)).fallback(unavailable)
}

async fn unavailable() -> Response {
    let code = ErrorCode::Other("UNAVAILABLE".to_owned());
    let request_id = format!("req_{}", Uuid::new_v4().simple());
    let body = failure(&code, "The service starts: try again.", &request_id).to_string();
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let retry = [(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S))];
    let request_id = [(HeaderName::from_static("x-request-id"), request_id)];
    (StatusCode::SERVICE_UNAVAILABLE, closing(), json, retry, request_id, body).into_response()
}

fn closing() -> [(HeaderName, HeaderValue); 2] {
    let value = HeaderValue::from_static;
    [(header::CONNECTION, value("close")), (header::CACHE_CONTROL, value("no-store"))]
}
