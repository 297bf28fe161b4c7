//! A conversation that an earlier version stored opens unchanged. `earlier_version.json` holds what version
//! 0.1 wrote before its session was divided into parts: a delivered message, its reply, an operator's
//! message, one message each that failed, was in flight and was queued, contact details, a config, an event
//! and a batch of events.

use std::collections::BTreeMap;

use chat_protocol::Endpoint::{Events, Messages, Send};
use chat_protocol::{ConversationId, IdempotencyKey, Value};
use chat_session::{Delivery, Input, Notice};

use crate::conversation::fixture::{Tab, json};

/// The time at which the conversation was stored, and a moment.
const NOW_MS: u64 = 1_760_000_003_700 + 5_000;
const VISITOR: &str = "vbdd732262feb6e9528efe333b266f103";

fn stored() -> Vec<(String, String)> {
    let stored: BTreeMap<String, String> =
        serde_json::from_str(include_str!("earlier_version.json")).expect("a map of texts");
    stored.into_iter().collect()
}

fn opened() -> Tab {
    Tab::open(stored(), NOW_MS)
}

fn value(storage: &[(String, String)], key: &str) -> Value {
    json(&storage.iter().find(|(known, _)| known.contains(key)).expect(key).1)
}

#[test]
fn shows_the_visitor_the_messages_and_their_states() {
    let tab = opened();
    assert_eq!(tab.session.visitor_id().as_str(), VISITOR);
    assert_eq!(tab.session.conversation_id().map(ConversationId::as_str), Some("c1"));
    assert_eq!(
        tab.texts(),
        [
            "Do you ship?",
            "We do.",
            "Anna here.",
            "A message that fails",
            "A message in flight",
            "A message in the queue"
        ]
    );
    for (text, delivery) in [
        ("Do you ship?", Delivery::Delivered),
        ("A message that fails", Delivery::Failed),
        ("A message in flight", Delivery::Sending),
        ("A message in the queue", Delivery::Waiting),
    ] {
        assert_eq!(tab.delivery(text), delivery, "{text}");
    }
    let profile = tab.session.profile();
    assert_eq!((profile.name.as_deref(), profile.email.as_deref()), (Some("Ann"), Some("ann@example.com")));
    let config = tab.session.config().expect("a config");
    assert_eq!(config.assistant_name.as_deref(), Some("Clover"));
    assert_eq!((tab.session.unread(), tab.session.notice()), (0, None::<Notice>));
}

#[test]
fn repeats_the_attempt_in_flight_with_the_same_key_and_body() {
    let tab = opened();
    let before = value(&stored(), "m836ded897f3e46e6");
    let text = |name: &str| before.get(name).and_then(Value::as_text);
    let request = tab.waiting(Send).expect("another attempt");
    assert_eq!(request.key.as_ref().map(IdempotencyKey::as_str), text("key"));
    assert_eq!(request.body.as_deref(), text("body"));
}

#[test]
fn sends_the_queue_in_its_order_and_the_failed_message_when_the_visitor_asks() {
    let mut tab = opened();
    tab.reply(2, "second");
    assert!(
        tab.waiting(Send)
            .is_some_and(|request| request.body.as_ref().is_some_and(|body| body.contains("in the queue")))
    );
    tab.reply(3, "third");
    assert!(tab.waiting(Send).is_none(), "the failed message waits for the visitor");
    let failed = tab.key("A message that fails");
    tab.feed(Input::Retry(failed));
    let before = value(&stored(), "m9e54d738297f77ae");
    let key = before.get("key").and_then(Value::as_text);
    assert_eq!(tab.waiting(Send).and_then(|request| request.key.as_ref()).map(IdempotencyKey::as_str), key);
    tab.reply(4, "fourth");
    assert_eq!(tab.count_stored("outbox:"), 0, "everything is delivered");
}

#[test]
fn sends_the_batch_of_events_as_it_was_stored_and_polls_from_the_same_position() {
    let mut tab = opened();
    let batch = value(&stored(), "chat-widget:batch:");
    let events = tab.wait_for(Events);
    assert_eq!(events.body.as_deref(), batch.get("body").and_then(Value::as_text));
    let poll = tab.sent.iter().find(|request| request.endpoint == Messages).expect("a poll");
    assert_eq!(poll.query, [("conversationId", "c1".to_owned()), ("after", "o1".to_owned())]);
}
