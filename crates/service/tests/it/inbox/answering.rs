//! The first to answer the visitors of a site: the AI or people.

use chat_protocol::admin::State;
use chat_service::SiteChange;
use serde_json::json;

use crate::inbox::desk::{Desk, eventually};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Client, options as options_of};

on_both_databases! {
    async fn where_only_people_answer_a_visitor_is_told_once_that_the_team_reads_it(database: &TestDatabase) {
        let change = SiteChange { answering: Some("people_only".to_owned()), ..SiteChange::default() };
        let desk = Desk::of(Client::with(options_of(database), change).await, "Olga").await;
        let say = async |body: serde_json::Value| desk.client.post("/chat/messages", None, &body).await.data();
        let first = say(json!({ "message": "Wie lange dauert der Versand?", "locale": "en" })).await;
        let text = first["message"]["content"].as_str().expect("a text");
        assert!(text.contains("Team"), "{text}");
        assert_eq!((&first["lead"]["needsHandoff"], &first["outcome"]), (&json!(true), &json!(null)));
        let id = first["conversationId"].as_str().expect("an id");
        let second = say(json!({ "conversationId": id, "message": "Hallo?" })).await;
        assert_eq!((&second["message"], &second["lead"]["needsHandoff"]), (&json!(null), &json!(true)));
        let summary = desk.conversation(id).await.summary;
        assert_eq!((summary.status, summary.lead.needs_handoff), (State::Waiting, false));
        desk.answer(id, "Zwei Tage.").await;
        let third = say(json!({ "conversationId": id, "message": "Danke!" })).await;
        assert_eq!(third["message"], json!(null));
    }

    async fn where_people_answer_first_the_ai_answers_while_nobody_is_online(database: &TestDatabase) {
        let change = SiteChange { answering: Some("people_first".to_owned()), ..SiteChange::default() };
        let desk = Desk::of(Client::with(options_of(database), change).await, "Olga").await;
        let ask = async || {
            let body = json!({ "message": "Do you ship to Norway?" });
            desk.client.post("/chat/messages", None, &body).await.data()
        };
        let away = ask().await;
        assert_eq!(away["outcome"], "could_not_answer");
        let console = desk.open().await;
        let is_online = async || desk.client.get("/chat/presence").await.data()["operatorOnline"] == true;
        eventually("online", is_online).await;
        let there = ask().await;
        assert_eq!((&there["message"], &there["outcome"]), (&json!(null), &json!(null)));
        assert_eq!(there["lead"]["needsHandoff"], true);
        drop(console);
    }

    async fn a_visitor_whom_the_ai_answered_is_told_as_well_and_again_after_a_close(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Do you ship?").await;
        let say = async || {
            let body = json!({ "conversationId": id, "message": "And to Norway?" });
            desk.client.post("/chat/messages", None, &body).await.data()["message"].clone()
        };
        let path = format!("/sites/{}", desk.client.site.id);
        desk.patch(&path, &json!({ "answering": "people_only" })).await.data();
        let config = desk.client.get("/chat/config").await.data();
        assert_eq!(config["config"]["aiAnswers"], false);
        assert!(say().await["content"].as_str().is_some_and(|text| text.contains("team")));
        assert_eq!(say().await, json!(null));
        desk.change(&id, json!({ "status": "closed" })).await;
        assert!(say().await["content"].as_str().is_some_and(|text| text.contains("team")));
        assert_eq!(say().await, json!(null));
    }

    async fn where_the_ai_answers_alone_nobody_is_promised_or_alerted(database: &TestDatabase) {
        let options = serde_json::from_value(json!({ "contact": "mailto:shop@shop.example" })).expect("options");
        let change = SiteChange {
            answering: Some("ai_only".to_owned()),
            widget_options: Some(options),
            ..SiteChange::default()
        };
        let desk = Desk::of(Client::with(options_of(database), change).await, "Olga").await;
        let console = desk.open().await;
        let config = desk.client.get("/chat/config").await.data();
        assert_eq!(config["config"]["peopleAnswer"], false);
        let asked = json!({ "message": "I want to talk to a person", "locale": "en" });
        let data = desk.client.post("/chat/messages", None, &asked).await.data();
        let text = data["message"]["content"].as_str().expect("a text");
        assert!(text.contains("I cannot bring in a person"), "{text}");
        assert!(text.contains("[shop@shop.example](mailto:shop@shop.example)"), "{text}");
        assert_eq!((&data["lead"]["needsHandoff"], &data["outcome"]), (&json!(false), &json!(null)));
        let id = data["conversationId"].as_str().expect("an id");
        for (message, expected) in [
            ("Do you ship to Norway?", "I found nothing about that on this site."),
            ("My e-mail is ada@mail.example", "I cannot promise that somebody gets in touch with you."),
            ("Are you a real person?", "only I answer"),
        ] {
            let body = json!({ "conversationId": id, "message": message });
            let data = desk.client.post("/chat/messages", None, &body).await.data();
            let text = data["message"]["content"].as_str().expect("a text");
            assert!(text.contains(expected) && !text.to_lowercase().contains("leave"), "{message}: {text}");
            assert_eq!(data["lead"]["needsHandoff"], false, "{message}");
        }
        let summary = desk.conversation(id).await.summary;
        assert_eq!((summary.status, summary.lead.needs_handoff), (State::Open, false));
        assert!(desk.ids("view=waiting").await.is_empty());
        let unanswered = desk.get("/questions/unanswered").await;
        assert_eq!(unanswered["questions"].as_array().map(Vec::len), Some(2), "{unanswered}");
        let presence = desk.client.get("/chat/presence").await.data();
        assert_eq!((&presence["operatorOnline"], &presence["operatorLastSeenAt"]), (&json!(false), &json!(null)));
        drop(console);
    }

    async fn who_was_promised_a_person_keeps_the_promise_when_the_mode_changes(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("I want to talk to a person").await;
        let path = format!("/sites/{}", desk.client.site.id);
        desk.patch(&path, &json!({ "answering": "ai_only" })).await.data();
        let body = json!({ "conversationId": id, "message": "Can somebody call me?" });
        let data = desk.client.post("/chat/messages", None, &body).await.data();
        assert_eq!(data["lead"]["needsHandoff"], true);
        assert_eq!(desk.conversation(&id).await.summary.status, State::Waiting);
    }

    async fn the_minutes_after_which_the_ai_answers_are_checked_stored_and_removed(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let path = format!("/sites/{}", desk.client.site.id);
        assert_eq!(desk.get(&path).await["aiAfterMinutes"], json!(null));
        for wrong in [json!(0), json!(1441), json!("5"), json!(1.5)] {
            assert_eq!(desk.patch(&path, &json!({ "aiAfterMinutes": wrong })).await.status, 400, "{wrong}");
        }
        assert_eq!(desk.patch(&path, &json!({ "aiAfterMinutes": 5 })).await.data()["aiAfterMinutes"], 5);
        desk.patch(&path, &json!({ "answering": "people_first" })).await.data();
        assert_eq!(desk.get(&path).await["aiAfterMinutes"], 5);
        let site = desk.patch(&path, &json!({ "aiAfterMinutes": null })).await.data();
        assert_eq!(site["aiAfterMinutes"], json!(null));
    }
}
