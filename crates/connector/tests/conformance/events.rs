//! Sections 2.7, 4.8, 6 and 8.

use serde_json::{Value, json};

use crate::api::{Api, fresh, has, is_integer};

sentences! {
    a_batch_has_1_to_50_events,
    accepted_and_rejected_account_for_every_event_and_tracking_is_enabled_or_disabled,
    every_recommended_event_type_is_accepted,
    a_key_has_8_to_160_characters,
}

fn events(count: usize) -> Value {
    let event = json!({ "eventType": "page_view", "visitorId": "conformance", "path": "/" });
    json!({ "events": vec![event; count] })
}

async fn a_batch_has_1_to_50_events() {
    let api = Api::connect().await;
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

async fn accepted_and_rejected_account_for_every_event_and_tracking_is_enabled_or_disabled() {
    let data = Api::connect().await.post("/events", &fresh("events"), &events(3)).await.data();
    has(&data, &[("/accepted", is_integer), ("/rejected", is_integer)]);
    assert_eq!(data["accepted"].as_i64().unwrap_or(0) + data["rejected"].as_i64().unwrap_or(0), 3);
    assert!(data["tracking"] == "enabled" || data["tracking"] == "disabled", "{data}");
}

async fn every_recommended_event_type_is_accepted() {
    let api = Api::connect().await;
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

async fn a_key_has_8_to_160_characters() {
    let api = Api::connect().await;
    let key = fresh("k").chars().cycle().take(160).collect::<String>();
    api.post("/events", &key, &events(1)).await.data();
    api.post("/events", &fresh("k")[..8], &events(1)).await.data();
    for key in ["1234567".to_owned(), format!("{key}1")] {
        api.post("/events", &key, &events(1)).await.is_failure(400, "INVALID_REQUEST");
    }
}
