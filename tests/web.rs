//! Tests in a browser without a server: the widget in its shadow root, its Leptos component, and the client.

#![cfg(target_arch = "wasm32")]

mod client;
mod component;
mod page;

use chat_protocol::Value;
use chat_widget::client::json;
use page::{Network, Page};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn values_survive_the_conversion_to_javascript_and_back() {
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
async fn html_in_a_message_is_shown_as_text() {
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
async fn markdown_becomes_allowed_elements_only() {
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
async fn a_config_that_disables_the_chat_removes_the_widget() {
    let _network = Network::answers(200, r#"{"ok":true,"data":{"config":{"enabled":false}}}"#, "");
    let page = Page::new();
    let _widget = page.mount();
    page.until(|| page.find("launcher").is_none()).await;
}

#[wasm_bindgen_test]
async fn only_a_reload_of_the_config_bypasses_the_caches() {
    let network = Network::answers(200, r#"{"ok":true,"data":{"config":{}}}"#, "");
    let page = Page::new();
    let widget = page.mount();
    page.until(|| network.count() == 1).await;
    assert!(network.last("url").contains("/chat/config"));
    assert_eq!(network.last("cache"), "");
    page::tick().await;
    widget.reload_config();
    page.until(|| network.count() == 2).await;
    assert!(network.last("url").contains("/chat/config"));
    assert_eq!(network.last("cache"), "no-store");
}

#[wasm_bindgen_test]
async fn a_dropped_widget_leaves_no_elements_and_sends_no_requests() {
    let network = Network::hangs();
    let page = Page::new();
    let widget = page.mount();
    widget.set_open(true, false);
    page::tick().await;
    drop(widget);
    assert_eq!(page.host.shadow_root().expect("a root").child_element_count(), 0);
    let requests = network.count();
    page::window().dispatch_event(&web_sys::Event::new("online").expect("an event")).expect("dispatched");
    page::tick().await;
    assert_eq!(network.count(), requests);
}
