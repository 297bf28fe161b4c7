//! The proxy and the client of the site's server, with any request and any response.

use std::cell::LazyCell;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderValue, Request, Response};
use chat_connector::client::{BackOff, ClientOptions, OverlayQuery, ServerConnectorClient};
use chat_connector::proxy::{self, ProxyOptions};
use chat_protocol::{Endpoint, Value};
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::service::{Service, runtime};

const TOKEN: &str = "cmt_fuzz_secret";
const PREFIX: &str = "/connector";
/// The headers of a request to the service, besides the token.
const FORWARDED_HEADERS: [&str; 8] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "content-length",
    "content-type",
    "host",
    "idempotency-key",
    "user-agent",
];
/// The headers of a response to the browser, including those that the proxy adds.
const RETURNED_HEADERS: [&str; 12] = [
    "allow",
    "cache-control",
    "connection",
    "content-length",
    "content-security-policy",
    "content-type",
    "retry-after",
    "x-content-type-options",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
];

/// A proxy and a client, with a service for this thread.
struct Site {
    runtime: Runtime,
    service: Service,
    router: Router,
    client: ServerConnectorClient,
}

thread_local! {
    static SITE: LazyCell<Site> = LazyCell::new(Site::start);
}

impl Site {
    fn start() -> Self {
        let service = Service::start();
        let timeout = Duration::from_secs(5);
        let options = ProxyOptions { timeout, ..ProxyOptions::new(service.origin(), TOKEN.into()) };
        let router = Router::new().nest(PREFIX, proxy::router(options).expect("a proxy"));
        let back_off = BackOff { attempts: 1, ..BackOff::default() };
        let options = ClientOptions { timeout, back_off, ..ClientOptions::new(service.origin()) };
        let client = ServerConnectorClient::new(options, &TOKEN.into()).expect("a client");
        Self { runtime: runtime(), service, router, client }
    }

    /// Sends a request to the proxy, and returns the status, headers and body of the response.
    fn send(&self, request: Request<Body>) -> (u16, HeaderMap, Vec<u8>) {
        self.runtime.block_on(async {
            let response: Response<Body> = self.router.clone().oneshot(request).await.expect("an answer");
            let (parts, body) = response.into_parts();
            let body = to_bytes(body, 4 * 1024 * 1024).await.expect("a response within the limit");
            (parts.status.as_u16(), parts.headers, body.to_vec())
        })
    }
}

/// Parses a request from text: method and address, header lines, an empty line, the body.
fn parse(data: &[u8]) -> Option<Request<Body>> {
    let end = data.windows(2).position(|bytes| bytes == b"\n\n");
    let (head, body) = end.map_or((data, &[][..]), |end| (&data[..end], &data[end + 2..]));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let (method, address) = lines.next()?.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(address);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request = request.header(name, value.trim());
    }
    request.body(Body::from(body.to_vec())).ok()
}

/// Sends any request to the proxy. Only the five calls with the listed headers may reach the service, and the
/// browser never gets the token.
pub fn request(data: &[u8]) {
    let Some(request) = parse(data) else { return };
    let is_head = request.method() == "HEAD";
    // Other paths are not the proxy's.
    let is_below =
        request.uri().path().strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1);
    SITE.with(|site| {
        let (status, headers, body) = site.send(request);
        assert!(status < 500, "{status}");
        if is_below {
            check_answer(&headers, &body);
            let envelope: Value = serde_json::from_slice(&body).unwrap_or_default();
            assert!(is_head || envelope.get("ok") == Some(&Value::Bool(status < 300)), "{status} {envelope}");
        }
        for head in site.service.take_heads() {
            check_request(&head);
        }
    });
}

/// Checks a request that arrived at the service.
fn check_request(head: &str) {
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let call = Endpoint::ALL.iter().any(|endpoint| {
        let method = if endpoint.method() == chat_protocol::Method::Get { "GET" } else { "POST" };
        let start = format!("{method} /api/connector/v1{}", endpoint.path());
        first.strip_prefix(&start).is_some_and(|rest| rest.starts_with([' ', '?']))
    });
    assert!(call, "forwarded to the service: {first:?}");
    for line in lines {
        let (name, value) = line.split_once(':').expect("a header");
        let name = name.to_ascii_lowercase();
        if name == "authorization" {
            assert_eq!(value.trim(), format!("Bearer {TOKEN}"));
        } else {
            assert!(FORWARDED_HEADERS.contains(&name.as_str()), "forwarded to the service: {line:?}");
        }
    }
}

/// Checks a response to the browser.
fn check_answer(headers: &HeaderMap, body: &[u8]) {
    for (name, value) in headers {
        let known = RETURNED_HEADERS.contains(&name.as_str()) || name == "x-service-api-version";
        assert!(known, "returned to the browser: {name}: {value:?}");
        assert!(!contains(value.as_bytes(), TOKEN.as_bytes()), "the token in {name}");
    }
    assert_eq!(headers.get("x-content-type-options").map(HeaderValue::as_bytes), Some(&b"nosniff"[..]));
    let kind = headers
        .get("content-type")
        .map(|value| String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase());
    let is_harmless = kind
        .as_deref()
        .is_none_or(|kind| kind.starts_with("application/json") || kind.starts_with("text/plain"));
    assert!(is_harmless, "returned as {kind:?}");
    assert!(body.len() <= 1024 * 1024, "{} bytes", body.len());
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Returns any bytes as the service's response. The browser must get a bounded response that is not a page
/// and has only the listed headers.
pub fn answer(data: &[u8]) {
    SITE.with(|site| {
        site.service.answer_with(data.to_vec());
        let request = Request::get("/connector/chat/presence").body(Body::empty()).expect("a request");
        let (status, headers, body) = site.send(request);
        site.service.take_heads();
        assert!(!(300..400).contains(&status) && status >= 200, "{status}");
        // The service itself may return the token; the test is about the proxy.
        if !contains(data, TOKEN.as_bytes()) {
            check_answer(&headers, &body);
        }
    });
}

/// Returns any response to the client of the site's server. The input is a line with the status and
/// `Retry-After`, then the body; the status selects the call.
pub fn client_answer(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (line, body) = data.split_at(end);
    let body = body.get(1..).unwrap_or_default();
    let line: Vec<u8> = line.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\0')).collect();
    let line = String::from_utf8_lossy(&line);
    let (status, retry_after) = line.split_once(' ').unwrap_or((&line, ""));
    let Some(status) = status.parse::<u16>().ok().filter(|status| (200..1000).contains(status)) else {
        return;
    };
    let head = format!(
        "HTTP/1.1 {status} Fuzz\r\nRetry-After: {retry_after}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    SITE.with(|site| {
        site.service.answer_with([head.as_bytes(), body].concat());
        site.runtime.block_on(async {
            let client = &site.client;
            let error = match status % 5 {
                0 => client.get_presence(None).await.err(),
                1 => client.get_chat_config(None).await.err(),
                2 => client.claim_next_job().await.err(),
                3 => client.list_seo_overlays(&OverlayQuery::default()).await.err(),
                _ => client.get_site_status().await.err(),
            };
            if let Some(error) = error {
                assert!(!error.to_string().contains(TOKEN) && !format!("{error:?}").contains(TOKEN));
            }
        });
        site.service.take_heads();
    });
}
