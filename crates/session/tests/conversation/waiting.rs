//! The wait for a reply, as the visitor sees it: only what is true is shown.

use crate::conversation::fixture::{NOTHING, Tab};
use chat_protocol::Endpoint::{Messages, Presence, Send};
use chat_session::{Delivery, Input, Notice, Wait};

const ECHO: &str = r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#;
const MARA: &str = r#"{"messages":[{"id":"u1","role":"visitor","content":"one"},{"id":"a1","role":"assistant","content":"first"},{"id":"o1","role":"operator","content":"Mara here"}]}"#;

#[test]
fn treats_a_fallback_text_as_a_reply() {
    let mut tab = Tab::in_conversation_sending("two");
    let fallback =
        r#""message":{"id":"a2","role":"assistant","content":"Sorry"},"aiStatus":"provider_error""#;
    tab.answer(Send, &format!(r#"{{"conversationId":"c1","userMessageId":"u2",{fallback}}}"#));
    assert_eq!((tab.session.awaits_reply(), tab.session.is_writing()), (false, false));
    tab.wait(60_000);
    assert_eq!((tab.session.notice(), tab.session.wait()), (Some(Notice::Unanswered), Wait::Short));
}

#[test]
fn shows_a_provider_error_at_once_and_still_polls_a_late_reply() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2","aiStatus":"provider_error"}"#);
    assert_eq!((tab.session.notice(), tab.session.is_writing()), (Some(Notice::NoReply), false));
    tab.wait_for(Messages);
    let late = r#"{"id":"a2","role":"assistant","content":"at last"}"#;
    tab.answer(Messages, &ECHO.replace("}]", &format!("}},{late}]")));
    assert_eq!((tab.session.notice(), tab.last().text.as_ref()), (None, "at last"));
}

#[test]
fn shows_the_writing_indicator_only_after_the_message_arrived() {
    let mut tab = Tab::in_conversation_sending("two");
    assert!(tab.session.awaits_reply() && !tab.session.is_writing(), "it is still being sent");
    let sent_ms = tab.now_ms;
    if tab.waiting(Messages).is_some() {
        tab.answer(Messages, NOTHING);
    }
    tab.wait_for(Messages);
    assert!(tab.now_ms - sent_ms <= 2_400, "polled after {} ms", tab.now_ms - sent_ms);
    tab.answer(Messages, ECHO);
    assert_eq!((tab.delivery("two"), tab.session.is_writing()), (Delivery::Delivered, true));
    tab.reply(2, "second");
    assert!(!tab.session.is_writing());
}

#[test]
fn shows_no_writing_indicator_after_an_operator_took_over() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Messages);
    tab.answer(Messages, MARA);
    tab.send("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2"}"#);
    assert!(!tab.session.is_writing());
    tab.wait(60_000);
    assert_eq!(
        (tab.session.notice(), tab.session.wait()),
        (None, Wait::Short),
        "a wait for an operator is not explained"
    );
}

#[test]
fn explains_a_long_wait_and_then_offers_a_person() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.wait(9_999);
    assert_eq!(tab.session.wait(), Wait::Short);
    tab.wait(1);
    assert_eq!(tab.session.wait(), Wait::Long);
    tab.wait(15_000);
    assert_eq!(tab.session.wait(), Wait::VeryLong);
    tab.reply(2, "second");
    assert_eq!(tab.session.wait(), Wait::Short);
}

#[test]
fn explains_no_wait_while_offline() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.feed(Input::Online(false));
    tab.wait(30_000);
    assert_eq!((tab.session.wait(), tab.session.is_writing()), (Wait::Short, false));
}

#[test]
fn a_new_message_removes_the_earlier_notice() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2","aiStatus":"provider_error"}"#);
    tab.send("three");
    assert_eq!(tab.session.notice(), None);
}

#[test]
fn polls_presence_at_once_when_an_operator_writes() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Presence);
    tab.answer(Presence, r#"{"operatorOnline":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.wait_for(Messages);
    let requests = tab.count(Presence);
    tab.answer(Messages, MARA);
    assert_eq!(tab.count(Presence), requests + 1);
}

#[test]
fn while_a_person_is_awaited_nobody_is_said_to_be_writing() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2","lead":{"needsHandoff":true}}"#);
    assert!(tab.session.awaits_person() && !tab.session.is_writing());
    assert!(tab.waiting(Messages).is_some(), "another service may have a reply yet");
    tab.wait(60_000);
    assert_eq!((tab.session.notice(), tab.session.wait()), (None, Wait::Short));
    tab.wait_for(Messages);
    tab.answer(Messages, MARA);
    assert!(!tab.session.awaits_person());
}

#[test]
fn an_operator_is_writing_until_a_poll_says_otherwise_or_none_comes() {
    let typing = r#"{"messages":[],"operatorTyping":{"name":"Mara"}}"#;
    let mut tab = Tab::in_conversation();
    tab.wait_for(Messages);
    tab.answer(Messages, typing);
    assert_eq!(tab.session.person_writing(), Some("Mara"));
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[]}"#);
    assert_eq!(tab.session.person_writing(), None);
    tab.wait_for(Messages);
    tab.answer(Messages, typing);
    tab.wait(11_000);
    assert_eq!(tab.session.person_writing(), Some("Mara"));
    tab.wait(1_000);
    assert_eq!(tab.session.person_writing(), None, "no poll was answered");
    tab.answer(Messages, typing);
    tab.feed(Input::Online(false));
    assert_eq!(tab.session.person_writing(), None, "without a network, nobody knows");
    tab.feed(Input::Online(true));
    tab.wait_for(Messages);
    tab.answer(Messages, typing);
    tab.feed(Input::Reset);
    assert_eq!(tab.session.person_writing(), None, "they wrote to another visitor");
}

#[test]
fn the_name_of_an_operator_is_that_of_their_last_message() {
    let mut tab = Tab::in_conversation();
    let message = |id: &str, author: &str| {
        format!(r#"{{"messages":[{{"id":"{id}","role":"operator","content":"x","author":{author}}}]}}"#)
    };
    tab.wait_for(Messages);
    tab.answer(Messages, &message("o1", r#"{"name":"Mara"}"#));
    assert_eq!(tab.session.person_name(), Some("Mara"));
    let mut next = tab.reload();
    assert_eq!(next.session.person_name(), Some("Mara"), "the name is stored");
    next.wait_for(Messages);
    next.answer(Messages, &message("o2", "null"));
    assert_eq!(next.session.person_name(), None);
}
