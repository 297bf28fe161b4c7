//! Section 4.1.

use serde_json::json;

use crate::api::{Api, Checked, fresh};

sentences! {
    a_message_sent_again_with_its_key_is_not_stored_again,
    the_same_key_with_a_different_body_is_a_conflict_on_chat_and_events,
    a_retried_claim_returns_the_same_job,
    a_retried_completion_gets_the_same_response,
    a_page_pushed_again_with_its_key_gets_the_same_response,
}

async fn a_message_sent_again_with_its_key_is_not_stored_again() {
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

async fn a_retried_claim_returns_the_same_job() -> Checked {
    let api = Api::connect().await;
    api.offer_job().await?;
    let key = fresh("job-next");
    let first = api.claim(&key).await?;
    assert_eq!(api.claim(&key).await?, first);
    Ok(())
}

async fn a_retried_completion_gets_the_same_response() -> Checked {
    let api = Api::connect().await;
    let job = api.claimed_job().await?;
    let path = format!("/site/jobs/{}/complete", job["id"].as_str().expect("an id"));
    let (key, report) = (fresh("job-complete"), api.report(&job));
    let first = api.post(&path, &key, &report).await.data();
    assert_eq!(api.post(&path, &key, &report).await.data(), first);
    Ok(())
}

async fn a_page_pushed_again_with_its_key_gets_the_same_response() {
    let api = Api::connect().await;
    let snapshot = fresh("snapshot");
    let item =
        json!({ "externalId": "conformance", "type": "page", "title": "A page", "path": "/conformance" });
    let page = json!({ "snapshotId": snapshot, "page": 1, "items": [item] });
    let key = format!("content-sync-site-{snapshot}-1");
    let first = api.post("/content/sync", &key, &page).await.data();
    assert_eq!(api.post("/content/sync", &key, &page).await.data(), first);
}
