//! Section 4.1.

use serde_json::json;

use crate::api::{Api, fresh};

#[tokio::test]
async fn a_message_sent_again_with_its_key_is_not_written_again() {
    let api = Api::connect().await;
    let key = fresh("chat");
    let body = json!({ "message": "Once, please." });
    let first = api.post("/chat/messages", &key, &body).await.data();
    let again = api.post("/chat/messages", &key, &body).await.data();
    for name in ["conversationId", "userMessageId"] {
        assert_eq!(first[name], again[name]);
    }
    let id = first["conversationId"].as_str().expect("an id");
    let read = api.get(&format!("/chat/messages?conversationId={id}")).await.data();
    let written = read["messages"].as_array().expect("messages").iter();
    assert_eq!(written.filter(|message| message["content"] == "Once, please.").count(), 1);
}

#[tokio::test]
async fn the_same_key_with_a_different_body_is_a_conflict_on_chat_and_events() {
    let api = Api::connect().await;
    let key = fresh("chat");
    api.post("/chat/messages", &key, &json!({ "message": "One" })).await.data();
    let other = api.post("/chat/messages", &key, &json!({ "message": "Two" })).await;
    other.is_failure(409, "IDEMPOTENCY_CONFLICT");
    let key = fresh("events");
    api.post("/events", &key, &json!({ "events": [{ "eventType": "page_view" }] })).await.data();
    let other = api.post("/events", &key, &json!({ "events": [{ "eventType": "chat_opened" }] })).await;
    other.is_failure(409, "IDEMPOTENCY_CONFLICT");
}

#[tokio::test]
async fn a_claim_retried_with_its_key_gives_the_same_job() {
    let api = Api::connect().await;
    // In a sandbox there is a job to claim afterwards.
    let Some(_) = api.claimed_job().await else { return };
    let key = fresh("job-next");
    let first = api.post("/site/jobs/next", &key, &json!({})).await.data();
    let again = api.post("/site/jobs/next", &key, &json!({})).await.data();
    assert_eq!(first["job"], again["job"]);
}

#[tokio::test]
async fn a_completion_retried_with_its_key_and_claim_token_gives_the_same_answer() {
    let api = Api::connect().await;
    let Some(job) = api.claimed_job().await else { return };
    let path = format!("/site/jobs/{}/complete", job["id"].as_str().expect("an id"));
    let (key, report) = (fresh("job-complete"), api.report(&job));
    let first = api.post(&path, &key, &report).await.data();
    assert_eq!(api.post(&path, &key, &report).await.data(), first);
}

#[tokio::test]
async fn a_page_of_content_pushed_again_with_its_key_gives_the_same_answer() {
    let api = Api::connect().await;
    let snapshot = fresh("snapshot");
    let item =
        json!({ "externalId": "conformance", "type": "page", "title": "A page", "path": "/conformance" });
    let page = json!({ "snapshotId": snapshot, "page": 1, "items": [item] });
    let key = format!("content-sync-site-{snapshot}-1");
    let first = api.post("/content/sync", &key, &page).await.data();
    assert_eq!(api.post("/content/sync", &key, &page).await.data(), first);
}
