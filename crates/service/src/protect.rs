//! Completes the responses of all routes: the headers that every response has, and the envelopes of errors
//! that the framework made, such as those of an unknown path or method.
//!
//! A route that needs other values sets them itself. A new route that sets none is protected all the same.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use chat_protocol::ErrorCode;

use crate::response::ApiResponse;

/// The headers of every response. None is a page, may be stored, or may be embedded by another site.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

/// Completes the responses of a router, including those of its fallback.
pub(crate) fn protected<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    router.layer(from_fn(protect))
}

async fn protect(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = next.run(request).await;
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_json = content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    // The texts of health checks and of missing files are for people.
    let is_framework = if is_api { !is_json } else { content_type.is_none() };
    if is_framework && (response.status().is_client_error() || response.status().is_server_error()) {
        response = enveloped(&response);
    }
    // Its body was not read to the end: the next request on this connection would be lost.
    if [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::REQUEST_TIMEOUT].contains(&response.status()) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    complete(response.headers_mut());
    response
}

/// Adds the headers that are missing.
fn complete(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(value);
    }
}

/// Returns an error of the framework in the contract's envelope, with its own headers.
fn enveloped(error: &Response) -> Response {
    let status = error.status();
    let (code, message) = match status {
        StatusCode::NOT_FOUND => (ErrorCode::NotFound, "This path does not exist."),
        StatusCode::METHOD_NOT_ALLOWED => (
            ErrorCode::Other("METHOD_NOT_ALLOWED".to_owned()),
            "This path has other methods: see the header Allow.",
        ),
        StatusCode::REQUEST_TIMEOUT => {
            (ErrorCode::Other("REQUEST_TIMEOUT".to_owned()), "The request took too long.")
        }
        _ if status.is_server_error() => {
            (ErrorCode::Other("INTERNAL_ERROR".to_owned()), "The service failed: see its log.")
        }
        _ => (ErrorCode::InvalidRequest, "The request is not valid."),
    };
    let mut response = ApiResponse::failure(status, &code, message).into_response();
    for (name, value) in error.headers() {
        let describes_the_body = name == header::CONTENT_LENGTH || name == header::CONTENT_TYPE;
        if !describes_the_body {
            response.headers_mut().append(name, value.clone());
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    async fn answer(method: &str, path: &str) -> (Response, String) {
        let routes = Router::new()
            .route("/page", get(async || ([(header::CACHE_CONTROL, "no-cache")], "text")))
            .route("/missing", get(async || (StatusCode::NOT_FOUND, "The widget has no such file.\n")))
            .route("/large", get(async || StatusCode::PAYLOAD_TOO_LARGE))
            .route("/api/text", get(async || (StatusCode::BAD_REQUEST, "Invalid URL: of the framework")));
        let request = Request::builder().method(method).uri(path).body(Body::empty()).expect("a request");
        let response = protected(routes).oneshot(request).await.expect("a response");
        let (parts, body) = response.into_parts();
        let text = String::from_utf8(to_bytes(body, 1 << 16).await.expect("a body").to_vec()).expect("text");
        (Response::from_parts(parts, Body::empty()), text)
    }

    #[tokio::test]
    async fn every_response_has_the_headers_and_keeps_its_own() {
        for (path, caching) in [("/page", "no-cache"), ("/none", "no-store"), ("/missing", "no-store")] {
            let (response, _) = answer("GET", path).await;
            assert_eq!(response.headers()[header::CACHE_CONTROL], caching, "{path}");
            for (name, _) in HEADERS {
                assert_eq!(response.headers().get_all(&name).iter().count(), 1, "{path} {name}");
            }
        }
    }

    #[tokio::test]
    async fn a_connection_whose_body_was_not_read_is_closed() {
        assert_eq!(answer("GET", "/large").await.0.headers()[header::CONNECTION], "close");
        assert!(!answer("GET", "/none").await.0.headers().contains_key(header::CONNECTION));
    }

    #[tokio::test]
    async fn errors_of_the_framework_are_envelopes() {
        for (method, path, status, code) in [
            ("GET", "/none", 404, "NOT_FOUND"),
            ("POST", "/page", 405, "METHOD_NOT_ALLOWED"),
            ("GET", "/api/text", 400, "INVALID_REQUEST"),
        ] {
            let (response, text) = answer(method, path).await;
            assert_eq!(response.status(), status);
            assert!(text.contains(&format!("\"code\":\"{code}\"")), "{text}");
            assert!(!text.contains("framework"), "{text}");
        }
        let (response, _) = answer("POST", "/page").await;
        assert!(response.headers().contains_key(header::ALLOW), "the framework's own header is kept");
        let (_, text) = answer("GET", "/missing").await;
        assert_eq!(text, "The widget has no such file.\n");
    }
}
