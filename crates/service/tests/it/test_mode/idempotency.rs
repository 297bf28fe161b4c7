//! A request with a key is executed once, even if it is sent repeatedly (4.1).

use crate::test_mode::client::{Client, pass, stored};
use serde_json::json;

const KEY: &str = "chat-v1-0001";
const SEND: &str = "/chat/messages";

#[tokio::test]
async fn the_same_key_and_body_give_an_identical_response() {
    let client = Client::new().await;
    let body = json!({ "message": "Hello" });
    let first = client.post(SEND, Some(KEY), &body).await;
    let again = client.post(SEND, Some(KEY), &body).await;
    assert_eq!(first.body, again.body);
    assert_eq!(first.header("x-request-id"), again.header("x-request-id"));
    assert_eq!(client.visitor_messages().await, ["Hello"]);
}

#[tokio::test]
async fn counts_events_with_the_same_key_once() {
    let client = Client::new().await;
    let body = json!({ "events": [{ "eventType": "page_view" }] });
    let first = client.post("/events", Some(KEY), &body).await;
    let again = client.post("/events", Some(KEY), &body).await;
    assert_eq!(first.body, again.body);
    assert_eq!(client.everything().await["events"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn refuses_the_same_key_with_another_body() {
    let client = Client::new().await;
    client.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
    let conflict = client.post(SEND, Some(KEY), &json!({ "message": "Hello!" })).await;
    assert_eq!(conflict.failure(), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
    assert_eq!(client.visitor_messages().await, ["Hello"]);
}

#[tokio::test]
async fn scopes_keys_to_the_path() {
    let client = Client::new().await;
    client.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
    client.post("/events", Some(KEY), &json!({ "events": [{ "eventType": "page_view" }] })).await.data();
}

#[tokio::test]
async fn executes_every_request_without_a_key() {
    let client = Client::new().await;
    for _ in 0..2 {
        client.post(SEND, None, &json!({ "message": "Hello" })).await.data();
    }
    assert_eq!(client.visitor_messages().await.len(), 2);
}

#[tokio::test]
async fn accepts_keys_of_8_to_160_characters() {
    let client = Client::new().await;
    let body = json!({ "message": "Hello" });
    for (length, status) in [(7, 400), (8, 200), (160, 200), (161, 400)] {
        let answer = client.post(SEND, Some(&"k".repeat(length)), &body).await;
        assert_eq!(answer.status, status, "{length}");
    }
}

#[tokio::test]
async fn a_concurrent_duplicate_waits_for_the_first_response() {
    let client = Client::new().await;
    client.inject_faults(json!({ "ai": "slow", "slowMs": 60_000 })).await;
    let body = json!({ "message": "Hello" });
    let time = async {
        stored(&client).await;
        pass(&client, 61).await;
    };
    let (first, second, ()) =
        tokio::join!(client.post(SEND, Some(KEY), &body), client.post(SEND, Some(KEY), &body), time);
    assert_eq!(first.body, second.body);
    first.data();
    assert_eq!(client.visitor_messages().await, ["Hello"]);
}

#[tokio::test]
async fn a_disconnected_client_gets_the_response_on_retry() {
    let client = Client::new().await;
    client.inject_faults(json!({ "ai": "slow", "slowMs": 60_000 })).await;
    let body = json!({ "message": "How much is a mug?" });
    tokio::select! {
        biased;
        _ = client.post(SEND, Some(KEY), &body) => panic!("answered early"),
        () = stored(&client) => {}
    }

    let everything = client.everything().await;
    let conversation = everything["conversations"][0]["id"].as_str().expect("an id");
    assert_eq!(client.history(conversation).await.len(), 1, "the message is stored at once");

    let (retried, ()) = tokio::join!(client.post(SEND, Some(KEY), &body), pass(&client, 61));
    let retried = retried.data();
    let history = client.history(conversation).await;
    assert_eq!(history.len(), 2);
    assert_eq!(retried["message"]["content"], history[1].1.as_str());
}

#[tokio::test]
async fn does_not_store_a_failure_from_before_execution() {
    let client = Client::new().await;
    client.inject_faults(json!({ "status": 503, "times": 1 })).await;
    let body = json!({ "message": "Hello" });
    assert_eq!(client.post(SEND, Some(KEY), &body).await.status, 503);
    client.post(SEND, Some(KEY), &body).await.data();
    assert_eq!(client.visitor_messages().await, ["Hello"]);
}

#[tokio::test]
async fn stored_data_names_its_idempotency_key() {
    let client = Client::new().await;
    client.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
    let everything = client.everything().await;
    assert_eq!(everything["conversations"][0]["messages"][0]["idempotencyKey"], KEY);
    assert_eq!(
        everything["requests"][0],
        json!({ "method": "POST", "path": SEND, "idempotencyKey": KEY, "status": 200 })
    );
}
