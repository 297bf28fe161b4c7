//! Tests of what is said of an answer that is awaited: nothing that is not true.

use crate::site::{NOTHING, Tab};
use chat_protocol::Endpoint::{Messages, Presence, Send};
use chat_session::{Delivery, Input, Notice, Wait};

const ECHO: &str = r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#;
const MARA: &str = r#"{"messages":[{"id":"u1","role":"visitor","content":"one"},{"id":"a1","role":"assistant","content":"first"},{"id":"o1","role":"operator","content":"Mara here"}]}"#;

#[test]
fn a_fallback_text_is_an_answer() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    let fallback =
        r#""message":{"id":"a2","role":"assistant","content":"Sorry"},"aiStatus":"provider_error""#;
    tab.answer(Send, &format!(r#"{{"conversationId":"c1","userMessageId":"u2",{fallback}}}"#));
    assert_eq!((tab.session.awaits_reply(), tab.session.is_writing()), (false, false));
    tab.wait(60_000);
    assert_eq!((tab.session.notice(), tab.session.wait()), (None, Wait::Short));
}

#[test]
fn a_failure_without_a_text_is_told_at_once_and_a_late_answer_is_still_read() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2","aiStatus":"provider_error"}"#);
    assert_eq!((tab.session.notice(), tab.session.is_writing()), (Some(Notice::NoReply), false));
    tab.wait_for(Messages);
    let late = r#"{"id":"a2","role":"assistant","content":"at last"}"#;
    tab.answer(Messages, &ECHO.replace("}]", &format!("}},{late}]")));
    assert_eq!((tab.session.notice(), tab.last().text.as_ref()), (None, "at last"));
}

#[test]
fn the_assistant_is_writing_once_the_service_is_known_to_have_the_message() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    assert!(tab.session.awaits_reply() && !tab.session.is_writing(), "it is still being sent");
    let sent_ms = tab.now_ms;
    if tab.waiting(Messages).is_some() {
        tab.answer(Messages, NOTHING);
    }
    tab.wait_for(Messages);
    assert!(tab.now_ms - sent_ms <= 2_400, "looked for after {} ms", tab.now_ms - sent_ms);
    tab.answer(Messages, ECHO);
    assert_eq!((tab.delivery("two"), tab.session.is_writing()), (Delivery::Delivered, true));
    tab.reply(2, "second");
    assert!(!tab.session.is_writing());
}

#[test]
fn the_assistant_does_not_write_where_a_person_has_taken_over() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Messages);
    tab.answer(Messages, MARA);
    tab.say("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2"}"#);
    assert!(!tab.session.is_writing());
    tab.wait(60_000);
    assert_eq!(
        (tab.session.notice(), tab.session.wait()),
        (None, Wait::Short),
        "a person takes a person's time"
    );
}

#[test]
fn a_long_wait_is_explained_and_then_a_person_is_offered() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
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
fn offline_nothing_is_said_of_the_wait() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.feed(Input::Online(false));
    tab.wait(30_000);
    assert_eq!((tab.session.wait(), tab.session.is_writing()), (Wait::Short, false));
}

#[test]
fn a_new_message_takes_the_notice_of_the_one_before_away() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2","aiStatus":"provider_error"}"#);
    tab.say("three");
    assert_eq!(tab.session.notice(), None);
}

#[test]
fn presence_is_asked_at_once_when_a_person_writes() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Presence);
    tab.answer(Presence, r#"{"operatorOnline":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.wait_for(Messages);
    let asked = tab.count(Presence);
    tab.answer(Messages, MARA);
    assert_eq!(tab.count(Presence), asked + 1);
}
