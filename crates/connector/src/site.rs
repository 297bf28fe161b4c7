//! The demo's site: pages, the widget's files and the proxy, under a strict Content-Security-Policy.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{Redirect, Response};
use axum::routing::get;
use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_header::SetResponseHeaderLayer;

/// The Content-Security-Policy of a page with the widget.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; \
                      img-src 'self'; require-trusted-types-for 'script'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";
/// The Content-Security-Policy of the gallery, the playground and the documentation, which frame their pages.
const FRAMED_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                             connect-src 'self'; img-src 'self'; require-trusted-types-for 'script'; \
                             form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'self'";

/// The folders of the site.
#[derive(Clone, Debug)]
pub(crate) struct SiteFiles {
    /// The pages, served at `/`.
    pub(crate) pages: PathBuf,
    /// The built widget, served at `/chat-widget/`.
    pub(crate) widget: PathBuf,
    /// The built documentation, served at `/docs/`.
    pub(crate) docs: PathBuf,
}

/// Returns the site with its proxy at `/connector`; without files, the proxy only.
pub(crate) fn router(proxy: Router, files: Option<&SiteFiles>) -> Router {
    let site = Router::new().nest("/connector", proxy);
    let site = match files {
        Some(files) => site
            .nest("/chat-widget", widget(&files.widget))
            // The addresses in the pages are relative to the folder.
            .route("/docs", get(|| async { Redirect::temporary("/docs/") }))
            .nest_service("/docs/", docs(&files.docs))
            .merge(pages(&files.pages)),
        None => site,
    };
    let always =
        |name: HeaderName, value| SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value));
    site.layer(from_fn(with_policy))
        .layer(always(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(always(header::REFERRER_POLICY, "strict-origin-when-cross-origin"))
}

/// Returns whether a folder contains the built widget.
pub(crate) fn is_built(widget: &Path) -> bool {
    widget.join("chat-widget.js").is_file()
}

fn widget(directory: &Path) -> Router {
    let missing = {
        let directory = directory.to_owned();
        get(move || async move {
            let hint = if is_built(&directory) {
                "The widget has no such file."
            } else {
                "The widget is not built yet. Run: npm run build"
            };
            (StatusCode::NOT_FOUND, hint)
        })
    };
    let files = ServeDir::new(directory).precompressed_br().precompressed_gzip().fallback(missing);
    Router::new().fallback_service(files).layer(from_fn(described))
}

fn docs(directory: &Path) -> Router {
    let missing = get(|| async {
        let hint = "The documentation has no such page, or is not built yet. Run: npm run docs";
        (StatusCode::NOT_FOUND, hint)
    });
    let files = ServeDir::new(directory).fallback(missing);
    Router::new().fallback_service(files).layer(from_fn(described))
}

fn pages(directory: &Path) -> Router {
    let files = ServeDir::new(directory).not_found_service(ServeFile::new(directory.join("404.html")));
    Router::new().fallback_service(files).layer(from_fn(described))
}

/// Adds the Content-Security-Policy of the requested page.
async fn with_policy(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_framed = ["/gallery", "/playground", "/docs/"].iter().any(|start| path.starts_with(start));
    let policy = if is_framed { FRAMED_POLICY } else { POLICY };
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// Sets the content type, and makes the browser revalidate.
async fn described(request: Request, next: Next) -> Response {
    let by_name = content_type(request.uri().path());
    let mut response = next.run(request).await;
    let found = response.status().is_success();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let guessed = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let with_charset = (guessed.starts_with("text/") && !guessed.contains("charset"))
        .then(|| HeaderValue::try_from(format!("{guessed}; charset=utf-8")).ok())
        .flatten();
    if let Some(content_type) = by_name.filter(|_| found).or(with_charset) {
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    response
}

/// Content types that the usual table lacks or gets wrong: it takes `.ts` for video.
fn content_type(path: &str) -> Option<HeaderValue> {
    match path.rsplit_once('.')?.1 {
        "mjs" => Some(HeaderValue::from_static("text/javascript; charset=utf-8")),
        "ts" => Some(HeaderValue::from_static("text/plain; charset=utf-8")),
        "map" => Some(HeaderValue::from_static("application/json")),
        _ => None,
    }
}
