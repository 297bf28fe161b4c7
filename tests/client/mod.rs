//! The client of the proxy: its requests, and its behaviour on pages that have replaced `fetch`.

mod proof;
mod table;

use chat_widget::protocol::{IdempotencyKey, Value};
use chat_widget::{BrowserWidgetClient, ClientError, ErrorKind, SendOptions};
use js_sys::{Function, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::{self, Network, NoJitter, clear_storage, window};

const REPLY: &str = r#"{"ok":true,"data":{"conversationId":"c1"}}"#;
const ACCEPTED: &str = r#"{"ok":true,"data":{"accepted":1,"rejected":0}}"#;

/// A client without retries, on a page with an empty storage.
fn client() -> BrowserWidgetClient {
    clear_storage();
    BrowserWidgetClient::new("/connector/").with_max_retries(0)
}

fn kind<T>(result: Result<T, ClientError>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind)
}

fn with_key(key: IdempotencyKey) -> SendOptions {
    SendOptions { idempotency_key: Some(key), ..SendOptions::default() }
}

/// Stores a value as the widget does.
fn store(key: &str, text: &str) {
    window().local_storage().expect("storage").expect("storage").set_item(key, text).expect("stored");
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[wasm_bindgen_test]
async fn a_request_goes_to_its_path_under_the_prefix_with_an_encoded_query() {
    let network = Network::answers(200, r#"{"ok":true,"data":{"messages":[]}}"#, "");
    let client = client();
    store("chat-widget:conversation", r#"{"conversationId":"c 1&x=2"}"#);
    let history = client.list_messages(Some(&"m/1".into())).await;
    assert!(history.expect("an answer").messages.is_empty());
    let origin = window().location().origin().expect("an origin");
    let path = "/connector/chat/messages?conversationId=c%201%26x%3D2&after=m%2F1";
    assert_eq!(network.last("url"), [&origin, path].concat());
    assert_eq!(network.last("method"), "GET");
}

#[wasm_bindgen_test]
async fn a_message_is_posted_as_json_with_its_key() {
    let network = Network::answers(200, REPLY, "");
    let key = IdempotencyKey::new("chat-v1-m1").expect("a key");
    let client = client();
    let result = client.send_message("hello", with_key(key)).await.expect("an answer");
    assert_eq!(result.conversation_id.as_str(), "c1");
    assert_eq!(network.last("method"), "POST");
    let body = json(&network.last("body"));
    assert_eq!(body["message"], "hello");
    assert_eq!(body["visitor"]["visitorId"], client.visitor_id().as_str());
    assert_eq!(body["sourcePage"], window().location().pathname().expect("a path"));
    assert_eq!(network.header("Idempotency-Key"), "chat-v1-m1");
    assert_eq!(network.header("Content-Type"), "application/json");
    assert_eq!(network.header("Authorization"), "");
}

#[wasm_bindgen_test]
async fn the_second_of_two_messages_waits_for_the_conversation_of_the_first() {
    let network = Network::answers(200, REPLY, "");
    let client = client();
    let promise_of = |text| {
        let client = client.clone();
        wasm_bindgen_futures::future_to_promise(async move {
            let sent = client.send_message(text, SendOptions::default()).await;
            sent.map(|_| JsValue::UNDEFINED).map_err(|error| error.to_string().into())
        })
    };
    let sent = js_sys::Array::of2(&promise_of("one"), &promise_of("two"));
    wasm_bindgen_futures::JsFuture::from(js_sys::Promise::all(&sent)).await.expect("sent");
    assert_eq!(json(&network.nth(0, "body"))["conversationId"], serde_json::Value::Null);
    assert_eq!(json(&network.nth(1, "body"))["conversationId"], "c1");
}

#[wasm_bindgen_test]
async fn a_message_is_retried_with_the_same_key_and_body() {
    let _jitter = NoJitter::new();
    let network = Network::answers_in_turn(&[(502, "<html>", ""), (429, "{}", "0"), (200, REPLY, "")]);
    let sent = client().with_max_retries(3).send_message("hello", SendOptions::default()).await;
    assert_eq!(sent.expect("sent").conversation_id.as_str(), "c1");
    assert_eq!(network.count(), 3);
    for index in [1, 2] {
        assert_eq!(network.nth(index, "body"), network.nth(0, "body"));
        assert_eq!(network.nth_header(index, "Idempotency-Key"), network.nth_header(0, "Idempotency-Key"));
    }
}

#[wasm_bindgen_test]
async fn a_message_that_failed_for_good_is_repeated_with_its_key_and_body() {
    let network = Network::answers_in_turn(&[(503, "{}", ""), (200, REPLY, "")]);
    let client = client();
    let error = client.send_message("one", SendOptions::default()).await.expect_err("a failure");
    client.send_message("two", SendOptions::default()).await.expect("sent");
    let key = error.idempotency_key.expect("a key");
    client.send_message("one", with_key(key.clone())).await.expect("sent");
    assert_eq!(network.nth(2, "body"), network.nth(0, "body"));
    assert_eq!(network.nth_header(2, "Idempotency-Key"), key.as_str());
    assert_ne!(network.nth_header(1, "Idempotency-Key"), key.as_str());
}

#[wasm_bindgen_test]
async fn visitor_and_conversation_stay_in_memory_when_storage_refuses_them() {
    let _network = Network::answers(200, REPLY, "");
    let client = client();
    let prototype = Reflect::get(&window().local_storage().expect("storage").into(), &"__proto__".into());
    let prototype = prototype.expect("a prototype");
    let real = Reflect::get(&prototype, &"setItem".into()).expect("a function");
    let throws = Function::new_no_args("throw new DOMException('full', 'QuotaExceededError')");
    Reflect::set(&prototype, &"setItem".into(), &throws).expect("patched");
    let visitor_id = client.visitor_id();
    let sent = client.send_message("hello", SendOptions::default()).await;
    Reflect::set(&prototype, &"setItem".into(), &real).expect("restored");
    assert!(sent.is_ok());
    assert_eq!(client.visitor_id(), visitor_id);
    assert_eq!(client.conversation_id().expect("a conversation").as_str(), "c1");
}

#[wasm_bindgen_test]
async fn only_a_request_for_the_config_may_be_answered_from_a_cache() {
    let network = Network::answers(200, r#"{"ok":true,"data":{"config":{}}}"#, "");
    let client = client();
    client.get_chat_config(Some("en_US")).await.expect("a config");
    assert_eq!(network.last("cache"), "");
    assert!(network.last("url").ends_with("/chat/config?locale=en-US"));
    _ = client.get_presence().await;
    assert_eq!(network.last("cache"), "no-store");
    _ = client.track("page_view", Value::Null).await;
    assert_eq!(network.last("cache"), "no-store");
}

#[wasm_bindgen_test]
async fn an_event_whose_data_is_not_an_object_is_refused_before_it_is_sent() {
    let network = Network::answers(200, ACCEPTED, "");
    let error = client().track("cta_clicked", "Buy".into()).await.expect_err("a refusal");
    assert_eq!(error.to_string(), "invalid event: events[0].eventData must be an object");
    assert_eq!(network.count(), 0);
}

#[wasm_bindgen_test]
async fn a_failure_has_its_code_and_its_request_id() {
    let body = r#"{"ok":false,"error":{"code":"RATE_LIMITED","message":"slow down"},"requestId":"r1"}"#;
    let _network = Network::answers(429, body, "7");
    let error = client().get_chat_config(Some("en")).await.expect_err("a failure");
    assert_eq!(error.to_string(), "429 RATE_LIMITED: slow down (request r1)");
}

#[wasm_bindgen_test]
async fn a_response_without_an_envelope_is_an_error() {
    for body in ["", "<html>", "[]", "null", r#"{"ok":"yes"}"#, r#"{"ok":true}"#, r#"{"ok":true,"data":7}"#] {
        let _network = Network::answers(200, body, "");
        let failed = kind(client().get_presence().await);
        assert!(matches!(failed, Some(ErrorKind::Service(_))), "{body}");
    }
}

#[wasm_bindgen_test]
async fn a_fetch_that_rejects_with_any_value_is_a_network_error() {
    for thrown in [JsValue::NULL, JsValue::UNDEFINED, "no".into(), 7.into(), js_sys::Object::new().into()] {
        let _network = Network::rejects(&thrown);
        assert_eq!(kind(client().get_chat_config(None).await), Some(ErrorKind::Network));
    }
}

#[wasm_bindgen_test]
async fn a_fetch_that_throws_or_returns_no_response_is_a_network_error() {
    let response = "status: 200, headers: new Headers(), text: async () => '{}'";
    for source in [
        "throw new Error('no fetching today');",
        "throw undefined;",
        "throw Symbol('no');",
        "return Promise.reject(Symbol('no'));",
        "return Promise.reject({ get message() { throw 1; }, toString() { throw 2; } });",
        "return undefined;",
        "return 7;",
        "return { get then() { throw new Error('no'); } };",
        "return Object.assign(Promise.resolve(1), { then() { throw new Error('no'); } });",
        "return Promise.resolve();",
        "return Promise.resolve({});",
        "return Promise.resolve({ status: 200, headers: new Headers() });",
        &format!("return Promise.resolve({{ {response}, text() {{ throw new Error('no'); }} }});"),
        &format!("return Promise.resolve({{ {response}, text: () => Promise.reject() }});"),
        &format!("return Promise.resolve({{ {response}, get status() {{ throw new Error('no'); }} }});"),
        &format!("return Promise.resolve({{ {response}, get headers() {{ throw new Error('no'); }} }});"),
        &format!("return Promise.resolve({{ {response}, headers: {{}} }});"),
    ] {
        let _network = Network::does(source);
        assert_eq!(kind(client().get_chat_config(None).await), Some(ErrorKind::Network), "{source}");
    }
}

#[wasm_bindgen_test]
async fn a_prefix_belongs_to_the_page_s_own_origin_unless_it_is_a_full_address() {
    let location = page::window().location();
    let (origin, path) = (location.origin().expect("an origin"), location.pathname().expect("a path"));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (prefix, expected) in [
        ("/connector", format!("{origin}/connector")),
        ("connector", format!("{origin}{folder}/connector")),
        ("//other.example/connector", format!("{origin}//other.example/connector")),
        ("https://api.example/connector/", "https://api.example/connector".to_owned()),
    ] {
        let network = Network::answers(200, "{}", "");
        _ = BrowserWidgetClient::new(prefix).with_max_retries(0).get_chat_config(None).await;
        assert_eq!(network.last("url"), format!("{expected}/chat/config"));
    }
}
