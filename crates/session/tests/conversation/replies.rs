//! A reply that did not come with the response is polled.

use crate::conversation::fixture::{NOTHING, Tab};
use chat_protocol::Endpoint::{Messages, Presence, Send};
use chat_session::{Delivery, Notice};

#[test]
fn polls_for_a_reply_missing_from_the_response() {
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","message":{"content":""}}"#);
    assert!(tab.session.awaits_reply());
    tab.answer_messages(&["u1 visitor hello"]);
    tab.wait(3_000);
    tab.answer_messages(&["a1 assistant at last"]);
    assert_eq!((tab.texts(), tab.session.awaits_reply()), (vec!["hello", "at last"], false));
}

#[test]
fn polls_for_a_reply_faster_than_the_hint() {
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","message":{"content":""}}"#);
    tab.answer(Messages, r#"{"messages":[]}"#);
    tab.answer(Presence, r#"{"suggestedMessageIntervalMs":60000,"shouldPollMessages":false}"#);
    tab.wait(3_000);
    assert!(tab.waiting(Messages).is_some());
}

#[test]
fn shows_a_notice_if_no_reply_arrives() {
    let mut tab = Tab::sending("hello");
    tab.answer(
        Send,
        r#"{"conversationId":"c1","aiStatus":"provider_error","aiStatusMessage":"stack trace"}"#,
    );
    tab.wait(31_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (Some(Notice::NoReply), false));
    assert_eq!(tab.texts(), ["hello"], "nothing internal is shown");
}

#[test]
fn ignores_an_empty_message_in_the_history() {
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","aiStatus":"provider_error"}"#);
    tab.answer_messages(&["u1 visitor hello", "a1 assistant  "]);
    assert_eq!((tab.texts(), tab.session.awaits_reply(), tab.session.unread()), (vec!["hello"], true, 0));
}

#[test]
fn shows_no_notice_while_an_operator_is_online() {
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.answer(Presence, r#"{"operatorOnline":true}"#);
    tab.wait(31_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (None, false));
}

#[test]
fn a_message_of_the_visitor_from_elsewhere_is_not_a_reply() {
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.answer_messages(&["u1 visitor hello", "u2 visitor by phone"]);
    assert_eq!((tab.texts(), tab.emitted_texts()), (vec!["hello", "by phone"], vec!["hello"]));
    assert!(tab.session.awaits_reply());
}

#[test]
fn a_late_reply_removes_the_notice() {
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.wait(31_000);
    assert_eq!(tab.session.notice(), Some(Notice::NoReply));
    tab.wait_for(Messages);
    tab.answer_messages(&["a1 assistant at last"]);
    assert_eq!(tab.session.notice(), None);
}

#[test]
fn still_awaits_the_reply_after_a_reload_if_only_the_echo_was_polled() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer_messages(&["u2 visitor two"]);
    let next = tab.reload();
    assert_eq!((next.attempts().len(), next.delivery("two")), (0, Delivery::Delivered));
    assert!(next.session.awaits_reply());
}

#[test]
fn awaits_no_reply_to_a_failed_message_without_an_echo() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer(Messages, NOTHING);
    tab.refuse(Send, 403, "", None);
    assert_eq!((tab.delivery("two"), tab.session.awaits_reply()), (Delivery::Failed, false));
}

#[test]
fn keeps_waiting_for_a_reply_while_a_message_is_in_flight() {
    let mut tab = Tab::sending("one");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.wait(20_000);
    tab.send("two");
    tab.wait(15_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (None, true));
    tab.reply(2, "to both");
    tab.wait(60_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (None, false));
}
