//! The proxy answers with an envelope of its own when a request or the service is not usable.

use super::*;

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
