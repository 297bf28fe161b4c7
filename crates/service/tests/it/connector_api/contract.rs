//! The endpoints follow the contract (2, 4, 5, 7, 8).

use axum::body::Body;
use chat_protocol::{ChatConfig, History, Presence, SendResult, Tracking, Value as Wire};
use chat_service::API_BASE;
use serde_json::json;

use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Answer, Client};

fn wire(answer: &Answer) -> Wire {
    let body = serde_json::from_slice(&answer.body).expect("JSON");
    chat_protocol::open_envelope(answer.status.as_u16(), body).expect("a success")
}

fn assert_is_failure(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.failure(), (status, code.to_owned()));
    assert_eq!(answer.json()["ok"], false);
    assert_eq!(answer.json()["requestId"].as_str(), answer.header("x-request-id"));
    assert!(answer.header("x-service-api-version").is_some());
}

on_both_databases! {
    async fn the_protocol_crate_reads_every_response(database: &TestDatabase) {
        let client = Client::new(database).await;
        let config = ChatConfig::try_from(wire(&client.get("/chat/config?locale=en-GB").await)).expect("a config");
        assert!(config.shows_widget());
        assert_eq!(config.locale.as_deref(), Some("en-GB"));

        let body = json!({ "message": "How long does delivery take?", "locale": "en-GB" });
        let sent = SendResult::try_from(wire(&client.post("/chat/messages", None, &body).await)).expect("a result");
        let reply = sent.message.expect("a reply");

        let path = format!("/chat/messages?conversationId={}", sent.conversation_id);
        let history = History::try_from(wire(&client.get(&path).await)).expect("a history");
        let ids: Vec<_> = history.messages.iter().map(|message| message.id.clone()).collect();
        assert_eq!(ids, [sent.user_message_id.clone(), reply.id.clone()]);
        assert_eq!(history.next_after, reply.id);

        let after = sent.user_message_id.expect("an id");
        let rest = History::try_from(wire(&client.get(&format!("{path}&after={after}")).await)).expect("a history");
        assert_eq!(rest.messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>(), std::slice::from_ref(&reply.id));
        let last = reply.id.expect("an id");
        let rest = History::try_from(wire(&client.get(&format!("{path}&after={last}")).await)).expect("a history");
        assert_eq!((rest.messages.len(), rest.next_after), (0, Some(last)));

        let path = format!("/chat/presence?conversationId={}", sent.conversation_id);
        let presence = Presence::try_from(wire(&client.get(&path).await)).expect("a presence");
        assert!(presence.should_poll_messages && !presence.operator_online);

        let body = json!({ "events": [{ "eventType": "page_view" }] });
        let tracking = Tracking::try_from(wire(&client.post("/events", None, &body).await)).expect("a tracking");
        assert_eq!(tracking, Tracking { accepted: 1, rejected: 0, enabled: true });
    }

    async fn refuses_unknown_paths_and_methods_with_an_envelope(database: &TestDatabase) {
        let client = Client::new(database).await;
        assert_is_failure(&client.get("/chat/nothing").await, 404, "NOT_FOUND");
        assert_is_failure(&client.get("/chat/config/").await, 404, "NOT_FOUND");
        assert_is_failure(&client.get("/").await, 404, "NOT_FOUND");
        // The path that a connector requests if its origin is set to the base URL.
        assert_is_failure(&client.get(&format!("{API_BASE}/chat/config")).await, 404, "NOT_FOUND");
        for (method, path, allow) in [
            ("DELETE", "/chat/messages", "GET, POST"),
            ("GET", "/events", "POST"),
            ("POST", "/chat/config", "GET"),
        ] {
            let answer = client.send(client.api(method, path, Body::empty())).await;
            assert_is_failure(&answer, 405, "METHOD_NOT_ALLOWED");
            assert_eq!(answer.header("allow"), Some(allow));
        }
    }

    async fn refuses_malformed_and_oversized_bodies_with_an_envelope(database: &TestDatabase) {
        let client = Client::new(database).await;
        let nested = "[".repeat(60_000);
        for body in ["{", "", "[]", "{\"message\":7}", "{\"message\":\"\"}", &nested] {
            let answer = client.send(client.api("POST", "/chat/messages", body.to_owned().into())).await;
            assert_is_failure(&answer, 400, "INVALID_REQUEST");
        }
        let huge = json!({ "message": "Hello", "padding": "x".repeat(100_000) }).to_string();
        let answer = client.send(client.api("POST", "/chat/messages", huge.into())).await;
        assert_is_failure(&answer, 413, "INVALID_REQUEST");
        let mut form = client.api("POST", "/chat/messages", "message=Hello".into());
        form.headers_mut().insert("content-type", "application/x-www-form-urlencoded".parse().expect("a value"));
        assert_is_failure(&client.send(form).await, 400, "INVALID_REQUEST");
    }

    async fn an_unknown_message_in_after_returns_all(database: &TestDatabase) {
        let client = Client::new(database).await;
        let conversation = client.begin("Hello").await;
        let path = format!("/chat/messages?conversationId={conversation}");
        let all = client.get(&path).await.data();
        assert_eq!(all["messages"].as_array().map(Vec::len), Some(2));
        assert_eq!(client.get(&format!("{path}&after=msg_unknown")).await.data()["messages"], all["messages"]);
    }

    async fn counts_the_rejected_events_of_a_batch(database: &TestDatabase) {
        let client = Client::new(database).await;
        let mixed = json!([{ "eventType": "page_view", "visitorId": "v1" }, { "eventType": 3 }]);
        let data = client.post("/events", None, &json!({ "events": mixed })).await.data();
        assert_eq!(data, json!({ "accepted": 1, "rejected": 1, "tracking": "enabled" }));
    }

    async fn contact_details_and_handoff_requests_appear_in_the_lead(database: &TestDatabase) {
        let client = Client::new(database).await;
        let conversation = client.begin("How much is a mug?").await;
        let say = async |message: &str| {
            let body = json!({ "conversationId": conversation, "message": message });
            client.post("/chat/messages", None, &body).await.data()
        };
        let handoff = say("Can I talk to a person?").await;
        assert_eq!((&handoff["lead"]["needsHandoff"], &handoff["lead"]["hasContact"]), (&json!(true), &json!(false)));
        assert!(handoff["message"]["content"].as_str().expect("text").contains("e-mail"));
        let contact = say("ann@example.org").await;
        assert_eq!(contact["lead"]["hasContact"], true);
        assert_eq!(contact["lead"]["needsHandoff"], false, "this message does not ask for a person");
        assert!(contact["lead"]["score"].as_f64() > handoff["lead"]["score"].as_f64());
        let again = say("I would still like to speak to somebody").await;
        assert_eq!(again["lead"]["needsHandoff"], true, "every request for a person is reported");
    }

    async fn a_body_that_does_not_arrive_in_time_is_408(database: &TestDatabase) {
        let body_timeout = std::time::Duration::from_millis(20);
        let options = chat_service::ServiceOptions { body_timeout, ..crate::support::options(database) };
        let client = Client::with(options, chat_service::SiteChange::default()).await;
        let stalled = Body::from_stream(futures_util::stream::pending::<std::io::Result<Vec<u8>>>());
        let answer = client.send(client.api("POST", "/chat/messages", stalled)).await;
        assert_is_failure(&answer, 408, "REQUEST_TIMEOUT");
    }

    async fn a_conversation_that_does_not_exist_is_404(database: &TestDatabase) {
        let client = Client::new(database).await;
        let body = json!({ "message": "Hello", "conversationId": "conv_of_somebody" });
        assert_is_failure(&client.post("/chat/messages", None, &body).await, 404, "NOT_FOUND");
        assert_is_failure(&client.get("/chat/messages?conversationId=conv_x").await, 404, "NOT_FOUND");
        assert_is_failure(&client.get("/chat/messages").await, 400, "INVALID_REQUEST");
        let presence = client.get("/chat/presence?conversationId=conv_x").await.data();
        assert_eq!(presence["shouldPollMessages"], false);
    }

    async fn a_poll_sees_a_message_as_soon_as_it_was_acknowledged(database: &TestDatabase) {
        let client = Client::new(database).await;
        let conversation = client.begin("1").await;
        for number in 2..20 {
            // Read twice, so that a cache has something to forget.
            client.history(&conversation).await;
            let before = client.history(&conversation).await.len();
            let body = json!({ "message": number.to_string(), "conversationId": conversation });
            client.post("/chat/messages", None, &body).await.data();
            assert_eq!(client.history(&conversation).await.len(), before + 2);
        }
    }
}
