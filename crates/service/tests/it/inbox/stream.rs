//! The stream of changes.

use chat_protocol::admin::ConversationEvent;
use chat_service::SiteChange;
use serde_json::json;

use crate::inbox::desk::{Desk, eventually};
use crate::support::Client;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

on_both_databases! {
    async fn a_visitors_message_is_on_every_console_with_its_conversation(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let (mut one, mut other) = (desk.open().await, ben.open().await);
        let id = desk.client.begin("Do you ship?").await;
        for console in [&mut one, &mut other] {
            let event = console.message("Do you ship?").await;
            let event: ConversationEvent = serde_json::from_value(event.data).expect("an event");
            assert_eq!((event.conversation.id.as_str(), event.messages[0].sequence), (id.as_str(), 1));
        }
        for number in 2..=6 {
            desk.answer(&id, &number.to_string()).await;
        }
        desk.post(&format!("/conversations/{id}/notes"), &json!({ "text": "A note" })).await.data();
        let event = one.until(|event| event.data["notes"][0]["text"] == "A note" && event.data["conversation"]["messageCount"] == 7).await;
        let event: ConversationEvent = serde_json::from_value(event.data).expect("an event");
        assert_eq!(event.messages.iter().map(|message| message.sequence).collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(event.conversation.message_count, 7);
    }

    async fn a_console_that_returns_gets_what_it_missed_and_only_that(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let mut console = desk.open().await;
        desk.client.begin("one").await;
        let last = console.message("one").await.id;
        drop(console);
        desk.client.begin("two").await;
        // Somebody else's console shows that the hub has seen it.
        let mut again = desk.open_after(Some(&last)).await;
        let missed = again.message("two").await;
        assert_ne!(missed.id, last);
        desk.client.begin("three").await;
        again.until(|event| {
            assert_ne!(event.data["messages"][0]["content"], "one", "sent twice");
            event.data["messages"][0]["content"] == "three"
        }).await;
        let mut unknown = desk.open_after(Some("0.7")).await;
        assert_eq!(unknown.next().await.expect("an event").name, "reset");
    }

    async fn an_erased_conversation_is_removed(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let body = json!({ "message": "Hello", "visitor": { "visitorId": "v-1" } });
        let begun = desk.client.post("/chat/messages", None, &body).await.data();
        let mut console = desk.open().await;
        desk.call("DELETE", &format!("/sites/{}/visitors/v-1", desk.client.site.id), Some(&json!({}))).await.data();
        let removed = console.named("removed").await;
        assert_eq!(removed.data["conversationId"], begun["conversationId"]);
    }

    async fn visitors_are_told_who_writes_and_who_is_writing(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let id = desk.client.begin("Hello").await;
        let other = desk.client.begin("Me too").await;
        let poll = async |id: &str| {
            desk.client.get(&format!("/chat/messages?conversationId={id}")).await.data()
        };
        let path = format!("/conversations/{id}/typing");
        // On PostgreSQL, the announcement takes its way through the database.
        let tells = async |typing: serde_json::Value| poll(&id).await["operatorTyping"] == typing;
        let olga = || json!({ "name": "Olga" });
        assert!(tells(json!(null)).await);
        desk.post(&path, &json!({})).await.data();
        eventually("Olga is writing", async || tells(olga()).await).await;
        assert_eq!(poll(&other).await["operatorTyping"], json!(null));
        ben.post(&path, &json!({ "note": true })).await.data();
        ben.post(&path, &json!({ "stopped": true })).await.data();
        desk.post(&path, &json!({ "note": true })).await.data();
        eventually("a note is for colleagues", async || tells(json!(null)).await).await;
        desk.post(&path, &json!({})).await.data();
        eventually("she writes again", async || tells(olga()).await).await;
        desk.post(&path, &json!({ "stopped": true })).await.data();
        eventually("she has stopped", async || tells(json!(null)).await).await;
        desk.answer(&id, "Olga here.").await;
        ben.answer(&id, "And Ben.").await;
        let messages = poll(&id).await["messages"].clone();
        let authors: Vec<_> = messages.as_array().expect("messages").iter().map(|one| one["author"].clone()).collect();
        assert_eq!(authors[authors.len() - 2..], [json!({ "name": "Olga" }), json!({ "name": "Ben" })]);
        assert!(authors[..authors.len() - 2].iter().all(serde_json::Value::is_null), "{authors:?}");
    }

    async fn typing_is_told_to_the_others_and_to_nobody_of_another_tenant(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let rival = Client::of(desk.client.service.clone(), SiteChange::default()).await;
        let rival = Desk::of(rival, "Eve").await;
        let id = desk.client.begin("Hello").await;
        let (mut own, mut other, mut theirs) = (desk.open().await, ben.open().await, rival.open().await);
        let path = format!("/conversations/{id}/typing");
        desk.post(&path, &json!({ "note": true })).await.data();
        let typing = other.named("typing").await.data;
        let expected = json!({ "conversationId": id, "operatorId": desk.id, "name": "Olga", "note": true, "stopped": false });
        assert_eq!(typing, expected);
        let shown = ben.conversation(&id).await.typing;
        assert_eq!((shown.len(), shown[0].name.as_str(), shown[0].note), (1, "Olga", true));
        assert!(desk.conversation(&id).await.typing.is_empty());
        desk.post(&path, &json!({ "note": true, "stopped": true })).await.data();
        assert_eq!(other.named("typing").await.data["stopped"], true);
        assert!(ben.conversation(&id).await.typing.is_empty());
        // The next event is of another kind, so no typing was sent before it.
        desk.client.begin("marker").await;
        own.until(|event| {
            assert_ne!(event.name, "typing");
            event.data["messages"][0]["content"] == "marker"
        }).await;
        rival.client.begin("their marker").await;
        theirs.until(|event| {
            assert!(event.name != "typing" && event.data["messages"][0]["content"] != "marker", "{event:?}");
            event.data["messages"][0]["content"] == "their marker"
        }).await;
    }

    async fn typing_is_limited(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Hello").await;
        let path = format!("/conversations/{id}/typing");
        let mut refused = false;
        for _ in 0..200 {
            refused |= desk.post(&path, &json!({})).await.status == 429;
        }
        assert!(refused);
    }

    async fn a_stream_ends_with_its_session(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let (mut his, mut hers) = (ben.open().await, desk.open().await);
        assert_eq!(ben.call("DELETE", "/session", Some(&json!({}))).await.status, 200);
        his.ends().await;
        desk.client.begin("Hello").await;
        hers.message("Hello").await;
    }

    async fn hostile_text_stays_one_event(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let mut console = desk.open().await;
        let text = "a\n\nevent: reset\ndata: null\r\r\u{2028}<script>alert(1)</script>";
        desk.client.begin(text).await;
        let event = console.until(|event| {
            assert_ne!(event.name, "reset");
            event.name == "conversation"
        }).await;
        assert_eq!(event.data["messages"][0]["content"], text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_the_service_ends_all_streams() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let desk = Desk::new(&database).await;
    let mut console = desk.open().await;
    desk.client.service.close().await;
    console.ends().await;
}
