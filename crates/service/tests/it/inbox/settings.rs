//! Labels, canned replies and preferences.

use chat_protocol::admin::settings::{AskedAnswer, Quota};
use chat_protocol::admin::{Availability, CannedReply, Label, Preferences};
use chat_service::SiteChange;
use serde_json::json;

use crate::inbox::desk::Desk;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Client, options};

on_both_databases! {
    async fn admins_make_labels_and_agents_assign_them(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let urgent = json!({ "name": " Urgent ", "color": "red" });
        assert_eq!(ben.post("/labels", &urgent).await.status, 403);
        let made = desk.post("/labels", &urgent).await.data();
        let id = made["id"].as_str().expect("an id").to_owned();
        assert_eq!(desk.post("/labels", &json!({ "name": "URGENT", "color": "blue" })).await.status, 409);
        for wrong in [json!({ "name": "", "color": "red" }), json!({ "name": "x", "color": "pink" }),
            json!({ "name": "x".repeat(41), "color": "red" }), json!({ "name": "x" })]
        {
            assert_eq!(desk.post("/labels", &wrong).await.status, 400, "{wrong}");
        }
        let conversation = desk.client.begin("Hello").await;
        let other = desk.client.begin("Hello").await;
        assert_eq!(ben.change(&conversation, json!({ "labels": [&id] })).await.labels, std::slice::from_ref(&id));
        assert_eq!(ben.ids(&format!("view=open&label={id}")).await, std::slice::from_ref(&conversation));
        assert!(ben.conversation(&other).await.summary.labels.is_empty());
        let path = format!("/labels/{id}");
        assert_eq!(ben.put(&path, &urgent).await.status, 403);
        desk.put(&path, &json!({ "name": "urgent", "color": "orange" })).await.data();
        let labels: Vec<Label> = ben.read("/labels").await;
        assert_eq!(labels, [Label { id: id.clone(), name: "urgent".to_owned(), color: "orange".to_owned() }]);
        assert_eq!(ben.call("DELETE", &path, Some(&json!({}))).await.status, 403);
        desk.call("DELETE", &path, Some(&json!({}))).await.data();
        assert!(ben.conversation(&conversation).await.summary.labels.is_empty());
        assert_eq!(desk.call("DELETE", &path, Some(&json!({}))).await.status, 404);
    }

    async fn options_of_the_widget_are_stored_and_the_config_delivers_them(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let path = format!("/sites/{}", desk.client.site.id);
        let delivered = async || desk.client.get("/chat/config").await.data()["config"]["options"].clone();
        assert_eq!((&desk.get(&path).await["widgetOptions"], delivered().await), (&json!({}), json!(null)));
        let options = json!({ "theme": "rose", "themeTokens": { "radius-window": "8px" }, "suggestedQuestions": ["謝謝?"] });
        let change = json!({ "widgetOptions": options });
        assert_eq!(ben.patch(&path, &change).await.status, 403);
        assert_eq!(desk.patch(&path, &change).await.data()["widgetOptions"], options);
        assert_eq!(delivered().await, options);
        let refused = desk.patch(&path, &json!({ "widgetOptions": { "theme": "rose", "consent": "granted" } })).await;
        assert_eq!(refused.status, 400);
        assert!(refused.json()["error"]["message"].to_string().contains("widgetOptions.consent"));
        desk.patch(&path, &json!({ "assistantName": "Clover" })).await.data();
        assert_eq!(delivered().await, options);
        desk.patch(&path, &json!({ "widgetOptions": {} })).await.data();
        assert_eq!(delivered().await, json!(null));
    }

    async fn everybody_writes_canned_replies(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let hours = json!({ "shortcut": "hours", "text": "We are there 9 to 5, {{visitor.name}}.", "locale": "en" });
        let made = ben.post("/replies", &hours).await.data();
        let id = made["id"].as_str().expect("an id").to_owned();
        assert_eq!(desk.post("/replies", &json!({ "shortcut": "Hours", "text": "x" })).await.status, 409);
        for wrong in [json!({ "shortcut": "a b", "text": "x" }), json!({ "shortcut": "", "text": "x" }),
            json!({ "shortcut": "x", "text": " " }), json!({ "shortcut": "x", "text": "x", "locale": "no locale" })]
        {
            assert_eq!(ben.post("/replies", &wrong).await.status, 400, "{wrong}");
        }
        let path = format!("/replies/{id}");
        desk.put(&path, &json!({ "shortcut": "öffnung", "text": "9 to 5" })).await.data();
        let replies: Vec<CannedReply> = ben.read("/replies").await;
        assert_eq!((replies[0].shortcut.as_str(), replies[0].locale.as_deref()), ("öffnung", None));
        ben.call("DELETE", &path, Some(&json!({}))).await.data();
        assert_eq!(ben.put(&path, &hours).await.status, 404);
        let audit = desk.get("/audit").await;
        let entries = audit["entries"].as_array().expect("entries");
        let actions: Vec<&str> = entries.iter().filter_map(|entry| entry["action"].as_str()).take(3).collect();
        assert_eq!(actions, ["reply.delete", "reply.update", "reply.create"]);
    }

    async fn open_consoles_hear_of_new_labels_and_replies(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let mut console = desk.open().await;
        desk.post("/replies", &json!({ "shortcut": "hi", "text": "Hello" })).await.data();
        console.named("settings").await;
        desk.post("/labels", &json!({ "name": "VIP", "color": "teal" })).await.data();
        console.named("settings").await;
    }

    async fn preferences_belong_to_their_operator(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let before: Preferences = desk.read("/preferences").await;
        assert!(before.sound && before.availability == Availability::Automatic && before.quiet_hours.is_none());
        let chosen = json!({ "availability": "away", "sound": false, "notifications": true, "quietHours":
            { "fromMinute": 1320, "toMinute": 420, "days": [1, 2, 3, 4, 5], "timeZone": "Europe/Berlin" } });
        desk.put("/preferences", &chosen).await.data();
        assert_eq!(desk.get("/preferences").await, chosen);
        assert_eq!(ben.read::<Preferences>("/preferences").await, before);
        for (field, value) in [("fromMinute", json!(1440)), ("days", json!([8])), ("timeZone", json!("Mars/Base"))] {
            let mut wrong = chosen.clone();
            wrong["quietHours"][field] = value;
            assert_eq!(desk.put("/preferences", &wrong).await.status, 400, "{field}");
        }
    }

    async fn the_assistant_can_be_asked_and_its_replies_are_counted(database: &TestDatabase) {
        let change = SiteChange { monthly_ai_replies: Some(Some(2)), ..SiteChange::default() };
        let desk = Desk::of(Client::with(options(database), change).await, "Olga").await;
        let site = desk.client.site.id.clone();
        let known = json!({ "question": "How long does delivery take?", "answer": "Three days.", "locale": "en" });
        desk.post(&format!("/sites/{site}/answers"), &known).await.data();
        let path = format!("/sites/{site}/knowledge/ask");
        let question = json!({ "question": "How long does the delivery take?", "locale": "en" });
        let answer = desk.post(&path, &question).await.data();
        let answer: AskedAnswer = serde_json::from_value(answer).expect("an answer");
        assert!(answer.text.expect("a text").contains("Three days.") && answer.status == "ok");
        assert_eq!(answer.sources[0].title, "How long does delivery take?");
        desk.client.begin("How long does the delivery take?").await;
        let quota: Quota = desk.read("/quota").await;
        let quota = quota.sites;
        assert_eq!((quota[0].used, quota[0].limit, quota[0].site_id.as_str()), (2, Some(2), site.as_str()));
        let answer = desk.post(&path, &question).await.data();
        assert_eq!((&answer["status"], &answer["usedFallback"]), (&json!("quota_insufficient"), &json!(true)));
        assert_eq!(desk.post(&path, &json!({ "question": "" })).await.status, 400);
        let ben = desk.invite("Ben", "agent").await;
        assert_eq!(ben.post(&path, &question).await.status, 403);
        assert_eq!(ben.call("GET", "/quota", None).await.status, 403);
    }
}
