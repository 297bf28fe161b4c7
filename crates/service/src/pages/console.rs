//! The operators' console: static files, which contain nothing of a tenant.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::Service;

/// The path of the console's page.
pub(super) const PATH: &str = "/console/";

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

const PAGE: &str = include_str!("../../console/index.html");
const ICON: &str = include_str!("../../console/icon.svg");
const STYLES: &str = concat!(
    include_str!("../../console/styles/base.css"),
    include_str!("../../console/styles/account.css"),
    include_str!("../../console/styles/conversations.css"),
    include_str!("../../console/styles/log.css"),
    include_str!("../../console/styles/markdown.css"),
    include_str!("../../console/styles/visitor.css"),
    include_str!("../../console/styles/sites.css"),
    include_str!("../../console/styles/widths.css"),
);

/// The scripts by their names.
const SCRIPTS: [(&str, &str); 12] = [
    ("about.js", include_str!("../../console/about.js")),
    ("account.js", include_str!("../../console/account.js")),
    ("api.js", include_str!("../../console/api.js")),
    ("composer.js", include_str!("../../console/composer.js")),
    ("console.js", include_str!("../../console/console.js")),
    ("conversations.js", include_str!("../../console/conversations.js")),
    ("dates.js", include_str!("../../console/dates.js")),
    ("inline.js", include_str!("../../console/inline.js")),
    ("log.js", include_str!("../../console/log.js")),
    ("markdown.js", include_str!("../../console/markdown.js")),
    ("page.js", include_str!("../../console/page.js")),
    ("sites.js", include_str!("../../console/sites.js")),
];

/// Returns the routes of the console's files.
pub(super) fn routes() -> Router<Service> {
    let mut router = Router::new()
        .route(PATH, get(async || file("text/html; charset=utf-8", PAGE)))
        .route("/console/console.css", get(async || file("text/css; charset=utf-8", STYLES)))
        .route("/console/icon.svg", get(async || file("image/svg+xml", ICON)));
    for (name, text) in SCRIPTS {
        let script = async move || file("text/javascript; charset=utf-8", text);
        router = router.route(&format!("{PATH}{name}"), get(script));
    }
    router
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, text).into_response()
}
