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
}
