//! Tests the test mode with an OpenAI-compatible endpoint in place of the built-in assistant.

use std::sync::{Arc, Mutex};

use crate::test_mode::client::{Client, TOKEN};
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use chat_service::test_mode::{AssistantEndpoint, TestOptions};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const KEY: &str = "an-ai-key-that-nobody-may-see";

type ReceivedRequests = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// Starts a fake endpoint that gives the same answer to every request.
async fn fake_endpoint(status: u16, answer: Value) -> (AssistantEndpoint, ReceivedRequests) {
    let received = ReceivedRequests::default();
    let recorded = Arc::clone(&received);
    let complete = move |headers: HeaderMap, Json(body): Json<Value>| {
        recorded.lock().expect("not poisoned").push((headers, body));
        let status = axum::http::StatusCode::from_u16(status).expect("a status");
        async move { (status, Json(answer)) }
    };
    let router = Router::new().route("/v1/chat/completions", post(complete));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}/v1/", listener.local_addr().expect("an address"));
    tokio::spawn(axum::serve(listener, router).into_future());
    (
        AssistantEndpoint {
            base,
            key: Some(KEY.into()),
            model: "a-model".to_owned(),
            timeout: AssistantEndpoint::TIMEOUT,
        },
        received,
    )
}

async fn client(assistant: AssistantEndpoint) -> Client {
    Client::with(TestOptions { assistant: Some(assistant), ..TestOptions::new(TOKEN.into()) }).await
}

fn completion(content: &str, finish_reason: &str) -> Value {
    json!({ "choices": [{ "message": { "role": "assistant", "content": content }, "finish_reason": finish_reason }] })
}

async fn ask(client: &Client) -> Value {
    let question = json!({ "message": "At which temperature is celadon fired?", "locale": "en-GB" });
    client.post("/chat/messages", None, &question).await.data()
}

#[tokio::test]
async fn sends_key_model_conversation_and_passages_to_the_endpoint() {
    let (endpoint, received) = fake_endpoint(200, completion("At 1280 degrees.", "stop")).await;
    let client = client(endpoint).await;
    let page = json!({ "snapshotId": "s", "page": 1, "items": [{
        "externalId": "1", "type": "page", "path": "/glaze", "title": "Glaze",
        "content": "<p>Celadon is fired at a temperature of 1280 degrees.</p>"
    }] });
    client.post("/content/sync", None, &page).await.data();
    let data = ask(&client).await;
    assert_eq!((&data["message"]["content"], &data["aiStatus"]), (&json!("At 1280 degrees."), &json!("ok")));
    assert_eq!(data["provider"], "assistant", "neither the host nor the model");
    let received = received.lock().expect("not poisoned");
    let (headers, body) = &received[0];
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["model"], "a-model");
    let messages = body["messages"].as_array().expect("messages");
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().expect("text")).collect();
    assert_eq!(roles, ["system", "user", "user", "user"]);
    let text = |index: usize| messages[index]["content"].as_str().expect("text");
    assert!(!text(0).contains("1280") && !text(0).contains("en-GB"), "{}", text(0));
    assert!(text(1).starts_with("Reference material") && text(1).contains("1280 degrees"), "{}", text(1));
    assert_eq!(text(2), "Language of the visitor: en-GB");
    assert_eq!(text(3), "At which temperature is celadon fired?");
}

#[tokio::test]
async fn a_failing_endpoint_gives_provider_error_and_a_short_fallback() {
    for (status, answer) in [(500, json!({})), (200, json!({})), (200, json!("hello")), (401, json!({}))] {
        let (endpoint, _) = fake_endpoint(status, answer).await;
        let data = ask(&client(endpoint).await).await;
        assert_eq!((&data["aiStatus"], &data["usedFallback"]), (&json!("provider_error"), &json!(true)));
        let text = data.to_string();
        assert!(
            text.contains("cannot answer") && !text.contains("You are the assistant") && !text.contains(KEY)
        );
    }
}

#[tokio::test]
async fn reports_an_exhausted_quota_and_a_content_filter() {
    let (endpoint, _) = fake_endpoint(429, json!({ "error": { "code": "insufficient_quota" } })).await;
    assert_eq!(ask(&client(endpoint).await).await["aiStatus"], "quota_insufficient");
    let (endpoint, _) = fake_endpoint(200, completion("", "content_filter")).await;
    let data = ask(&client(endpoint).await).await;
    assert_eq!(
        (&data["aiStatus"], &data["blocked"], &data["message"]),
        (&json!("blocked"), &json!(true), &Value::Null)
    );
}

#[tokio::test]
async fn omits_the_key_from_debug_output() {
    let (endpoint, _) = fake_endpoint(200, json!({})).await;
    let options = TestOptions { assistant: Some(endpoint), ..TestOptions::new(TOKEN.into()) };
    let shown =
        format!("{options:?} {:?}", client(options.assistant.clone().expect("an endpoint")).await.mode);
    assert!(!shown.contains(KEY) && !shown.contains(TOKEN), "{shown}");
}
