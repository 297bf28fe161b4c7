//! Holds the client to `tests/clients.json`, the table that all clients of the proxy share.

use std::time::Duration;

use chat_widget::protocol::{Value, VisitorEvent};
use chat_widget::{BrowserWidgetClient, SendOptions};
use wasm_bindgen_test::wasm_bindgen_test;

use super::{ACCEPTED, REPLY, client, json, store};
use crate::page::{Network, NoJitter, clear_storage, window};

fn table() -> serde_json::Value {
    json(include_str!("../clients.json"))
}

fn items(value: &serde_json::Value) -> &[serde_json::Value] {
    value.as_array().expect("a list")
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().expect("a text")
}

/// The names of an object's members, in order.
fn names(value: &serde_json::Value) -> Vec<String> {
    let mut names: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
    names.sort();
    names
}

fn page_view() -> VisitorEvent {
    VisitorEvent::try_from(Value::object([("eventType", "page_view".into())])).expect("an event")
}

#[wasm_bindgen_test]
async fn transient_errors_are_retried_and_others_are_final() {
    let _jitter = NoJitter::new();
    for case in items(&table()["transient"]) {
        let (status, code) = (case["status"].as_u64().expect("a status"), text(&case["code"]));
        let body = format!(r#"{{"ok":false,"error":{{"code":"{code}","message":""}}}}"#);
        let network = match (status, code) {
            // No request of this test takes long enough for a timeout, which `error.rs` tests.
            (0, "TIMEOUT") => continue,
            (0, _) => Network::does("calls.push([url, init]); return Promise.reject(new TypeError());"),
            (status, "INVALID_RESPONSE") => {
                Network::answers(u16::try_from(status).expect("a status"), "<html>", "")
            }
            (status, _) => Network::answers(u16::try_from(status).expect("a status"), &body, ""),
        };
        let error = client().with_max_retries(1).get_chat_config(None).await.expect_err("a failure");
        let is_transient = case["transient"].as_bool().expect("a bool");
        assert_eq!(error.is_transient(), is_transient, "{case}");
        assert_eq!(network.count(), if is_transient { 2 } else { 1 }, "{case}");
    }
}

#[wasm_bindgen_test]
async fn retry_after_is_read_as_seconds_or_as_a_date() {
    for case in items(&table()["retryAfter"]) {
        let _network = Network::answers(429, "{}", case["header"].as_str().unwrap_or_default());
        let error = client().get_presence().await.expect_err("a failure");
        assert_eq!(error.retry_after, case["ms"].as_u64().map(Duration::from_millis), "{case}");
    }
}

#[wasm_bindgen_test]
async fn every_event_but_a_page_view_has_the_conversation() {
    for case in items(&table()["events"]["eventData"]) {
        let network = Network::answers(200, ACCEPTED, "");
        let client = client();
        if let Some(id) = case["conversationId"].as_str() {
            store("chat-widget:conversation", &format!(r#"{{"conversationId":"{id}"}}"#));
        }
        let given = chat_widget::client::json::parse(&case["given"].to_string());
        client.track(text(&case["eventType"]), given).await.expect("accepted");
        assert_eq!(json(&network.last("body"))["events"][0]["eventData"], case["sent"], "{case}");
    }
}

#[wasm_bindgen_test]
async fn an_event_has_the_fields_and_the_channel_of_the_table() {
    let network = Network::answers(200, ACCEPTED, "");
    client().with_customer_id("ann").track("page_view", Value::Null).await.expect("accepted");
    let event = &json(&network.last("body"))["events"][0];
    let expected = &table()["events"];
    let mut fields: Vec<&str> = items(&expected["fields"]).iter().map(text).collect();
    // The page of these tests may have no referrer.
    fields.retain(|field| *field != "referrer" || event.get("referrer").is_some());
    assert_eq!(names(event), fields);
    assert_eq!(event["channel"], expected["channel"]);
}

#[wasm_bindgen_test]
async fn a_request_has_at_most_as_many_events_as_the_table_says() {
    let network = Network::answers(200, ACCEPTED, "");
    let max =
        usize::try_from(table()["events"]["maxPerRequest"].as_u64().expect("a number")).expect("a number");
    let tracked = client().track_batch(vec![page_view(); max + 1]).await.expect("accepted");
    assert_eq!(tracked.accepted, 2, "the sum of both responses");
    let count = |index| items(&json(&network.nth(index, "body"))["events"]).len();
    assert_eq!([count(0), count(1)], [max, 1]);
}

#[wasm_bindgen_test]
async fn visitor_and_conversation_are_stored_as_the_table_says() {
    let table = table();
    for (customer_id, column) in [("", "key"), ("ann", "customerKey")] {
        let _network = Network::answers(200, REPLY, "");
        let client = client().with_customer_id(customer_id);
        client.send_message("hello", SendOptions::default()).await.expect("sent");
        let storage = window().local_storage().expect("storage").expect("storage");
        let rows = items(&table["storage"]["keys"]).iter().filter(|row| row["name"] != "config");
        let mut count = 0;
        for row in rows {
            let stored = json(&storage.get_item(text(&row[column])).expect("readable").expect("a value"));
            let fields: Vec<&str> = items(&row["fields"]).iter().map(text).collect();
            assert_eq!(names(&stored), fields);
            assert_eq!(stored["v"], table["storage"]["version"]);
            count += 1;
        }
        assert_eq!(storage.length().expect("a length"), count, "no other key is used");
    }
}

#[wasm_bindgen_test]
fn a_visitor_id_is_created_as_a_uuid_and_kept_if_a_header_can_carry_it() {
    let table = &table()["storage"]["visitorId"];
    let is_created = |id: &str| js_sys::RegExp::new(text(&table["created"]), "").test(id);
    let of_stored = |id: &str| {
        clear_storage();
        store("chat-widget:visitor", &serde_json::json!({ "v": 2, "visitorId": id }).to_string());
        BrowserWidgetClient::new("/connector").visitor_id().to_string()
    };
    let max = usize::try_from(table["maxLength"].as_u64().expect("a number")).expect("a number");
    assert!(is_created(client().visitor_id().as_str()));
    let longest = "v".repeat(max);
    for id in items(&table["kept"]).iter().map(text).chain([&*longest]) {
        assert_eq!(of_stored(id), id);
    }
    let too_long = "v".repeat(max + 1);
    for id in items(&table["replaced"]).iter().map(text).chain([&*too_long]) {
        assert!(is_created(&of_stored(id)), "{id}");
    }
}

#[wasm_bindgen_test]
async fn idempotency_keys_have_the_form_and_the_length_of_the_table() {
    let table = &table()["idempotencyKey"];
    let number = |name: &str| usize::try_from(table[name].as_u64().expect("a number")).expect("a number");
    for visitor_id in ["v0123456", "", &*"v".repeat(128)] {
        let client = client();
        if !visitor_id.is_empty() {
            store("chat-widget:visitor", &format!(r#"{{"v":2,"visitorId":"{visitor_id}"}}"#));
        }
        let visitor: String =
            client.visitor_id().as_str().chars().take(number("maxVisitorIdLength")).collect();
        let messages = Network::answers(200, REPLY, "");
        client.send_message("hello", SendOptions::default()).await.expect("sent");
        let message = messages.header("Idempotency-Key");
        drop(messages);
        let events = Network::answers(200, ACCEPTED, "");
        client.track("page_view", Value::Null).await.expect("accepted");
        for (name, key) in [("message", message), ("events", events.header("Idempotency-Key"))] {
            let pattern = text(&table[name]).replace("{visitorId}", &visitor);
            assert!(js_sys::RegExp::new(&pattern, "").test(&key), "{key}");
            assert!((number("minLength")..=number("maxLength")).contains(&key.len()), "{key}");
        }
    }
}
