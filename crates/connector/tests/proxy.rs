//! The proxy passes on what section 4.13 names, and nothing else, in either direction.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request as Incoming;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::response::IntoResponse;
use chat_connector::proxy::{self, ProxyOptions, SetupError};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tower::ServiceExt;

const TOKEN: &str = "a-token-that-nobody-may-see";

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn failure(&self) -> (u16, String) {
        let body: Value = serde_json::from_str(&self.body).expect("an envelope");
        assert_eq!(body["ok"], false);
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"));
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        (self.status.as_u16(), body["error"]["code"].as_str().unwrap_or_default().to_owned())
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// What the proxy sends to a service that answers every request the same.
type Seen = Arc<Mutex<Vec<(String, HeaderMap, String)>>>;

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// A service that writes down what it is asked, and answers with what `answer` makes.
async fn service<R: IntoResponse>(
    answer: impl Fn() -> R + Clone + Send + Sync + 'static,
) -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let router = Router::new().fallback(move |request: Incoming| {
        let (kept, answer) = (Arc::clone(&kept), answer.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            let line = format!("{} {}", parts.method, parts.uri);
            let body = String::from_utf8_lossy(&body).into_owned();
            kept.lock().expect("not poisoned").push((line, parts.headers, body));
            answer().into_response()
        }
    });
    let (listener, address) = listen().await;
    tokio::spawn(axum::serve(listener, router).into_future());
    (address, seen)
}

fn options(address: SocketAddr) -> ProxyOptions {
    ProxyOptions::new(format!("http://{address}"), TOKEN.into())
}

async fn ask(options: ProxyOptions, request: Request<Body>) -> Answer {
    let site = Router::new().nest("/connector", proxy::router(options).expect("a proxy"));
    let response = site.oneshot(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    let answer = Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    assert!(!format!("{:?} {}", answer.headers, answer.body).contains(TOKEN));
    answer
}

fn get(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).expect("a request")
}

fn post(path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(path).header("content-type", "application/json").body(body.into()).expect("a request")
}

#[tokio::test]
async fn the_five_calls_go_on_to_the_same_path_under_the_base_with_the_token() {
    let (address, seen) = service(|| "{}").await;
    for request in [
        get("/connector/chat/config?locale=en-US"),
        post("/connector/chat/messages", r#"{"message":"Grüße"}"#),
        get("/connector/chat/messages?conversationId=c&after=m%201"),
        get("/connector/chat/presence?conversationId=c"),
        post("/connector/events", r#"{"events":[]}"#),
    ] {
        assert_eq!(ask(options(address), request).await.status, 200);
    }
    let seen = seen.lock().expect("not poisoned");
    let lines: Vec<_> = seen.iter().map(|(line, _, _)| line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "GET /api/connector/v1/chat/config?locale=en-US",
            "POST /api/connector/v1/chat/messages",
            "GET /api/connector/v1/chat/messages?conversationId=c&after=m%201",
            "GET /api/connector/v1/chat/presence?conversationId=c",
            "POST /api/connector/v1/events",
        ]
    );
    for (line, headers, _) in seen.iter() {
        assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"), "{line}");
    }
    assert_eq!(seen[1].2, r#"{"message":"Grüße"}"#);
    assert_eq!(seen[1].1["content-type"], "application/json");
}

#[tokio::test]
async fn of_the_browsers_headers_only_the_key_and_the_language_go_on() {
    let (address, seen) = service(|| "{}").await;
    let mut request = post("/connector/chat/messages", "{}");
    for (name, value) in [
        ("cookie", "session=secret"),
        ("authorization", "Basic c2VjcmV0"),
        ("idempotency-key", "chat-v1-0001"),
        ("accept-language", "de"),
        ("user-agent", "a browser"),
        ("origin", "https://shop.example"),
        ("referer", "https://shop.example/help"),
        ("x-forwarded-for", "192.0.2.1"),
        ("x-anything", "else"),
    ] {
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    ask(options(address), request).await;
    let seen = seen.lock().expect("not poisoned");
    let mut names: Vec<_> = seen[0].1.keys().map(|name| name.as_str().to_owned()).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "accept",
            "accept-encoding",
            "accept-language",
            "authorization",
            "content-length",
            "content-type",
            "host",
            "idempotency-key",
            "user-agent"
        ]
    );
    assert_eq!(seen[0].1["idempotency-key"], "chat-v1-0001");
    assert_eq!(seen[0].1["accept-encoding"], "identity");
    assert!(seen[0].1["user-agent"].to_str().expect("text").starts_with("site-connector/"));
}

#[tokio::test]
async fn status_body_and_the_named_headers_come_back_and_nothing_else() {
    let (address, _) = service(|| {
        Response::builder()
            .status(429)
            .header("content-type", "application/json; charset=utf-8")
            .header("x-request-id", "req_1")
            .header("x-service-api-version", "1.4")
            .header("retry-after", "7")
            .header("x-ratelimit-limit", "60")
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", "7")
            .header("set-cookie", "tracker=1")
            .header("cache-control", "max-age=3600")
            .header("access-control-allow-origin", "*")
            .header("server", "secret/1.0")
            .body(Body::from(r#"{"ok":false}"#))
            .expect("a response")
    })
    .await;
    let answer = ask(options(address), get("/connector/chat/presence")).await;
    assert_eq!((answer.status.as_u16(), answer.body.as_str()), (429, r#"{"ok":false}"#));
    let mut names: Vec<_> = answer
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().expect("text")))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "cache-control: no-store",
            "content-length: 12",
            "content-security-policy: default-src 'none'; frame-ancestors 'none'",
            "content-type: application/json; charset=utf-8",
            "retry-after: 7",
            "x-content-type-options: nosniff",
            "x-ratelimit-limit: 60",
            "x-ratelimit-remaining: 0",
            "x-ratelimit-reset: 7",
            "x-request-id: req_1",
            "x-service-api-version: 1.4",
        ]
    );
}

#[tokio::test]
async fn a_page_that_comes_in_place_of_an_answer_is_text_to_the_browser() {
    for (said, passed_back) in [
        ("text/html", "text/plain; charset=utf-8"),
        ("image/svg+xml", "text/plain; charset=utf-8"),
        ("application/json-patch+json", "text/plain; charset=utf-8"),
        ("", "text/plain; charset=utf-8"),
        ("Application/JSON;charset=utf-8", "Application/JSON;charset=utf-8"),
    ] {
        let page = move || (StatusCode::BAD_GATEWAY, [("content-type", said)], "<script>alert(1)</script>");
        let (address, _) = service(page).await;
        let answer = ask(options(address), get("/connector/chat/config")).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (502, Some(passed_back)));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn an_answer_without_a_type_is_text_to_the_browser() {
    let page = || {
        let mut response = Response::new(Body::from("<script>alert(1)</script>"));
        response.headers_mut().remove("content-type");
        response
    };
    let (address, _) = service(page).await;
    let answer = ask(options(address), get("/connector/chat/config")).await;
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
}

#[tokio::test]
async fn a_compressed_answer_is_refused_and_never_unpacked() {
    for encoding in ["gzip", "br", "gzip, identity"] {
        let answer = move || ([("content-encoding", encoding), ("content-type", "application/json")], "{}");
        let (address, _) = service(answer).await;
        let refused = ask(options(address), get("/connector/chat/presence")).await;
        assert_eq!(refused.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()), "{encoding}");
        assert_eq!(refused.header("content-encoding"), None);
    }
}

#[tokio::test]
async fn other_paths_and_methods_never_reach_the_service() {
    let (address, seen) = service(|| "{}").await;
    for path in [
        "/site/status",
        "/site/jobs/next",
        "/content/sync",
        "/chat",
        "/chat/config/",
        "/chat/config/..%2f..",
        "",
    ] {
        let answer = ask(options(address), get(&format!("/connector{path}"))).await;
        assert_eq!(answer.failure(), (404, "NOT_FOUND".to_owned()), "{path}");
    }
    for (method, path, allow) in [
        ("POST", "/chat/config", "GET"),
        ("DELETE", "/chat/messages", "GET, POST"),
        ("OPTIONS", "/chat/presence", "GET"),
        ("GET", "/events", "POST"),
    ] {
        let request = Request::builder().method(method).uri(format!("/connector{path}"));
        let answer = ask(options(address), request.body(Body::empty()).expect("a request")).await;
        assert_eq!(answer.failure(), (405, "METHOD_NOT_ALLOWED".to_owned()), "{method} {path}");
        assert_eq!(answer.header("allow"), Some(allow));
    }
    let head = Request::head("/connector/chat/config").body(Body::empty()).expect("a request");
    assert_eq!(ask(options(address), head).await.status, 405);
    assert!(seen.lock().expect("not poisoned").is_empty());
}

#[tokio::test]
async fn a_body_past_its_bound_or_of_another_type_never_reaches_the_service() {
    let (address, seen) = service(|| "{}").await;
    let too_large = ask(options(address), post("/connector/chat/messages", " ".repeat(64 * 1024 + 1))).await;
    assert_eq!(too_large.failure(), (413, "INVALID_REQUEST".to_owned()));
    let too_large = ask(options(address), post("/connector/events", " ".repeat(256 * 1024 + 1))).await;
    assert_eq!(too_large.failure(), (413, "INVALID_REQUEST".to_owned()));
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        let mut form = post("/connector/chat/messages", "{}");
        form.headers_mut().insert("content-type", content_type.parse().expect("a value"));
        assert_eq!(ask(options(address), form).await.failure(), (415, "INVALID_REQUEST".to_owned()));
    }
    assert!(seen.lock().expect("not poisoned").is_empty());
    let fits = ask(options(address), post("/connector/events", " ".repeat(256 * 1024))).await;
    assert_eq!(fits.status, 200);
}

#[tokio::test]
async fn whoever_sent_a_body_that_is_not_read_is_told_that_the_connection_ends() {
    let (address, _) = service(|| "{}").await;
    let long = " ".repeat(64 * 1024 + 1);
    for path in ["/connector/chat/messages", "/connector/chat/config", "/connector/elsewhere"] {
        let answer = ask(options(address), post(path, long.clone())).await;
        assert_eq!(answer.header("connection"), Some("close"), "{path}: {}", answer.status);
    }
    for request in
        [post("/connector/chat/messages", "{}"), get("/connector/chat/config"), get("/connector/elsewhere")]
    {
        assert_eq!(ask(options(address), request).await.header("connection"), None);
    }
}

#[tokio::test]
async fn a_body_that_stops_half_way_is_given_up_on() {
    let (address, _) = service(|| "{}").await;
    let endless = Body::from_stream(EndlessBody);
    let options = ProxyOptions { timeout: Duration::from_millis(50), ..options(address) };
    let answer = ask(options, post("/connector/events", endless)).await;
    assert_eq!(answer.failure(), (408, "INVALID_REQUEST".to_owned()));
}

/// A body whose next part never comes.
struct EndlessBody;

impl futures_core::Stream for EndlessBody {
    type Item = Result<axum::body::Bytes, std::io::Error>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Pending
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_is_a_502_envelope() {
    let (listener, address) = listen().await;
    drop(listener);
    let answer = ask(options(address), get("/connector/chat/config")).await;
    assert_eq!(answer.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()));
}

#[tokio::test]
async fn a_service_that_never_answers_is_a_504_envelope() {
    let (_listener, address) = listen().await;
    let options = ProxyOptions { timeout: Duration::from_millis(50), ..options(address) };
    let answer = ask(options, get("/connector/chat/config")).await;
    assert_eq!(answer.failure(), (504, "UPSTREAM_TIMEOUT".to_owned()));
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_is_no_http_is_a_502_envelope() {
    for said in ["HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"ok\":", "", "SSH-2.0-x\r\n\r\n"] {
        let (listener, address) = listen().await;
        tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.expect("a connection");
            let mut request = [0; 4096];
            let _ = connection.read(&mut request).await;
            let _ = connection.write_all(said.as_bytes()).await;
        });
        let answer = ask(options(address), get("/connector/chat/config")).await;
        assert_eq!(answer.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()), "{said:?}");
    }
}

#[tokio::test]
async fn an_answer_past_its_bound_is_a_502_envelope() {
    let (address, _) = service(|| "x".repeat(1024 * 1024 + 1)).await;
    let answer = ask(options(address), get("/connector/chat/messages?conversationId=c")).await;
    assert_eq!(answer.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()));
}

#[tokio::test]
async fn a_redirect_is_neither_followed_nor_passed_on() {
    let (elsewhere, seen) = service(|| "{}").await;
    let (address, _) =
        service(move || (StatusCode::TEMPORARY_REDIRECT, [("location", format!("http://{elsewhere}/"))]))
            .await;
    let answer = ask(options(address), get("/connector/chat/config")).await;
    assert_eq!(answer.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()));
    assert_eq!(answer.header("location"), None);
    assert!(seen.lock().expect("not poisoned").is_empty());
}

#[tokio::test]
async fn what_the_service_says_of_the_token_is_all_that_is_said_of_it() {
    let (address, _) =
        service(|| (StatusCode::UNAUTHORIZED, r#"{"ok":false,"error":{"code":"INVALID_TOKEN"}}"#)).await;
    let answer = ask(options(address), get("/connector/chat/config")).await;
    assert_eq!(answer.status, 401);
}

#[test]
fn the_token_is_in_no_debug_output_and_no_error() {
    let options = options(([127, 0, 0, 1], 1).into());
    let proxy = proxy::router(options.clone()).expect("a proxy");
    assert!(!format!("{options:?} {proxy:?}").contains(TOKEN));
    let refused = ProxyOptions { token: format!("{TOKEN}\n").into(), ..options };
    let error = proxy::router(refused).expect_err("refused");
    assert!(matches!(error, SetupError::Token));
    assert!(!format!("{error} {error:?}").contains(TOKEN));
}

#[test]
fn an_origin_with_the_base_path_is_refused_with_what_to_do() {
    let options = ProxyOptions::new("https://service.example/api/connector/v1", TOKEN.into());
    let error = proxy::router(options).expect_err("refused").to_string();
    assert_eq!(error, "leave /api/connector/v1 out of the service's origin: it is added for you");
}
