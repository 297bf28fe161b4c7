//! The operators' console: the files of `dist/console/`, which contain nothing of a tenant.

mod files;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

use super::caching::{FOREVER, REVALIDATED, has_hash};
use crate::Service;

/// The path of the console's page.
pub(super) const PATH: &str = "/console/";

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self'; \
     require-trusted-types-for 'script'; trusted-types push-worker; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// The page of a program without a built console.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><title>Console</title>\
    <p>The console is not built yet. <code>npm start</code> builds it in the background: reload this page in \
    some minutes. Otherwise, run <code>node scripts/console.mjs</code>, and build the service again if it is \
    a release build.</p>";

/// Returns the routes of the console. Every path without a file is a page of the console, which finds out
/// which one.
pub(super) fn routes() -> Router<Service> {
    Router::new().route(PATH, get(serve)).route("/console/{*path}", get(serve))
}

async fn serve(request: Request) -> Response {
    let name = request.uri().path().strip_prefix(PATH).unwrap_or_default();
    let headers = request.headers();
    match file(name, headers).await {
        Some(response) => response,
        // A script of an older build must not become a page.
        None if name.contains('.') => (StatusCode::NOT_FOUND, policy(REVALIDATED)).into_response(),
        None => match file(document(name), headers).await {
            Some(page) => page,
            None => {
                (StatusCode::SERVICE_UNAVAILABLE, policy(REVALIDATED), page_type(), NOT_BUILT).into_response()
            }
        },
    }
}

/// Returns the document of a path: the inbox, or the pages that operators need more rarely, which are a
/// module of their own.
fn document(path: &str) -> &'static str {
    match path.split('/').next() {
        Some("settings" | "publishing" | "reports" | "account") => "pages.html",
        _ => "index.html",
    }
}

fn policy(caching: HeaderValue) -> [(header::HeaderName, HeaderValue); 2] {
    [(header::CONTENT_SECURITY_POLICY, POLICY), (header::CACHE_CONTROL, caching)]
}

fn page_type() -> [(header::HeaderName, HeaderValue); 1] {
    [(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))]
}

/// Returns a file, compressed where the browser accepts it; `None` if there is none.
async fn file(name: &str, request: &HeaderMap) -> Option<Response> {
    let content_type = content_type(name)?;
    let compressed = if accepts_brotli(request) { files::read(&format!("{name}.br")).await } else { None };
    let is_compressed = compressed.is_some();
    let bytes = match compressed {
        Some(bytes) => bytes,
        None => files::read(name).await?,
    };
    let is_hashed = has_hash(name);
    let tag = (!is_hashed).then(|| entity_tag(&bytes, is_compressed));
    let is_current = tag.as_ref().is_some_and(|tag| request.get(header::IF_NONE_MATCH) == Some(tag));
    let mut response =
        if is_current { StatusCode::NOT_MODIFIED.into_response() } else { bytes.into_response() };
    let headers = response.headers_mut();
    headers.extend(policy(if is_hashed { FOREVER } else { REVALIDATED }));
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_compressed && !is_current {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    if let Some(tag) = tag {
        headers.insert(header::ETAG, tag);
    }
    Some(response)
}

/// Returns the content type of a file by its name; `None` for a name that no file of the console has.
fn content_type(name: &str) -> Option<HeaderValue> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
    };
    if !name.split('/').all(is_plain) {
        return None;
    }
    let content_type = match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => return None,
    };
    Some(HeaderValue::from_static(content_type))
}

/// Returns whether a browser takes brotli. It names encodings without weights, or does not want them by
/// `q=0`.
fn accepts_brotli(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|encoding| {
        let (name, weight) = encoding.split_once(';').unwrap_or((encoding, ""));
        name.trim() == "br" && weight.trim().trim_start_matches("q=").parse() != Ok(0.0)
    })
}

fn entity_tag(bytes: &[u8], is_compressed: bool) -> HeaderValue {
    let hash = digest(&SHA256, bytes);
    let hash = URL_SAFE_NO_PAD.encode(hash.as_ref().get(..12).unwrap_or_default());
    let encoding = if is_compressed { "-br" } else { "" };
    HeaderValue::try_from(format!("\"{hash}{encoding}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_files() {
        for name in ["index.html", "texts/de.json", "console.0f1e2d3c.wasm", "icon-192.png"] {
            assert!(content_type(name).is_some(), "{name}");
        }
        for name in
            ["", "inbox", "../secret.json", "texts/../../a.json", ".built", "a//b.js", "a%2f.js", "x.exe"]
        {
            assert!(content_type(name).is_none(), "{name}");
        }
    }

    #[test]
    fn brotli_is_sent_to_browsers_that_accept_it() {
        let accepts = |value: &'static str| {
            accepts_brotli(&HeaderMap::from_iter([(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static(value),
            )]))
        };
        assert!(accepts("gzip, deflate, br, zstd"));
        assert!(accepts("br;q=0.5"));
        assert!(!accepts("gzip, br;q=0"));
        assert!(!accepts("brotli"));
        assert!(!accepts_brotli(&HeaderMap::new()));
    }
}
