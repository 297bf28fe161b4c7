//! The proxy forwards only the requests and headers of section 4.13, in either direction.

use super::*;

#[tokio::test]
async fn forwards_the_five_calls_to_the_same_path_with_the_token() {
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
async fn forwards_only_the_key_the_language_and_the_visitors_token_of_the_browsers_headers() {
    let (address, seen) = service(|| "{}").await;
    let mut request = post("/connector/chat/messages", "{}");
    for (name, value) in [
        ("cookie", "session=secret"),
        ("authorization", "Basic c2VjcmV0"),
        ("idempotency-key", "chat-v1-0001"),
        ("accept-language", "de"),
        ("visitor-token", "a.b.c"),
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
            "user-agent",
            "visitor-token"
        ]
    );
    assert_eq!(seen[0].1["idempotency-key"], "chat-v1-0001");
    assert_eq!(seen[0].1["visitor-token"], "a.b.c");
    assert_eq!(seen[0].1["accept-encoding"], "identity");
    assert!(seen[0].1["user-agent"].to_str().expect("text").starts_with("site-connector/"));
}

#[tokio::test]
async fn returns_status_body_and_the_listed_headers_only() {
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
async fn returns_a_page_of_the_upstream_as_plain_text() {
    for (content_type, returned) in [
        ("text/html", "text/plain; charset=utf-8"),
        ("image/svg+xml", "text/plain; charset=utf-8"),
        ("application/json-patch+json", "text/plain; charset=utf-8"),
        ("", "text/plain; charset=utf-8"),
        ("Application/JSON;charset=utf-8", "Application/JSON;charset=utf-8"),
    ] {
        let page =
            move || (StatusCode::BAD_GATEWAY, [("content-type", content_type)], "<script>alert(1)</script>");
        let (address, _) = service(page).await;
        let answer = ask(options(address), get("/connector/chat/config")).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (502, Some(returned)));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn returns_a_response_without_a_content_type_as_plain_text() {
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
async fn refuses_compressed_responses() {
    for encoding in ["gzip", "br", "gzip, identity"] {
        let answer = move || ([("content-encoding", encoding), ("content-type", "application/json")], "{}");
        let (address, _) = service(answer).await;
        let refused = ask(options(address), get("/connector/chat/presence")).await;
        assert_eq!(refused.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()), "{encoding}");
        assert_eq!(refused.header("content-encoding"), None);
    }
}

#[tokio::test]
async fn never_forwards_other_paths_and_methods() {
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
