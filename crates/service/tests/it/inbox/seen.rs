//! What the visitor has seen.

use serde_json::json;

use crate::inbox::desk::{Desk, eventually};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

on_both_databases! {
    async fn an_answer_counts_as_seen_once_the_widget_has_polled_past_it(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Hello").await;
        let answered = desk.answer(&id, "Olga here.").await;
        let answer = answered["id"].as_str().expect("an id").to_owned();
        let mut console = desk.open().await;
        let poll = async |after: &str| {
            let path = format!("/chat/messages?conversationId={id}&after={after}");
            desk.client.get(&path).await.data()
        };
        let history = desk.client.get(&format!("/chat/messages?conversationId={id}")).await.data();
        poll(history["messages"][0]["id"].as_str().expect("an id")).await;
        assert_eq!(desk.conversation(&id).await.summary.seen_sequence, 0);
        poll(&answer).await;
        let event = console.until(|event| event.data["conversation"]["seenSequence"] == 3).await;
        assert_eq!(event.data["conversation"]["id"], id.as_str());
        poll(&answer).await;
        let second = desk.answer(&id, "Anything else?").await;
        poll("msg_4_of_another_conversation").await;
        poll(&answer).await;
        assert_eq!(desk.conversation(&id).await.summary.seen_sequence, 3);
        poll(second["id"].as_str().expect("an id")).await;
        eventually("seen", async || desk.conversation(&id).await.summary.seen_sequence == 4).await;
        // The visitor's own messages are nothing to see.
        desk.change(&id, json!({ "aiPaused": true })).await;
        let body = json!({ "conversationId": id, "message": "No" });
        let own = desk.client.post("/chat/messages", None, &body).await.data();
        poll(own["userMessageId"].as_str().expect("an id")).await;
        assert_eq!(desk.conversation(&id).await.summary.seen_sequence, 4);
    }
}
