//! Responses before the database is open and migrated.

use axum::Router;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chat_service::ApiError;

/// Returns the application of a service that starts. It closes each connection, so that the next request
/// finds the service.
pub(super) fn router() -> Router {
    let live = || async { (closing(), "ok\n") };
    let starting = || async { (StatusCode::SERVICE_UNAVAILABLE, closing(), "starting\n") };
    Router::new().route("/livez", get(live)).route("/readyz", get(starting)).fallback(unavailable)
}

async fn unavailable() -> Response {
    (closing(), ApiError::Unavailable).into_response()
}

fn closing() -> [(HeaderName, HeaderValue); 2] {
    let value = HeaderValue::from_static;
    [(header::CONNECTION, value("close")), (header::CACHE_CONTROL, value("no-store"))]
}
