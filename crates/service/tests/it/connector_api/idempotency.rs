//! A request with a key is executed once, even if it is sent repeatedly (4.1).

use serde_json::json;

use crate::support::Client;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

const KEY: &str = "chat-v1-0001";
const SEND: &str = "/chat/messages";

on_both_databases! {
    async fn the_same_key_and_body_give_an_identical_response(database: &TestDatabase) {
        let client = Client::new(database).await;
        let body = json!({ "message": "Hello" });
        let first = client.post(SEND, Some(KEY), &body).await;
        let again = client.post(SEND, Some(KEY), &body).await;
        assert_eq!(first.body, again.body);
        assert_eq!(first.header("x-request-id"), again.header("x-request-id"));
        let conversation = first.data()["conversationId"].as_str().expect("an id").to_owned();
        assert_eq!(client.history(&conversation).await.len(), 2);
    }

    async fn counts_events_with_the_same_key_once(database: &TestDatabase) {
        let client = Client::new(database).await;
        let body = json!({ "events": [{ "eventType": "page_view" }] });
        let first = client.post("/events", Some(KEY), &body).await;
        let again = client.post("/events", Some(KEY), &body).await;
        // The same request id: it is the stored response.
        assert_eq!(first.body, again.body);
        first.data();
    }

    async fn executes_every_request_without_a_key(database: &TestDatabase) {
        let client = Client::new(database).await;
        assert_ne!(client.begin("Hello").await, client.begin("Hello").await);
    }

    async fn twenty_at_once_are_one(database: &TestDatabase) {
        let client = Client::new(database).await;
        let body = json!({ "message": "Hello" });
        let sending = (0..20).map(|_| {
            let (client, body) = (client.clone(), body.clone());
            tokio::spawn(async move { client.post(SEND, Some(KEY), &body).await })
        });
        let mut answers = Vec::new();
        for sent in sending.collect::<Vec<_>>() {
            answers.push(sent.await.expect("no panic").data());
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
        let conversation = answers[0]["conversationId"].as_str().expect("an id");
        assert_eq!(client.history(conversation).await.len(), 2);
    }

    async fn the_message_that_used_the_last_reply_can_be_repeated(database: &TestDatabase) {
        let change = serde_json::from_value(json!({ "monthlyAiReplies": 1, "quotaRefuses": true }));
        let client = Client::with(crate::support::options(database), change.expect("settings")).await;
        let body = json!({ "message": "I want to speak to a human" });
        let first = client.post(SEND, Some(KEY), &body).await;
        assert_eq!(first.data()["aiStatus"], "ok");
        let refused = client.post(SEND, Some("chat-v1-0002"), &body).await;
        assert_eq!(refused.failure(), (402, "INSUFFICIENT_QUOTA".to_owned()));
        assert_eq!(client.post(SEND, None, &body).await.status, 402);
        assert_eq!(client.post(SEND, Some(KEY), &body).await.body, first.body);
    }

    async fn refuses_the_same_key_with_another_body(database: &TestDatabase) {
        let client = Client::new(database).await;
        let conversation = client.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
        let conflict = client.post(SEND, Some(KEY), &json!({ "message": "Hello!" })).await;
        assert_eq!(conflict.failure(), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
        let claim = client.post("/site/jobs/next", Some(KEY), &json!({})).await;
        claim.data();
        let conflict = client.post("/site/jobs/next", Some(KEY), &json!({ "more": 1 })).await;
        assert_eq!(conflict.failure(), (409, "RESOURCE_CONFLICT".to_owned()));
        let conversation = conversation["conversationId"].as_str().expect("an id");
        assert_eq!(client.history(conversation).await.len(), 2);
    }

    async fn scopes_keys_to_the_path_and_to_the_site(database: &TestDatabase) {
        let client = Client::new(database).await;
        let other = Client::of(client.service.clone(), chat_service::SiteChange::default()).await;
        let first = client.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
        client.post("/events", Some(KEY), &json!({ "events": [{ "eventType": "page_view" }] })).await.data();
        let second = other.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
        assert_ne!(first["conversationId"], second["conversationId"]);
    }

    async fn a_refused_request_leaves_its_key_free(database: &TestDatabase) {
        let client = Client::new(database).await;
        let unknown = json!({ "message": "Hello", "conversationId": "conv_unknown" });
        assert_eq!(client.post(SEND, Some(KEY), &unknown).await.status, 404);
        client.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
    }

    async fn accepts_keys_of_8_to_160_characters(database: &TestDatabase) {
        let client = Client::new(database).await;
        let body = json!({ "message": "Hello" });
        for (length, status) in [(7, 400), (8, 200), (160, 200), (161, 400)] {
            let answer = client.post(SEND, Some(&"k".repeat(length)), &body).await;
            assert_eq!(answer.status, status, "{length}");
        }
    }
}
