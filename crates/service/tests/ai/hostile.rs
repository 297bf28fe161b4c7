//! A hostile or broken AI endpoint: its responses are bounded, and the key is sent to no other address.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::http::HeaderMap;
use chat_protocol::{AiStatus, Role};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::breaker::{MAX_FAILURES, OPEN_INTERVAL};
use super::{Ai, Answer, Endpoint, Phrases, Question, Turn};
use crate::knowledge::Passage;

const KEY: &str = "an-ai-key-that-nobody-may-see";

/// Starts a server that passes each connection to `answer` after the request. Returns its address and a
/// connection count.
async fn server<F, A>(answer: F) -> (String, Arc<AtomicUsize>)
where
    F: Fn(TcpStream) -> A + Send + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut read = Vec::new();
            while !read.windows(4).any(|end| end == b"\r\n\r\n") {
                if peer.read_buf(&mut read).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            tokio::spawn(answer(peer));
        }
    });
    (address, connections)
}

/// Starts a server that sends the same bytes to every request.
async fn server_sending(text: String) -> (String, Arc<AtomicUsize>) {
    server(move |mut peer| {
        let text = text.clone();
        async move {
            let _ = peer.write_all(text.as_bytes()).await;
        }
    })
    .await
}

fn endpoint(address: &str, timeout: Duration) -> Endpoint {
    Endpoint {
        base: format!("http://{address}/v1/"),
        key: Some(KEY.into()),
        model: "a-model".to_owned(),
        timeout,
    }
}

fn passage(text: &str) -> Passage {
    Passage {
        id: "content:glaze".to_owned(),
        title: "Glaze".to_owned(),
        location: Some("/glaze".to_owned()),
        text: text.to_owned(),
        score: 1.0,
    }
}

async fn ask_with(ai: &Ai, endpoint: &Endpoint, passages: &[Passage], message: &str) -> Answer {
    let history = [Turn { role: Role::Visitor, content: message.to_owned() }];
    let question = Question {
        site_id: "site_1",
        passages,
        visited: Some("- viewed /mugs"),
        history: &history,
        locale: Some("en-GB"),
        left_contact: false,
        has_contact: false,
    };
    ai.answer(Some(endpoint), &question).await
}

async fn ask(address: &str, timeout: Duration) -> Answer {
    ask_with(&Ai::new(true), &endpoint(address, timeout), &[], "How is celadon fired?").await
}

fn assert_is_fallback(answer: &Answer, why: &str) {
    assert_eq!((&answer.status, answer.used_fallback), (&AiStatus::ProviderError, true), "{why}");
    assert_eq!(answer.text.as_deref(), Some(Phrases::of("", Some("en")).fallback), "{why}");
    assert!(answer.sources.is_empty(), "{why}");
}

/// A time longer than any test: a client that waits for it fails the test.
const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn does_not_follow_redirects() {
    let completion = r#"{"choices":[{"message":{"content":"Stolen"}}]}"#;
    let length = completion.len();
    let (elsewhere, connections) =
        server_sending(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{completion}")).await;
    for status in [301, 302, 303, 307, 308] {
        let (address, _) = server_sending(format!(
            "HTTP/1.1 {status} Moved\r\nlocation: http://{elsewhere}/v1/chat/completions\r\ncontent-length: 0\r\n\r\n"
        ))
        .await;
        assert_is_fallback(&ask(&address, LONG).await, "a redirect");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "the key went to another host");
}

#[tokio::test]
async fn stops_reading_an_endless_response_at_the_limit() {
    for (head, chunk) in [
        ("", vec![b' '; 16 * 1024]),
        ("transfer-encoding: chunked\r\n", [b"4000\r\n".as_slice(), &[b' '; 0x4000], b"\r\n"].concat()),
    ] {
        let (stopped, has_stopped) = oneshot::channel();
        let stopped = Arc::new(std::sync::Mutex::new(Some(stopped)));
        let (address, _) = server(move |mut peer| {
            let (chunk, stopped) = (chunk.clone(), Arc::clone(&stopped));
            async move {
                let mut written = 0_usize;
                let _ = peer.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes()).await;
                while peer.write_all(&chunk).await.is_ok() {
                    written += chunk.len();
                }
                let stopped = stopped.lock().expect("not poisoned").take();
                let _ = stopped.expect("one connection").send(written);
            }
        })
        .await;
        assert_is_fallback(&ask(&address, LONG).await, "an endless answer");
        // Includes the bytes in the buffers of both ends.
        let written = has_stopped.await.expect("the connection is closed");
        assert!(written < 32 * 1024 * 1024, "{written}");
    }
}

#[tokio::test]
async fn refuses_a_declared_length_over_the_limit_at_once() {
    let (closed, is_closed) = oneshot::channel();
    let closed = Arc::new(std::sync::Mutex::new(Some(closed)));
    let (address, _) = server(move |mut peer| {
        let closed = Arc::clone(&closed);
        async move {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 1_500_000_000);
            let _ = peer.write_all(head.as_bytes()).await;
            // The body never arrives, so a client without a timeout would wait for ever.
            let mut rest = Vec::new();
            let _ = peer.read_to_end(&mut rest).await;
            let closed = closed.lock().expect("not poisoned").take();
            let _ = closed.expect("one connection").send(());
        }
    })
    .await;
    assert_is_fallback(&ask(&address, LONG).await, "a declared length");
    is_closed.await.expect("the connection is closed");
}

#[tokio::test]
async fn times_out_on_a_trickling_response() {
    let (address, _) = server(|mut peer| async move {
        let _ = peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n").await;
        // Each byte arrives well within any read timeout.
        while peer.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_is_fallback(&ask(&address, Duration::from_secs(1)).await, "a trickle");
}

#[tokio::test]
async fn times_out_on_a_silent_endpoint() {
    let (address, _) = server(|mut peer| async move {
        let mut rest = Vec::new();
        let _ = peer.read_to_end(&mut rest).await;
    })
    .await;
    assert_is_fallback(&ask(&address, Duration::from_secs(1)).await, "silence");
}

#[tokio::test]
async fn falls_back_on_a_response_of_another_format() {
    let deep = format!("{}1{}", "[".repeat(60_000), "]".repeat(60_000));
    for body in ["<!doctype html><h1>Welcome</h1>", "", "null", "[]", "{\"choices\":[]}", "\u{0}\u{1}", &deep]
    {
        let length = body.len();
        let (address, _) = server_sending(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await;
        assert_is_fallback(&ask(&address, LONG).await, "no completion");
    }
    let (address, _) = server_sending("SSH-2.0-OpenSSH_9.2\r\n".to_owned()).await;
    assert_is_fallback(&ask(&address, LONG).await, "no HTTP");
}

#[tokio::test]
async fn refuses_a_compressed_response() {
    let body = r#"{"choices":[{"message":{"content":"Hello"}}]}"#;
    let length = body.len();
    let answer =
        |encoding: &str| format!("HTTP/1.1 200 OK\r\n{encoding}content-length: {length}\r\n\r\n{body}");
    let (address, _) = server_sending(answer("content-encoding: gzip\r\n")).await;
    assert_is_fallback(&ask(&address, LONG).await, "gzip");
    let (address, _) = server_sending(answer("content-encoding: identity\r\n")).await;
    assert_eq!(ask(&address, LONG).await.text.as_deref(), Some("Hello"));
}

/// Starts an endpoint that answers with this text.
async fn endpoint_answering(content: &str) -> String {
    let body = json!({ "choices": [{ "message": { "content": content } }] }).to_string();
    server_sending(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await.0
}

#[tokio::test]
async fn withholds_an_echoed_prompt() {
    // The endpoint repeats the message of the system role.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let echo = axum::routing::post(|axum::Json(body): axum::Json<Value>| async move {
        let system = body["messages"][0]["content"].clone();
        axum::Json(json!({ "choices": [{ "message": { "content": system } }] }))
    });
    let router = axum::Router::new().route("/v1/chat/completions", echo);
    tokio::spawn(axum::serve(listener, router).into_future());
    assert_is_fallback(&ask(&address, LONG).await, "an echo");
}

#[tokio::test]
async fn withholds_long_parts_of_the_sites_text_but_not_a_quoted_sentence() {
    let text = "Every pot is dipped twice, once in the white slip that the studio has mixed since 1987 and once in the \
                glaze that gives it its colour. Celadon is fired at 1280 degrees, in a kiln that burns no oxygen for \
                the last two hours; that is where the green comes from.";
    let quote = "Celadon is fired at 1280 degrees, in a kiln that burns no oxygen.";
    for (content, passes) in [(text, false), (quote, true)] {
        let endpoint = endpoint(&endpoint_answering(content).await, LONG);
        let answer = ask_with(&Ai::new(true), &endpoint, &[passage(text)], "How is celadon fired?").await;
        if passes {
            assert_eq!((answer.text.as_deref(), &answer.status), (Some(content), &AiStatus::Ok));
            assert_eq!(
                (answer.sources, answer.topic.as_deref()),
                (vec!["content:glaze".to_owned()], Some("Glaze"))
            );
        } else {
            assert_is_fallback(&answer, "the site's text");
        }
    }
}

/// Starts an endpoint that records requests and gives the same answer to each.
async fn recording(status: u16, answer: Value) -> (String, Arc<Mutex<Vec<(HeaderMap, Value)>>>) {
    let received: Arc<Mutex<Vec<(HeaderMap, Value)>>> = Arc::default();
    let recorded = Arc::clone(&received);
    let complete = move |headers: HeaderMap, Json(body): Json<Value>| {
        recorded.lock().expect("not poisoned").push((headers, body));
        let status = axum::http::StatusCode::from_u16(status).expect("a status");
        async move { (status, Json(answer)) }
    };
    let router = axum::Router::new().route("/v1/chat/completions", axum::routing::post(complete));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    tokio::spawn(axum::serve(listener, router).into_future());
    (address, received)
}

fn completion(content: &str, finish_reason: &str) -> Value {
    json!({ "choices": [{ "message": { "role": "assistant", "content": content }, "finish_reason": finish_reason }] })
}

#[tokio::test]
async fn sends_key_model_conversation_and_passages_to_the_endpoint() {
    let (address, received) = recording(200, completion("At 1280 degrees.", "stop")).await;
    let passages = [passage("Celadon is fired at a temperature of 1280 degrees.")];
    let answer =
        ask_with(&Ai::new(true), &endpoint(&address, LONG), &passages, "How is celadon fired?").await;
    assert_eq!((answer.text.as_deref(), &answer.status), (Some("At 1280 degrees."), &AiStatus::Ok));
    let received = received.lock().expect("not poisoned");
    let (headers, body) = &received[0];
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["model"], "a-model");
    let messages = body["messages"].as_array().expect("messages");
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().expect("text")).collect();
    assert_eq!(roles, ["system", "user", "user", "user", "user"]);
    let text = |index: usize| messages[index]["content"].as_str().expect("text");
    assert!(
        !text(0).contains("1280") && !text(0).contains("en-GB") && !text(0).contains("/mugs"),
        "{}",
        text(0)
    );
    assert!(text(1).starts_with("Reference material") && text(1).contains("1280 degrees"), "{}", text(1));
    assert!(text(2).starts_with("What the visitor did") && text(2).contains("/mugs"), "{}", text(2));
    assert_eq!((text(3), text(4)), ("Language of the visitor: en-GB", "How is celadon fired?"));
}

#[tokio::test]
async fn a_failing_endpoint_gives_a_short_fallback_in_the_visitors_language() {
    for (status, answer) in [(500, json!({})), (200, json!({})), (200, json!("hello")), (401, json!({}))] {
        let (address, _) = recording(status, answer).await;
        assert_is_fallback(&ask(&address, LONG).await, "a failure");
        let answer =
            ask_with(&Ai::new(true), &endpoint(&address, LONG), &[], "Wie wird Seladon gebrannt?").await;
        assert_eq!(answer.text.as_deref(), Some(Phrases::of("", Some("de")).fallback));
    }
}

#[tokio::test]
async fn reports_an_exhausted_quota_and_a_content_filter() {
    let (address, _) = recording(429, json!({ "error": { "code": "insufficient_quota" } })).await;
    let answer = ask(&address, LONG).await;
    assert_eq!((answer.status, answer.used_fallback), (AiStatus::QuotaInsufficient, true));
    let (address, _) = recording(200, completion("", "content_filter")).await;
    let answer = ask(&address, LONG).await;
    assert_eq!((answer.status, answer.text, answer.used_fallback), (AiStatus::Blocked, None, false));
}

#[tokio::test]
async fn cuts_off_a_very_long_answer() {
    let address = endpoint_answering(&"word ".repeat(40_000)).await;
    let answer = ask(&address, LONG).await;
    assert!(answer.text.expect("text").chars().count() <= 16_001);
}

#[tokio::test]
async fn does_not_ask_an_endpoint_that_is_down_again_and_again() {
    let (address, received) = recording(500, json!({})).await;
    let (ai, endpoint) = (Ai::new(true), endpoint(&address, LONG));
    for _ in 0..MAX_FAILURES + 20 {
        assert_is_fallback(&ask_with(&ai, &endpoint, &[], "Hello?").await, "down");
    }
    let asked = || received.lock().expect("not poisoned").len();
    assert_eq!(asked(), MAX_FAILURES as usize);
    // An endpoint with another key is another endpoint.
    let other = Endpoint { key: None, ..endpoint.clone() };
    assert_is_fallback(&ask_with(&ai, &other, &[], "Hello?").await, "down");
    assert_eq!(asked(), MAX_FAILURES as usize + 1);
    tokio::time::pause();
    tokio::time::advance(OPEN_INTERVAL).await;
    tokio::time::resume();
    for _ in 0..3 {
        assert_is_fallback(&ask_with(&ai, &endpoint, &[], "Hello?").await, "down");
    }
    assert_eq!(asked(), MAX_FAILURES as usize + 2, "one request tries it again");
}

#[tokio::test]
async fn a_wrong_request_or_a_withheld_answer_does_not_open_the_circuit() {
    let (address, received) = recording(400, json!({})).await;
    let (ai, endpoint) = (Ai::new(true), endpoint(&address, LONG));
    for _ in 0..MAX_FAILURES + 5 {
        assert_is_fallback(&ask_with(&ai, &endpoint, &[], "Hello?").await, "refused");
    }
    assert_eq!(received.lock().expect("not poisoned").len(), MAX_FAILURES as usize + 5);
}

#[tokio::test]
async fn refuses_an_endpoint_in_the_hosts_own_network_unless_the_host_allows_it() {
    let (address, received) = recording(200, completion("Inside", "stop")).await;
    let port = address.rsplit_once(':').expect("a port").1;
    let strict = Ai::new(false);
    for base in [
        format!("http://{address}/v1"),
        format!("https://{address}/v1"),
        format!("https://localhost:{port}/v1"),
        format!("https://[::ffff:127.0.0.1]:{port}/v1"),
    ] {
        let private = Endpoint { base: base.clone(), ..endpoint(&address, Duration::from_secs(20)) };
        assert_is_fallback(&ask_with(&strict, &private, &[], "Hello?").await, &base);
    }
    assert!(received.lock().expect("not poisoned").is_empty(), "nothing arrived");
    assert!(strict.check(&endpoint(&address, LONG)).is_err());
    assert!(Ai::new(true).check(&endpoint(&address, LONG)).is_ok());
    assert_eq!(ask(&address, LONG).await.text.as_deref(), Some("Inside"));
}

#[tokio::test]
async fn omits_the_key_from_debug_output() {
    let endpoint = endpoint("127.0.0.1:1", LONG);
    let ai = Ai::new(true);
    let _ = ask_with(&ai, &endpoint, &[], "Hello?").await;
    let shown = format!("{endpoint:?} {ai:?}");
    assert!(!shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn the_built_in_assistant_answers_without_an_endpoint() {
    let history = [Turn { role: Role::Visitor, content: "How is celadon fired?".to_owned() }];
    let passages = [passage("At 1280 degrees.")];
    let question = Question {
        site_id: "site_1",
        passages: &passages,
        visited: None,
        history: &history,
        locale: None,
        left_contact: false,
        has_contact: false,
    };
    let answer = Ai::new(false).answer(None, &question).await;
    assert_eq!(answer.text.as_deref(), Some("At 1280 degrees.\n\n[Glaze](/glaze)"));
    assert_eq!(
        (answer.status, answer.sources, answer.used_fallback),
        (AiStatus::Ok, vec!["content:glaze".to_owned()], false)
    );
}
