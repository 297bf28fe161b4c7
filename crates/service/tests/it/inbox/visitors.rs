//! What operators know about visitors, write about them, and visitors that are blocked.

use chat_protocol::admin::{State, TimelinePage};
use serde_json::json;

use crate::inbox::desk::Desk;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

/// Says something as the visitor `v-1`, whose page knows a name and an address.
async fn say(desk: &Desk, conversation: Option<&str>, text: &str) -> crate::support::Answer {
    let body = json!({
        "message": text, "conversationId": conversation,
        "visitor": { "visitorId": "v-1", "name": "From the page", "email": "page@shop.example" },
    });
    desk.client.post("/chat/messages", None, &body).await
}

async fn begin(desk: &Desk, text: &str) -> String {
    let data = say(desk, None, text).await.data();
    data["conversationId"].as_str().expect("an id").to_owned()
}

on_both_databases! {
    async fn what_an_operator_wrote_stays_whatever_the_page_sends(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let (first, second) = (begin(&desk, "1").await, begin(&desk, "2").await);
        let path = format!("/conversations/{first}/visitor");
        let change = json!({ "name": "Ada", "email": "", "company": "Pots" });
        let changed = desk.patch(&path, &change).await.data();
        assert_eq!(changed["visitor"]["name"], "Ada");
        say(&desk, Some(&first), "again").await.data();
        let visitor = desk.conversation(&first).await.summary.visitor;
        assert_eq!((visitor.name.as_deref(), visitor.email, visitor.company.as_deref()), (Some("Ada"), None, Some("Pots")));
        let other = desk.conversation(&second).await.summary.visitor;
        assert_eq!((other.name.as_deref(), other.company), (Some("From the page"), None), "anybody can claim the id");
        assert_eq!(desk.ids("view=all&q=pots").await, [first]);
        assert_eq!(desk.patch(&path, &json!({ "name": "x".repeat(501) })).await.status, 400);
        assert_eq!(desk.patch(&path, &json!({ "visitorId": "v-2" })).await.status, 400);
    }

    async fn an_address_from_a_message_that_an_operator_removes_stays_away(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Write to ada@shop.example or +49 30 901820").await;
        let visitor = desk.conversation(&id).await.summary.visitor;
        assert_eq!(visitor.email.as_deref(), Some("ada@shop.example"));
        let changed = desk.patch(&format!("/conversations/{id}/visitor"), &json!({ "email": "" })).await.data();
        assert!(changed["visitor"]["email"].is_null(), "{changed}");
        let kept = desk.conversation(&id).await.summary.visitor;
        assert_eq!((kept.email, kept.phone), (None, visitor.phone));
    }

    async fn a_conversation_without_a_visitor_id_can_be_edited(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Hello").await;
        desk.patch(&format!("/conversations/{id}/visitor"), &json!({ "name": "Ada" })).await.data();
        let body = json!({ "conversationId": id, "message": "x", "visitor": { "name": "Eve" } });
        desk.client.post("/chat/messages", None, &body).await.data();
        assert_eq!(desk.conversation(&id).await.summary.visitor.name.as_deref(), Some("Ada"));
    }

    async fn messages_of_a_blocked_conversation_are_refused_until_it_is_unblocked(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let (first, second) = (begin(&desk, "1").await, begin(&desk, "2").await);
        let blocked = desk.change(&first, json!({ "blocked": true })).await;
        assert!(blocked.blocked && blocked.status == State::Closed);
        assert_eq!(say(&desk, Some(&first), "x").await.failure(), (403, "FORBIDDEN".to_owned()));
        assert_eq!(desk.client.history(&first).await.len(), 2);
        // Whoever claims an id does not get others blocked who have it.
        assert!(!desk.conversation(&second).await.summary.blocked);
        assert_eq!(say(&desk, Some(&second), "x").await.status, 200);
        let free = desk.change(&first, json!({ "blocked": false })).await;
        assert!(!free.blocked);
        assert_eq!(say(&desk, Some(&first), "x").await.status, 200);
        let audit = desk.get("/audit").await;
        let actions: Vec<&str> =
            audit["entries"].as_array().expect("entries").iter().filter_map(|entry| entry["action"].as_str()).collect();
        assert_eq!(&actions[..2], ["visitor.unblock", "visitor.block"]);
    }

    async fn a_conversation_without_a_visitor_id_can_be_blocked(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Hello").await;
        desk.change(&id, json!({ "blocked": true })).await;
        let body = json!({ "conversationId": id, "message": "x" });
        assert_eq!(desk.client.post("/chat/messages", None, &body).await.status, 403);
        assert_eq!(desk.client.post("/chat/messages", None, &json!({ "message": "x" })).await.status, 200);
    }

    async fn the_timeline_has_pages_and_the_lead_its_reasons(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = begin(&desk, "Can I talk to a real person?").await;
        for batch in 0..3 {
            let events: Vec<_> = (0..20)
                .map(|number| {
                    json!({ "eventType": "page_view", "visitorId": "v-1", "path": format!("/{}", batch * 20 + number),
                        "title": "Prices", "eventData": { "timeZone": "Europe/Berlin", "conversationId": id } })
                })
                .collect();
            desk.client.post("/events", None, &json!({ "events": events })).await.data();
        }
        let path = format!("/conversations/{id}/timeline");
        let page: TimelinePage = desk.read(&path).await;
        assert_eq!((page.entries.len(), page.entries[0].path.as_deref()), (50, Some("/59")));
        assert_eq!(page.entries[0].time_zone.as_deref(), Some("Europe/Berlin"));
        let rest: TimelinePage = desk.read(&format!("{path}?before={}", page.next_before.expect("more"))).await;
        assert_eq!((rest.entries.len(), rest.next_before), (10, None));
        let shown = desk.conversation(&id).await;
        let reasons: Vec<&str> = shown.lead_reasons.iter().map(|reason| reason.reason.as_str()).collect();
        for reason in ["contact", "asked_person", "messages", "viewed_pages", "viewed_prices"] {
            assert!(reasons.contains(&reason), "{reasons:?}");
        }
        let sum: i64 = shown.lead_reasons.iter().map(|reason| reason.points).sum();
        assert_eq!(shown.summary.lead.score, sum.min(100));
    }

    async fn labels_and_operators_words_are_exported_and_erased(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = begin(&desk, "Hello").await;
        let label = desk.post("/labels", &json!({ "name": "VIP", "color": "teal" })).await.data();
        desk.change(&id, json!({ "labels": [label["id"]], "blocked": true })).await;
        desk.patch(&format!("/conversations/{id}/visitor"), &json!({ "name": "Ada" })).await.data();
        let visitor = format!("/sites/{}/visitors/v-1", desk.client.site.id);
        let export = desk.call("GET", &format!("{visitor}/export"), None).await.json();
        let exported = &export["visitors"][0];
        let exported = &exported["conversations"][0];
        assert_eq!((&exported["blocked"], &exported["profile"]["name"]), (&json!(true), &json!("Ada")));
        assert_eq!(exported["labels"], "VIP");
        desk.call("DELETE", &visitor, Some(&json!({}))).await.data();
        // Somebody with the same id is a new visitor.
        let visitor = desk.conversation(&begin(&desk, "Hello").await).await.summary.visitor;
        assert_eq!(visitor.name.as_deref(), Some("From the page"));
    }
}
