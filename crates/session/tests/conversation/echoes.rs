//! Echoes: a message whose response was lost is found in the history, and not mistaken for another.

use crate::conversation::fixture::Tab;
use chat_protocol::Endpoint::{Messages, Send};
use chat_session::{Delivery, Input, keys};

#[test]
fn does_not_resend_a_message_whose_echo_was_polled() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.wait_for(Messages);
    tab.answer_messages(&["u1 user one", "a1 assistant first", "u2 person two", "a2 assistant second"]);
    tab.fail(Send);
    tab.wait(25_000);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Delivered));
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
    assert!(!tab.session.awaits_reply() && !tab.storage.iter().any(|(key, _)| key.contains(keys::OUTBOX)));
}

#[test]
fn a_failed_message_found_in_the_history_becomes_delivered() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.wait_for(Messages);
    tab.answer_messages(&["u2 visitor two"]);
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    assert!(tab.session.awaits_reply(), "its reply is awaited");
}

#[test]
fn a_failed_message_whose_request_storage_has_lost_is_found_in_the_history() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.storage.retain(|(key, _)| !key.contains(keys::OUTBOX));
    let mut tab = tab.reload();
    assert_eq!(tab.delivery("two"), Delivery::Failed);
    tab.wait_for(Messages);
    tab.answer_messages(&["u2 person two"]);
    assert_eq!((tab.texts(), tab.delivery("two")), (vec!["one", "first", "two"], Delivery::Delivered));
    assert_eq!(tab.count_stored(keys::OUTBOX), 0);
}

#[test]
fn keeps_two_messages_with_the_same_text_apart() {
    let mut tab = Tab::in_conversation_sending("ok");
    tab.refuse(Send, 403, "", None);
    tab.send("ok");
    tab.wait_for(Messages);
    tab.answer_messages(&["u3 visitor ok"]);
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u3","message":{"id":"a3","role":"assistant","content":"fine"}}"#);
    let deliveries: Vec<Delivery> = tab
        .session
        .entries()
        .iter()
        .filter(|entry| &*entry.text == "ok")
        .map(|entry| entry.delivery)
        .collect();
    assert_eq!(deliveries, [Delivery::Failed, Delivery::Delivered]);
}

#[test]
fn does_not_match_a_failed_message_in_a_backfilled_history() {
    let mut tab = Tab::sending("hello");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    let mut storage = tab.storage;
    storage.retain(|(key, _)| !key.ends_with(keys::CONVERSATION));
    storage.push(("chat-widget:conversation".into(), r#"{"v":1,"conversationId":"c1"}"#.into()));
    let mut tab = Tab::open(storage, 1_000);
    tab.answer_messages(&["u1 visitor hello", "a1 assistant hi"]);
    assert_eq!((tab.texts(), tab.last().delivery), (vec!["hello", "hi", "hello"], Delivery::Failed));
}

#[test]
fn does_not_match_a_message_without_an_attempt() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.send("ok");
    tab.answer_messages(&["a1 assistant first", "u0 visitor ok"]);
    assert_eq!(
        (tab.texts(), tab.last().delivery),
        (vec!["one", "first", "ok", "two", "ok"], Delivery::Waiting)
    );
    tab.reply(2, "second");
    assert_eq!(tab.attempts().len(), 3);
}

#[test]
fn delivers_only_the_failed_message_found_in_the_history() {
    let mut tab = Tab::in_conversation();
    for text in ["two", "three"] {
        tab.send(text);
        tab.refuse(Send, 400, "INVALID_REQUEST", None);
    }
    tab.answer_messages(&["u2 visitor two"]);
    assert_eq!((tab.delivery("two"), tab.delivery("three")), (Delivery::Delivered, Delivery::Failed));
    assert_eq!(tab.count_stored(keys::OUTBOX), 1, "the other message can be retried");
    assert_eq!(tab.emitted_texts(), ["one", "first", "two"]);
}

#[test]
fn shows_both_messages_if_a_response_corrects_a_matched_echo() {
    let mut tab = Tab::in_conversation_sending("ok");
    tab.answer(Messages, r#"{"messages":[{"id":"u9","role":"visitor","content":"ok"}],"nextAfter":"u9"}"#);
    assert_eq!(tab.texts(), ["one", "first", "ok"]);
    tab.reply(2, "second");
    assert_eq!(tab.waiting(Messages).expect("a poll").query.len(), 1, "from the beginning");
    tab.answer_messages(&[
        "u1 visitor one",
        "a1 assistant first",
        "u9 visitor ok",
        "u2 visitor ok",
        "a2 assistant second",
    ]);
    assert_eq!(tab.texts(), ["one", "first", "ok", "ok", "second"]);
}

#[test]
fn a_message_polled_in_a_conversation_now_gone_was_delivered() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer_messages(&["u2 visitor two"]);
    tab.refuse(Send, 404, "NOT_FOUND", None);
    assert_eq!((tab.delivery("two"), tab.count_stored(keys::OUTBOX)), (Delivery::Delivered, 0));
    assert_eq!((tab.attempts().len(), tab.session.conversation_id()), (2, None));

    let mut tab = Tab::in_conversation_sending("two");
    tab.answer_messages(&["u2 visitor two"]);
    tab.refuse(Send, 403, "", None);
    assert_eq!((tab.delivery("two"), tab.session.awaits_reply()), (Delivery::Delivered, true));
    assert!(tab.session.conversation_id().is_some());
}

#[test]
fn a_repeated_attempt_whose_response_has_no_id_is_shown_as_its_polled_echo() {
    let mut tab = Tab::in_conversation_sending("two");
    let pending = r#"{"v":2,"text":"three","written":5,"attempts":0}"#;
    tab.receive_write("outbox:m9", pending);
    tab.wait_for(Messages);
    // Another tab that led for a moment has sent "three", and this tab polls it before it hears of that.
    tab.answer_messages(&["u1 visitor one", "a1 assistant first", "u3 visitor three"]);
    let attempted = r#""attempts":1,"key":"chat-visitor-m9","body":"{}""#;
    tab.receive_write("outbox:m9", &pending.replace(r#""attempts":0"#, attempted));
    tab.reply(2, "second");
    assert_eq!(tab.waiting(Send).and_then(|request| request.body.as_deref()), Some("{}"), "the same request");
    tab.answer(Send, r#"{"conversationId":"c1"}"#);
    assert_eq!(tab.texts().iter().filter(|text| **text == "three").count(), 1, "{:?}", tab.texts());
    assert_eq!(tab.delivery("three"), Delivery::Delivered);
}

/// Returns a tab in a conversation, with a message "hello" that has waited for the network for more than a
/// day. `reloaded` is whether the page was loaded again in the meantime.
fn tab_with_an_expired_message(reloaded: bool) -> Tab {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.send("hello");
    if reloaded {
        tab.now_ms += 25 * 60 * 60 * 1000;
        tab = tab.reload();
    } else {
        tab.wait(25 * 60 * 60 * 1000);
        tab.feed(Input::Online(true));
    }
    assert_eq!(tab.delivery("hello"), Delivery::Failed);
    tab
}

#[test]
fn an_echo_is_not_that_of_a_message_that_expired_without_an_attempt() {
    for reloaded in [false, true] {
        let mut tab = tab_with_an_expired_message(reloaded);
        tab.wait_for(Messages);
        // The visitor has written the same on another device.
        tab.answer_messages(&["u1 visitor one", "a1 assistant first", "u2 visitor hello"]);
        assert_eq!(tab.texts(), ["one", "first", "hello", "hello"]);
        assert_eq!((tab.last().delivery, tab.count_stored(keys::OUTBOX)), (Delivery::Failed, 1));
    }
}

#[test]
fn a_message_is_found_in_the_history_although_an_expired_one_has_the_same_text() {
    for reloaded in [false, true] {
        let mut tab = tab_with_an_expired_message(reloaded);
        tab.wait_for(Messages);
        let before = tab.attempts().len();
        tab.send("hello");
        tab.fail(Send);
        tab.answer_messages(&["u2 visitor hello"]);
        assert_eq!((tab.last().delivery, tab.count_stored(keys::OUTBOX)), (Delivery::Delivered, 1));
        tab.wait(25_000);
        assert_eq!(tab.attempts().len(), before + 1);
    }
}
