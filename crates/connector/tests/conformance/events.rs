//! Sections 2.7, 4.8, 6 and 8.

use serde_json::{Value, json};

use crate::api::{Api, fresh, has, is_integer};

sentences! {
    a_batch_has_1_to_50_events,
    accepted_and_rejected_account_for_every_event_and_tracking_is_enabled_or_disabled,
    every_recommended_event_type_is_accepted,
    a_key_has_8_to_160_characters,
    an_event_needs_nothing_but_its_type,
    a_malformed_event_is_refused_or_rejected,
    a_repeated_batch_gets_the_same_response,
    events_trigger_no_reply,
    [administered]
    a_site_without_tracking_accepts_no_events,
}

fn events(count: usize) -> Value {
    let event = json!({ "eventType": "page_view", "visitorId": "conformance", "path": "/" });
    json!({ "events": vec![event; count] })
}

async fn a_batch_has_1_to_50_events(api: Api) {
    for count in [1, 50] {
        api.post("/events", &fresh("events"), &events(count)).await.data();
    }
    for count in [0, 51] {
        api.post("/events", &fresh("events"), &events(count)).await.is_failure(400, "INVALID_REQUEST");
    }
    for body in [json!({}), json!({ "events": "many" })] {
        api.post("/events", &fresh("events"), &body).await.is_failure(400, "INVALID_REQUEST");
    }
}

async fn accepted_and_rejected_account_for_every_event_and_tracking_is_enabled_or_disabled(api: Api) {
    let data = api.post("/events", &fresh("events"), &events(3)).await.data();
    has(&data, &[("/accepted", is_integer), ("/rejected", is_integer)]);
    assert_eq!(data["accepted"].as_i64().unwrap_or(0) + data["rejected"].as_i64().unwrap_or(0), 3);
    assert!(data["tracking"] == "enabled" || data["tracking"] == "disabled", "{data}");
}

async fn every_recommended_event_type_is_accepted(api: Api) {
    for event_type in ["page_view", "chat_opened", "chat_closed", "cta_clicked", "lead_submitted"] {
        let event = json!({
            "eventType": event_type, "visitorId": "v", "customerId": "c", "channel": "web", "path": "/", "title": "t",
            "url": "https://shop.example/", "referrer": "", "createdAt": "2026-01-01T00:00:00Z",
            "eventData": { "conversationId": "c", "label": "l", "formType": "f" }
        });
        let data = api.post("/events", &fresh("events"), &json!({ "events": [event] })).await.data();
        assert_eq!(data["rejected"], 0, "{event_type}");
    }
}

async fn a_key_has_8_to_160_characters(api: Api) {
    for (path, body) in [("/events", events(1)), ("/chat/messages", json!({ "message": "Hello" }))] {
        let key = fresh("k").chars().cycle().take(160).collect::<String>();
        api.post(path, &key, &body).await.data();
        api.post(path, &fresh("k")[..8], &body).await.data();
        for key in ["1234567".to_owned(), format!("{key}1")] {
            api.post(path, &key, &body).await.is_failure(400, "INVALID_REQUEST");
        }
    }
}

async fn an_event_needs_nothing_but_its_type(api: Api) {
    let body = json!({ "events": [{ "eventType": "page_view" }, { "eventType": "made_up_by_the_site" }] });
    let data = api.post("/events", &fresh("events"), &body).await.data();
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(2), &json!(0)));
}

async fn a_malformed_event_is_refused_or_rejected(api: Api) {
    for malformed in
        [json!({}), json!("page_view"), json!({ "eventType": 7 }), json!({ "eventType": "x", "path": 7 })]
    {
        let body = json!({ "events": [{ "eventType": "page_view" }, malformed] });
        let answer = api.post("/events", &fresh("events"), &body).await;
        if answer.status == 200 {
            let data = answer.data();
            assert_eq!((&data["accepted"], &data["rejected"]), (&json!(1), &json!(1)), "{body}");
        } else {
            answer.is_failure(400, "INVALID_REQUEST");
        }
        let body = json!({ "events": [malformed] });
        let alone = api.post("/events", &fresh("events"), &body).await;
        assert!(alone.status == 400 || alone.data()["rejected"] == 1, "{body}");
    }
}

async fn a_repeated_batch_gets_the_same_response(api: Api) {
    let key = fresh("events");
    let first = api.post("/events", &key, &events(3)).await;
    first.data();
    for _ in 0..2 {
        assert_eq!(api.post("/events", &key, &events(3)).await.text, first.text);
    }
}

async fn events_trigger_no_reply(api: Api) {
    let sent = api.conversation().await;
    let id = sent["conversationId"].as_str().expect("an id");
    let before = api.read(id, None).await;
    let event =
        json!({ "eventType": "lead_submitted", "eventData": { "conversationId": id, "formType": "f" } });
    api.post("/events", &fresh("events"), &json!({ "events": [event] })).await.data();
    assert_eq!(api.read(id, None).await, before);
}

async fn a_site_without_tracking_accepts_no_events(api: Api) {
    let tracking = async || {
        let data = api.post("/events", &fresh("events"), &events(2)).await.data();
        (data["tracking"].clone(), data["accepted"].clone(), data["rejected"].clone())
    };
    assert_eq!(tracking().await, (json!("enabled"), json!(2), json!(0)));
    api.change_settings(json!({ "trackingEnabled": false })).await;
    assert_eq!(tracking().await, (json!("disabled"), json!(0), json!(2)));
    api.change_settings(json!({ "trackingEnabled": true })).await;
    assert_eq!(tracking().await, (json!("enabled"), json!(2), json!(0)));
}
