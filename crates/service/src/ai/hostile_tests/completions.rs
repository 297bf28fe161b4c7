//! Requests to an AI endpoint that answers: what it is sent, what its answers mean, and when it is not asked.

use std::sync::Mutex;

use axum::Json;
use axum::http::HeaderMap;

use super::super::breaker::{MAX_FAILURES, OPEN_INTERVAL};
use super::*;

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
    assert_eq!(roles, ["system", "user"]);
    let text = |index: usize| messages[index]["content"].as_str().expect("text");
    assert!(!text(0).contains("1280") && !text(0).contains("/mugs"), "{}", text(0));
    assert!(text(0).contains("Answer in English"), "{}", text(0));
    assert!(text(1).starts_with("Reference material") && text(1).contains("1280 degrees"), "{}", text(1));
    assert!(text(1).contains("What the visitor did") && text(1).contains("/mugs"), "{}", text(1));
    assert!(text(1).ends_with("\nHow is celadon fired?"), "{}", text(1));
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
    let (address, received) = recording(400, json!({ "error": "no" })).await;
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
