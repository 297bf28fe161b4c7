//! The page of the console's preview of the widget: static files, which contain nothing of a tenant. Only the
//! console may frame it.

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::Service;

/// The policy that the widget needs on a page; see docs/csp.md. Avatars may be on any host.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' https: data:; \
     connect-src 'self'; require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'",
);
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const FILES: [(&str, &str, &str); 3] = [
    ("/widget-preview/", "text/html; charset=utf-8", include_str!("../../preview/index.html")),
    ("/widget-preview/preview.css", "text/css; charset=utf-8", include_str!("../../preview/preview.css")),
    (
        "/widget-preview/preview.js",
        "text/javascript; charset=utf-8",
        include_str!("../../preview/preview.js"),
    ),
];

/// Returns the routes of the preview's files.
pub(super) fn routes() -> Router<Service> {
    let mut router = Router::new();
    for (path, content_type, text) in FILES {
        router = router.route(path, get(async move || file(content_type, text)));
    }
    router
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (RESOURCE_POLICY, HeaderValue::from_static("same-origin")),
    ];
    (headers, text).into_response()
}
