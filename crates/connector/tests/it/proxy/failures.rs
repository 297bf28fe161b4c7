//! The proxy answers with its own envelope if a request is invalid or the service is unavailable.

use super::*;

#[tokio::test]
async fn never_forwards_oversized_or_non_json_bodies() {
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
async fn closes_the_connection_of_an_unread_body() {
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
async fn times_out_on_an_incomplete_body() {
    let (address, _) = service(|| "{}").await;
    let endless = Body::from_stream(EndlessBody);
    let options = ProxyOptions { timeout: Duration::from_millis(50), ..options(address) };
    let answer = ask(options, post("/connector/events", endless)).await;
    assert_eq!(answer.failure(), (408, "INVALID_REQUEST".to_owned()));
}

/// Returns a body that never ends.
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
async fn answers_502_if_the_service_is_unreachable() {
    let (listener, address) = listen().await;
    drop(listener);
    let answer = ask(options(address), get("/connector/chat/config")).await;
    assert_eq!(answer.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()));
}

#[tokio::test]
async fn answers_504_if_the_service_does_not_respond() {
    let (_listener, address) = listen().await;
    let options = ProxyOptions { timeout: Duration::from_millis(50), ..options(address) };
    let answer = ask(options, get("/connector/chat/config")).await;
    assert_eq!(answer.failure(), (504, "UPSTREAM_TIMEOUT".to_owned()));
}

#[tokio::test]
async fn answers_502_for_a_truncated_or_invalid_http_response() {
    for response in ["HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"ok\":", "", "SSH-2.0-x\r\n\r\n"] {
        let (listener, address) = listen().await;
        tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.expect("a connection");
            let mut request = [0; 4096];
            let _ = connection.read(&mut request).await;
            let _ = connection.write_all(response.as_bytes()).await;
        });
        let answer = ask(options(address), get("/connector/chat/config")).await;
        assert_eq!(answer.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()), "{response:?}");
    }
}

#[tokio::test]
async fn answers_502_for_an_oversized_response() {
    let (address, _) = service(|| "x".repeat(1024 * 1024 + 1)).await;
    let answer = ask(options(address), get("/connector/chat/messages?conversationId=c")).await;
    assert_eq!(answer.failure(), (502, "UPSTREAM_UNAVAILABLE".to_owned()));
}

#[tokio::test]
async fn neither_follows_nor_forwards_redirects() {
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
async fn forwards_the_services_token_error_unchanged() {
    let (address, _) =
        service(|| (StatusCode::UNAUTHORIZED, r#"{"ok":false,"error":{"code":"INVALID_TOKEN"}}"#)).await;
    let answer = ask(options(address), get("/connector/chat/config")).await;
    assert_eq!(answer.status, 401);
}

#[test]
fn debug_output_and_errors_omit_the_token() {
    let options = options(([127, 0, 0, 1], 1).into());
    let proxy = proxy::router(options.clone()).expect("a proxy");
    assert!(!format!("{options:?} {proxy:?}").contains(TOKEN));
    let refused = ProxyOptions { token: format!("{TOKEN}\n").into(), ..options };
    let error = proxy::router(refused).expect_err("refused");
    assert!(matches!(error, SetupError::Token));
    assert!(!format!("{error} {error:?}").contains(TOKEN));
}

#[test]
fn refuses_an_origin_with_the_base_path_with_advice() {
    let options = ProxyOptions::new("https://service.example/api/connector/v1", TOKEN.into());
    let error = proxy::router(options).expect_err("refused").to_string();
    assert_eq!(
        error,
        "invalid origin of the service: leave /api/connector/v1 out, it is added automatically"
    );
}
