//! The visitor's proof: its token in requests, and what follows from one that the service refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chat_widget::protocol::VISITOR_TOKEN;
use chat_widget::{BrowserWidgetClient, SendOptions, VisitorToken};
use wasm_bindgen_test::wasm_bindgen_test;

use super::{REPLY, client};
use crate::page::{Network, token_of, window};

const REFUSED: &str = r#"{"ok":false,"error":{"code":"INVALID_VISITOR_TOKEN","message":"expired"}}"#;
const NOTHING: &str = r#"{"ok":true,"data":{"messages":[]}}"#;

/// Returns a function that gives another token of a person each time, and the number of its calls.
fn renewing(person: &'static str) -> (VisitorToken, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let count = calls.clone();
    let token = VisitorToken::from_fn(move || {
        let call = count.fetch_add(1, Ordering::Relaxed);
        async move { Some(token_of(person) + &call.to_string()) }
    });
    (token, calls)
}

fn stored(key: &str) -> Option<String> {
    window().local_storage().expect("storage").expect("storage").get_item(key).expect("read")
}

#[wasm_bindgen_test]
async fn a_refused_token_is_renewed_once_and_the_same_request_repeated() {
    let network = Network::answers_in_turn(&[(200, REPLY, ""), (401, REFUSED, ""), (200, REPLY, "")]);
    let (token, calls) = renewing("ada");
    let client = client().with_visitor_token(token);
    client.send_message("one", SendOptions::default()).await.expect("sent");
    client.send_message("two", SendOptions::default()).await.expect("sent");
    assert_eq!((network.count(), calls.load(Ordering::Relaxed)), (3, 2));
    assert_ne!(network.nth_header(1, VISITOR_TOKEN), network.nth_header(2, VISITOR_TOKEN));
    assert_eq!(network.nth(1, "body"), network.nth(2, "body"));
    assert_eq!(network.nth_header(1, "Idempotency-Key"), network.nth_header(2, "Idempotency-Key"));
    _ = client.get_chat_config(None).await;
    assert_eq!(network.header(VISITOR_TOKEN), "", "the config is the same for everybody");
}

#[wasm_bindgen_test]
async fn without_a_usable_token_the_visitor_is_just_a_visitor() {
    let network = Network::answers_in_turn(&[(401, REFUSED, ""), (401, REFUSED, ""), (200, REPLY, "")]);
    let (token, calls) = renewing("ada");
    let client = client().with_visitor_token(token);
    client.send_message("one", SendOptions::default()).await.expect("sent without a proof");
    assert_eq!((network.count(), calls.load(Ordering::Relaxed)), (3, 2));
    assert_eq!(network.header(VISITOR_TOKEN), "");
    client.send_message("two", SendOptions::default()).await.expect("sent");
    assert_eq!((network.count(), calls.load(Ordering::Relaxed)), (4, 2), "the page is not asked again");

    let network = Network::answers_in_turn(&[(401, REFUSED, ""), (200, REPLY, "")]);
    let client = super::client().with_visitor_token(VisitorToken::new(token_of("ada")));
    client.send_message("one", SendOptions::default()).await.expect("sent without a proof");
    client.send_message("two", SendOptions::default()).await.expect("sent");
    assert_eq!((network.count(), network.header(VISITOR_TOKEN)), (3, String::new()));
}

#[wasm_bindgen_test]
async fn a_person_has_a_conversation_of_their_own_and_finds_that_of_another_device() {
    let network = Network::answers_in_turn(&[
        (200, r#"{"ok":true,"data":{"conversationId":"c-ada","messages":[]}}"#, ""),
        (200, NOTHING, ""),
    ]);
    let client = client().with_visitor_token(VisitorToken::new(token_of("ada")));
    client.list_messages(None).await.expect("a history");
    assert!(network.last("url").ends_with("/connector/chat/messages"));
    client.list_messages(None).await.expect("a history");
    assert!(network.last("url").ends_with("?conversationId=c-ada"));
    assert!(stored("chat-widget:conversation@verified:ada").is_some());
    let unproved = BrowserWidgetClient::new("/connector");
    assert_eq!(unproved.conversation_id(), None);
    unproved.list_messages(None).await.expect("nothing");
    assert_eq!(network.count(), 2, "without a proof there is nobody to ask for");
}
