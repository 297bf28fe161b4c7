//! What operators do with conversations.

use chat_protocol::admin::{ConversationSummary, State};
use chat_service::SiteChange;
use serde_json::json;

use crate::inbox::desk::{Desk, eventually};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Client, options};

on_both_databases! {
    async fn a_conversation_shows_its_last_messages_and_loads_earlier_ones(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("1").await;
        desk.post(&format!("/conversations/{id}/notes"), &json!({ "text": "early" })).await.data();
        for number in 2..=40 {
            let body = json!({ "conversationId": id, "message": number.to_string() });
            desk.client.post("/chat/messages", None, &body).await.data();
        }
        desk.post(&format!("/conversations/{id}/notes"), &json!({ "text": "late" })).await.data();
        let shown = desk.conversation(&id).await;
        assert_eq!((shown.messages.len(), shown.messages[0].sequence), (50, 31));
        assert_eq!(shown.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["late"]);
        let earlier = desk.messages(&id, "before=31&limit=20").await;
        assert_eq!((earlier.messages.len(), earlier.messages[0].sequence), (20, 11));
        assert!(earlier.notes.is_empty());
        assert_eq!(earlier.next_before, Some(11));
        let first = desk.messages(&id, "before=11").await;
        assert_eq!((first.messages.len(), first.messages[0].sequence, first.next_before), (10, 1, None));
        assert_eq!(first.notes[0].text, "early");
        let after = desk.messages(&id, "after=78").await;
        assert_eq!(after.messages.iter().map(|message| message.sequence).collect::<Vec<_>>(), [79, 80]);
        assert_eq!(after.notes[0].text, "late");
        let by_id = shown.messages[47].id.clone().expect("an id");
        assert_eq!(desk.messages(&id, &format!("after={by_id}")).await, after);
        let none = desk.messages(&id, "after=80").await;
        assert_eq!((none.messages.len(), none.notes.len()), (0, 1));
    }

    async fn an_answer_with_a_key_is_sent_once_and_can_close(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Can I talk to a real person?").await;
        let body = json!({ "text": "Yes. Bye!", "close": true });
        let path = format!("/conversations/{id}/messages");
        let send = async |body: &serde_json::Value| {
            desk.call_with_key("POST", &path, Some("answer-1"), Some(body)).await
        };
        let (first, second) = (send(&body).await, send(&body).await);
        assert_eq!(first.data()["content"], "Yes. Bye!");
        assert_eq!(first.body, second.body);
        let shown = desk.conversation(&id).await;
        assert_eq!((shown.summary.status, shown.summary.message_count), (State::Closed, 3));
        assert_eq!(shown.summary.assignee_id.as_ref(), Some(&desk.id));
        let other = json!({ "text": "Yes. Bye!" });
        assert_eq!(send(&other).await.failure(), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
    }

    async fn a_quota_that_is_used_up_refuses_nobody_whom_a_person_answers(database: &TestDatabase) {
        let change = SiteChange {
            monthly_ai_replies: Some(Some(1)),
            quota_refuses: Some(true),
            ..SiteChange::default()
        };
        let desk = Desk::of(Client::with(options(database), change).await, "Olga").await;
        let id = desk.client.begin("Hello").await;
        let say = async |text: &str| {
            let body = json!({ "conversationId": id, "message": text });
            desk.client.post("/chat/messages", None, &body).await
        };
        assert_eq!(say("Hello?").await.failure(), (402, "INSUFFICIENT_QUOTA".to_owned()));
        let taken = desk.post(&format!("/conversations/{id}/take-over"), &json!({ "from": null })).await;
        assert_eq!(taken.status, 200);
        let answer = say("Is somebody there?").await.data();
        assert!(answer["message"].is_null(), "the person answers");
        let new = json!({ "message": "Hello" });
        assert_eq!(desk.client.post("/chat/messages", None, &new).await.status, 402);
        // The refused messages are not stored.
        assert_eq!(desk.client.history(&id).await.len(), 3);
        desk.change(&id, json!({ "aiPaused": false, "assigneeId": "" })).await;
        assert_eq!(say("And now?").await.status, 402);
    }

    async fn the_conversations_of_somebody_who_has_left_are_free_for_the_others(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let open = desk.client.begin("Hello").await;
        let closed = desk.client.begin("Good morning").await;
        let kept = desk.client.begin("Thanks").await;
        for (id, operator) in [(&open, &ben), (&closed, &ben), (&kept, &desk)] {
            desk.change(id, json!({ "assigneeId": operator.id })).await;
        }
        desk.change(&closed, json!({ "status": "closed" })).await;
        let mut console = desk.open().await;
        desk.patch(&format!("/operators/{}", ben.id), &json!({ "disabled": true })).await.data();
        console.until(|event| event.data["conversation"]["id"] == open.as_str()).await;
        assert_eq!(desk.ids("view=unassigned").await, [open]);
        // A closed one has nobody either, once its visitor writes again.
        assert_eq!(desk.conversation(&closed).await.summary.assignee_id, None);
        assert_eq!(desk.conversation(&kept).await.summary.assignee_id, Some(desk.id.clone()));
    }

    async fn one_of_two_operators_takes_over_and_the_ai_is_silent_until_handed_back(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let id = desk.client.begin("Hello").await;
        let path = format!("/conversations/{id}/take-over");
        let body = json!({ "from": null });
        let (one, other) = tokio::join!(desk.post(&path, &body), ben.post(&path, &body));
        let (winner, loser) = if one.status == 200 { (&desk, other) } else { (&ben, one) };
        assert_eq!(loser.failure(), (409, "CONVERSATION_TAKEN".to_owned()));
        let name = if winner.id == ben.id { "Ben" } else { "Olga" };
        assert!(loser.json()["error"]["message"].as_str().expect("a message").contains(name));
        let shown = desk.conversation(&id).await.summary;
        assert_eq!(shown.assignee_id.as_ref(), Some(&winner.id));
        // Once more changes nothing.
        assert_eq!(winner.post(&path, &body).await.status, 200);
        let say = async |text: &str| {
            let body = json!({ "conversationId": id, "message": text });
            desk.client.post("/chat/messages", None, &body).await.data()
        };
        assert!(say("Is somebody there?").await["message"].is_null());
        assert_eq!(desk.conversation(&id).await.summary.status, State::Waiting);
        let back = desk.change(&id, json!({ "aiPaused": false, "assigneeId": "" })).await;
        assert_eq!((back.ai_paused_until, back.assignee_id), (None, None));
        assert!(say("How much is a mug?").await["message"].is_object());
        // Somebody who knows who is responsible may take over from them.
        let from_winner = json!({ "from": winner.id });
        desk.change(&id, json!({ "assigneeId": winner.id })).await;
        let second = if winner.id == ben.id { &desk } else { &ben };
        assert_eq!(second.post(&path, &from_winner).await.status, 200);
    }

    async fn the_ai_does_not_interrupt_a_visitor_who_waits_for_a_person_at_work(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        // The pause after a message of an operator is over at once.
        let site = format!("/sites/{}", desk.client.site.id);
        desk.patch(&site, &json!({ "aiPauseMs": 0 })).await.data();
        let console = desk.open().await;
        let id = desk.client.begin("Hello").await;
        desk.answer(&id, "Good morning!").await;
        let say = async |text: &str| {
            let body = json!({ "conversationId": id, "message": text });
            desk.client.post("/chat/messages", None, &body).await.data()["message"].is_object()
        };
        assert!(say("How much is a mug?").await, "nobody is asked for");
        assert!(!say("I want to talk to a person").await);
        assert!(!say("Are you still there?").await);
        desk.answer(&id, "I am.").await;
        assert!(say("How much is a mug?").await, "the person has answered");
        assert!(!say("I want to talk to a person").await);
        drop(console);
        let is_online = async || desk.client.get("/chat/presence").await.data()["operatorOnline"] == true;
        eventually("offline", async || !is_online().await).await;
        assert!(say("How much is a mug?").await, "better than nobody");
    }

    async fn a_snooze_ends_with_a_message_of_the_visitor(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Hello").await;
        let until = "2027-01-02T03:04:05.000Z";
        let snoozed = desk.change(&id, json!({ "snoozedUntil": until })).await;
        assert_eq!(snoozed.snoozed_until.as_deref(), Some(until));
        let ended = desk.change(&id, json!({ "snoozedUntil": "" })).await;
        assert_eq!(ended.snoozed_until, None);
        desk.change(&id, json!({ "snoozedUntil": until })).await;
        let body = json!({ "conversationId": id, "message": "Me again" });
        desk.client.post("/chat/messages", None, &body).await.data();
        assert_eq!(desk.conversation(&id).await.summary.snoozed_until, None);
        let path = format!("/conversations/{id}");
        for time in ["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "tomorrow"] {
            assert_eq!(desk.patch(&path, &json!({ "snoozedUntil": time })).await.status, 400, "{time}");
        }
        desk.change(&id, json!({ "status": "closed" })).await;
        assert_eq!(desk.patch(&path, &json!({ "snoozedUntil": until })).await.status, 409);
    }

    async fn states_assignees_and_unread_marks_change_and_are_recorded(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Hello").await;
        assert_eq!(desk.change(&id, json!({ "read": true })).await.unread, 0);
        assert_eq!(desk.change(&id, json!({ "read": false })).await.unread, 1);
        let closed = desk.change(&id, json!({ "status": "closed" })).await;
        assert!(closed.status == State::Closed && closed.closed_at.is_some());
        let open = desk.change(&id, json!({ "status": "open", "assigneeId": desk.id })).await;
        assert!(open.status == State::Open && open.closed_at.is_none());
        let notes = desk.conversation(&id).await.notes;
        let facts = notes.iter().map(|note| {
            let activity = note.activity.as_ref().expect("an activity");
            (note.text.as_str(), activity.event.as_str(), activity.detail.as_deref())
        });
        let expected = [
            ("closed", "closed", None),
            ("open", "opened", None),
            ("assigned to Olga", "assigned", Some("Olga")),
        ];
        assert_eq!(facts.collect::<Vec<_>>(), expected);
        assert!(notes.iter().all(|note| note.kind == "activity"));
        let path = format!("/conversations/{id}");
        assert_eq!(desk.patch(&path, &json!({ "assigneeId": "operator_0" })).await.status, 404);
        assert_eq!(desk.patch(&path, &json!({ "labels": ["label_0"] })).await.status, 404);
        assert_eq!(desk.patch(&path, &json!({ "unknown": 1 })).await.status, 400);
    }

    async fn other_conversations_of_the_visitor_are_shown(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let begin = async |text: &str| {
            let body = json!({ "message": text, "visitor": { "visitorId": "v-1" } });
            let data = desk.client.post("/chat/messages", None, &body).await.data();
            data["conversationId"].as_str().expect("an id").to_owned()
        };
        let (first, second, third) = (begin("1").await, begin("2").await, begin("3").await);
        let ids = |others: Vec<ConversationSummary>| others.into_iter().map(|other| other.id).collect::<Vec<_>>();
        assert_eq!(ids(desk.conversation(&second).await.other_conversations), [third, first]);
    }
}
