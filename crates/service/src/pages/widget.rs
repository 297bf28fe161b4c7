//! The files of the built widget, which pages of any origin load.

use std::path::Path;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use tower_http::services::ServeDir;

use super::caching::{FOREVER, REVALIDATED, has_hash};

const PATH: &str = "/chat-widget";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// Maximum length of a file's name, in bytes.
const MAX_NAME_BYTES: usize = 255;
/// Returns the routes of the widget's files in a folder.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(folder: Option<&Path>) -> Router<S> {
    let files = match folder {
        Some(folder) => {
            let missing = missing(folder);
            let files = ServeDir::new(folder)
                .append_index_html_on_directories(false)
                .precompressed_br()
                .precompressed_gzip()
                .fallback(missing);
            Router::new().fallback_service(files)
        }
        None => Router::new().fallback(async || not_found(NO_FOLDER)),
    };
    Router::new().nest(PATH, files.layer(from_fn(with_headers)))
}

const NO_FOLDER: &str = "The service has no folder of the built widget: set --widget-dir.\n";

/// Returns the handler of files that do not exist, which says whether the widget is there.
fn missing(folder: &Path) -> MethodRouter {
    let loader = folder.join("chat-widget.js");
    any(move || async move {
        let is_built = tokio::fs::try_exists(&loader).await.unwrap_or(false);
        not_found(if is_built {
            "The widget has no such file.\n"
        } else {
            "The folder of --widget-dir has no built widget: put chat-widget.js and the files beside it there.\n"
        })
    })
}

fn not_found(text: &'static str) -> Response {
    (StatusCode::NOT_FOUND, text).into_response()
}

/// Adds the headers of a public file. Files whose names begin with a dot are not served. Names that no file
/// system has would be errors of the disk.
async fn with_headers(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let is_hidden = path
        .to_ascii_lowercase()
        .split('/')
        .any(|name| name.starts_with('.') || name.starts_with("%2e") || name.len() > MAX_NAME_BYTES);
    let mut response =
        if is_hidden { not_found("The widget has no such file.\n") } else { next.run(request).await };
    let found = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    let caching = if found && has_hash(&path) { FOREVER } else { REVALIDATED };
    headers.insert(header::CACHE_CONTROL, caching);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    set_content_type(headers, if found { &path } else { "" });
    response
}

/// Corrects the content type where the usual table lacks it or gets it wrong: it takes `.ts` for video.
fn set_content_type(headers: &mut HeaderMap, path: &str) {
    let guessed = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let corrected = match path.rsplit_once('.') {
        Some((_, "js" | "mjs")) => Some("text/javascript; charset=utf-8".to_owned()),
        Some((_, "ts")) => Some("text/plain; charset=utf-8".to_owned()),
        Some((_, "map")) => Some("application/json".to_owned()),
        _ => (guessed.starts_with("text/") && !guessed.contains("charset"))
            .then(|| format!("{guessed}; charset=utf-8")),
    };
    if let Some(value) = corrected.and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(header::CONTENT_TYPE, value);
    }
}
