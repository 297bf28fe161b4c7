//! A response to the browser, from the service or from the cache.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

#[derive(Clone, Debug)]
pub(crate) struct ProxyResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl IntoResponse for ProxyResponse {
    fn into_response(self) -> Response {
        let mut response = Response::new(self.body.into());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// Returns a request id for a response of the proxy itself, distinguishable from those of the service.
pub(crate) fn own_request_id() -> String {
    format!("proxy_{}", Uuid::new_v4().simple())
}

/// Returns whether a `Content-Type` is JSON.
pub(super) fn is_json(content_type: &HeaderValue) -> bool {
    let essence = content_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
