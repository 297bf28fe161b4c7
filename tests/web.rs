//! What needs a browser and no server: the client at the edge of the network, and the widget in its shadow root.

#![cfg(target_arch = "wasm32")]

mod component;
mod page;

use chat_protocol::{IdempotencyKey, SendMessage, Value, VisitorProfile};
use chat_widget::client::json;
use chat_widget::{BrowserWidgetClient, ClientError};
use page::{Network, Page};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

fn client() -> BrowserWidgetClient {
    BrowserWidgetClient::new("/connector/")
}

fn hello() -> SendMessage {
    SendMessage {
        conversation_id: None,
        message: "hello".into(),
        locale: None,
        source_page: None,
        visitor: VisitorProfile::default(),
    }
}

#[wasm_bindgen_test]
async fn a_call_goes_to_its_path_under_the_prefix_with_its_query_encoded() {
    let network = Network::answers(200, r#"{"ok":true,"data":{"messages":[]}}"#, "");
    let history = client().list_messages(&"c 1&x=2".into(), Some(&"m/1".into())).await;
    assert!(history.expect("an answer").messages.is_empty());
    let origin = page::window().location().origin().expect("an origin");
    let path = "/connector/chat/messages?conversationId=c%201%26x%3D2&after=m%2F1";
    assert_eq!(network.last("url"), [&origin, path].concat());
    assert_eq!(network.last("method"), "GET");
}

#[wasm_bindgen_test]
async fn a_message_carries_its_key_and_its_body_as_json() {
    let network = Network::answers(200, r#"{"ok":true,"data":{"conversationId":"c1"}}"#, "");
    let key = IdempotencyKey::new("chat-v1-m1").expect("a key");
    let result = client().send_message(&hello(), &key).await.expect("an answer");
    assert_eq!(result.conversation_id.as_str(), "c1");
    assert_eq!(network.last("method"), "POST");
    assert_eq!(network.last("body"), r#"{"message":"hello","visitor":{}}"#);
    assert_eq!(network.header("Idempotency-Key"), "chat-v1-m1");
    assert_eq!(network.header("Content-Type"), "application/json");
    assert_eq!(network.header("Authorization"), "");
}

#[wasm_bindgen_test]
async fn a_failure_is_told_with_its_code_and_request() {
    let body = r#"{"ok":false,"error":{"code":"RATE_LIMITED","message":"slow down"},"requestId":"r1"}"#;
    let _network = Network::answers(429, body, "7");
    let error = client().get_chat_config(Some("en")).await.expect_err("a failure");
    assert_eq!(error.to_string(), "429 RATE_LIMITED: slow down (request r1)");
}

#[wasm_bindgen_test]
async fn an_answer_that_is_no_envelope_is_a_failure_and_no_panic() {
    for body in ["", "<html>", "[]", "null", r#"{"ok":"yes"}"#, r#"{"ok":true}"#, r#"{"ok":true,"data":7}"#] {
        let _network = Network::answers(200, body, "");
        let error = client().get_presence(&"c1".into()).await.expect_err(body);
        assert!(matches!(error, ClientError::Service(_)), "{body}");
    }
}

#[wasm_bindgen_test]
async fn a_fetch_that_rejects_with_anything_at_all_is_a_network_failure() {
    for thrown in [JsValue::NULL, JsValue::UNDEFINED, "no".into(), 7.into(), js_sys::Object::new().into()] {
        let _network = Network::rejects(&thrown);
        assert_eq!(client().get_chat_config(None).await, Err(ClientError::Network));
    }
}

#[wasm_bindgen_test]
async fn a_fetch_that_throws_or_gives_what_is_no_response_is_a_network_failure() {
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
        assert_eq!(client().get_chat_config(None).await, Err(ClientError::Network), "{source}");
    }
}

#[wasm_bindgen_test]
async fn a_prefix_is_of_the_page_s_own_origin_unless_it_is_written_in_full() {
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
        _ = BrowserWidgetClient::new(prefix).get_chat_config(None).await;
        assert_eq!(network.last("url"), format!("{expected}/chat/config"));
    }
}

#[wasm_bindgen_test]
fn values_go_to_javascript_and_come_back() {
    let value = json::parse(r#"{"a":[1,2.5,-3],"b":{"c":null,"d":"é\u0000"},"e":true}"#);
    assert_eq!(json::from_js(&json::to_js(&value)), value);
    assert_eq!(json::parse("{"), Value::Null);
    assert_eq!(json::parse(&format!("{}1{}", "[".repeat(5000), "]".repeat(5000))), Value::Null);
    assert_eq!(json::from_js(&js_sys::Symbol::iterator().into()), Value::Null);
}

#[wasm_bindgen_test]
async fn the_widget_renders_into_an_open_shadow_root_and_opens() {
    let _network = Network::answers(200, r#"{"ok":true,"data":{"config":{}}}"#, "");
    let page = Page::new();
    let widget = page.mount();
    assert_eq!(page.attribute("launcher", "aria-expanded"), "false");
    assert!(page.find("window").is_none());
    widget.set_open(true, false);
    page::tick().await;
    assert_eq!(page.attribute("launcher", "aria-expanded"), "true");
    for part in ["window", "header", "title", "close", "log", "composer", "input", "send"] {
        assert!(page.find(part).is_some(), "{part}");
    }
    widget.set_open(false, false);
    page::tick().await;
    assert!(page.find("window").is_none());
}

#[wasm_bindgen_test]
async fn a_message_is_shown_as_the_text_that_it_is() {
    let _network = Network::hangs();
    let page = Page::new();
    let widget = page.mount();
    widget.set_open(true, false);
    let text = "<img src=x onerror=alert(1)> & <b>bold</b>";
    widget.send_message(text.into());
    page::tick().await;
    let bubble = page.find("message-visitor").expect("a bubble").query_selector(".cw-bubble").expect("valid");
    let bubble = bubble.expect("a bubble");
    assert_eq!(bubble.text_content().as_deref(), Some(text));
    assert_eq!(bubble.child_element_count(), 0);
}

#[wasm_bindgen_test]
async fn markdown_becomes_elements_and_only_those_it_may() {
    let text =
        "**a** [b](https://c.example) [d](javascript:e) <i>\n\n```\nf\n```\n\n|g|\n|-|\n|h|\n\n1. i\n   > j";
    let config = Value::object([("welcomeMessage", text.into())]);
    let data = Value::object([("config", config)]);
    let answer = Value::object([("ok", true.into()), ("data", data)]).to_string();
    let _network = Network::answers(200, &answer, "");
    let page = Page::new();
    let widget = page.mount();
    widget.set_open(true, false);
    page.until(|| page.find("message-assistant").is_some()).await;
    let bubble =
        page.find("message-assistant").expect("a message").query_selector(".cw-bubble").expect("valid");
    let bubble = bubble.expect("a bubble");
    let all = bubble.query_selector_all("*").expect("valid");
    let tags: Vec<String> = (0..all.length())
        .filter_map(|index| all.item(index))
        .map(|node| node.node_name().to_lowercase())
        .collect();
    assert_eq!(
        tags.join(" "),
        "p strong a div div bdi button pre code div table thead tr th tbody tr td ol li p blockquote p"
    );
    let link = bubble.query_selector("a").expect("valid").expect("a link");
    let attribute = |name| link.get_attribute(name).unwrap_or_default();
    assert_eq!(attribute("href"), "https://c.example");
    assert_eq!(attribute("rel"), "noopener noreferrer nofollow");
    assert_eq!(attribute("target"), "_blank");
    let first = bubble.first_element_child().expect("a paragraph");
    assert_eq!(first.text_content().as_deref(), Some("a b [d](javascript:e) <i>"));
    assert_eq!(first.get_attribute("dir").as_deref(), Some("auto"));
}

#[wasm_bindgen_test]
async fn a_message_of_4001_characters_is_not_sent() {
    let network = Network::hangs();
    let page = Page::new();
    let widget = page.mount();
    widget.set_open(true, false);
    widget.send_message("a".repeat(4001));
    page::tick().await;
    assert!(page.find("message-visitor").is_none());
    assert_ne!(network.last("method"), "POST");
    widget.set_draft("a".repeat(4001));
    page::tick().await;
    assert_eq!(page.attribute("send", "aria-disabled"), "true");
    widget.set_draft("a".repeat(4000));
    page::tick().await;
    assert_eq!(page.attribute("send", "aria-disabled"), "false");
}

#[wasm_bindgen_test]
async fn a_config_that_says_so_takes_the_widget_off() {
    let _network = Network::answers(200, r#"{"ok":true,"data":{"config":{"enabled":false}}}"#, "");
    let page = Page::new();
    let _widget = page.mount();
    page.until(|| page.find("launcher").is_none()).await;
}

#[wasm_bindgen_test]
async fn a_widget_that_is_dropped_leaves_nothing_and_asks_nothing_more() {
    let network = Network::hangs();
    let page = Page::new();
    let widget = page.mount();
    widget.set_open(true, false);
    page::tick().await;
    drop(widget);
    assert_eq!(page.host.shadow_root().expect("a root").child_element_count(), 0);
    let asked = network.count();
    page::window().dispatch_event(&web_sys::Event::new("online").expect("an event")).expect("dispatched");
    page::tick().await;
    assert_eq!(network.count(), asked);
}
