//! Tests the test mode with an OpenAI-compatible endpoint in place of the built-in assistant.

use std::sync::{Arc, Mutex};

use crate::test_mode::client::{Client, TOKEN};
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use chat_service::test_mode::{AssistantEndpoint, AssistantOptions, TestOptions};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const KEY: &str = "an-ai-key-that-nobody-may-see";

type ReceivedRequests = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

/// Starts a fake endpoint that gives the same answer to every request.
async fn fake_endpoint(answer: Value) -> (AssistantEndpoint, ReceivedRequests) {
    let received = ReceivedRequests::default();
    let recorded = Arc::clone(&received);
    let complete = move |headers: HeaderMap, Json(body): Json<Value>| {
        recorded.lock().expect("not poisoned").push((headers, body));
        async move { Json(answer) }
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
            options: AssistantOptions::default(),
        },
        received,
    )
}

async fn client(assistant: AssistantEndpoint) -> Client {
    Client::with(TestOptions { assistant: Some(assistant), ..TestOptions::new(TOKEN.into()) }).await
}

#[tokio::test]
async fn asks_the_endpoint_of_its_options_and_names_neither_host_nor_model() {
    let message = json!({ "role": "assistant", "content": "At 1280 degrees." });
    let answer = json!({ "choices": [{ "message": message, "finish_reason": "stop" }] });
    let (endpoint, received) = fake_endpoint(answer).await;
    let client = client(endpoint).await;
    let page = json!({ "snapshotId": "s", "page": 1, "items": [{
        "externalId": "1", "type": "page", "path": "/glaze", "title": "Glaze",
        "content": "<p>Celadon is fired at a temperature of 1280 degrees.</p>"
    }] });
    client.post("/content/sync", None, &page).await.data();
    let question = json!({ "message": "At which temperature is celadon fired?", "locale": "en-GB" });
    let data = client.post("/chat/messages", None, &question).await.data();
    assert_eq!((&data["message"]["content"], &data["aiStatus"]), (&json!("At 1280 degrees."), &json!("ok")));
    assert_eq!(data["provider"], "assistant");
    let received = received.lock().expect("not poisoned");
    let (headers, body) = &received[0];
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["model"], "a-model");
    let messages = body["messages"].to_string();
    assert!(messages.contains("1280 degrees") && messages.contains("Answer in English"));
}

#[tokio::test]
async fn a_week_of_opening_hours_reaches_the_visitor() {
    let hours = "- Monday 9:00-18:00\n- Tuesday 9:00-18:00\n- Wednesday 9:00-18:00\n- Thursday 9:00-20:00\n\
                 - Friday 9:00-18:00\n- Saturday 10:00-16:00\n- Sunday closed";
    let (endpoint, _) = fake_endpoint(json!({ "choices": [{ "message": { "content": hours } }] })).await;
    let client = client(endpoint).await;
    let page = json!({ "snapshotId": "s", "page": 1, "items": [{
        "externalId": "1", "type": "page", "path": "/visit", "title": "Visit us",
        "content": "<p>Opening hours: Monday 9:00-18:00, Tuesday 9:00-18:00, Wednesday 9:00-18:00, Thursday \
                    9:00-20:00, Friday 9:00-18:00, Saturday 10:00-16:00, Sunday closed.</p>"
    }] });
    client.post("/content/sync", None, &page).await.data();
    let question = json!({ "message": "What are your opening hours?", "locale": "en" });
    let data = client.post("/chat/messages", None, &question).await.data();
    assert_eq!((&data["message"]["content"], &data["usedFallback"]), (&json!(hours), &json!(false)));
}

#[tokio::test]
async fn omits_the_key_from_debug_output() {
    let (endpoint, _) = fake_endpoint(json!({})).await;
    let options = TestOptions { assistant: Some(endpoint), ..TestOptions::new(TOKEN.into()) };
    let shown =
        format!("{options:?} {:?}", client(options.assistant.clone().expect("an endpoint")).await.mode);
    assert!(!shown.contains(KEY) && !shown.contains(TOKEN), "{shown}");
}
