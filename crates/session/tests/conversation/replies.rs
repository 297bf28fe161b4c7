//! A reply that did not come with the answer is looked for.

use crate::site::{NOTHING, Tab};
use chat_protocol::Endpoint::{Messages, Presence, Send};
use chat_session::{Delivery, Notice};

#[test]
fn an_empty_reply_is_looked_for_until_it_is_there() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","message":{"content":""}}"#);
    assert!(tab.session.awaits_reply());
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"}]}"#);
    tab.wait(3_000);
    tab.answer(Messages, r#"{"messages":[{"id":"a1","role":"assistant","content":"at last"}]}"#);
    assert_eq!((tab.texts(), tab.session.awaits_reply()), (vec!["hello", "at last"], false));
}

#[test]
fn a_hint_to_poll_slowly_does_not_slow_the_search_for_a_reply() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","message":{"content":""}}"#);
    tab.answer(Messages, r#"{"messages":[]}"#);
    tab.answer(Presence, r#"{"suggestedMessageIntervalMs":60000,"shouldPollMessages":false}"#);
    tab.wait(3_000);
    assert!(tab.waiting(Messages).is_some());
}

#[test]
fn a_reply_that_never_comes_ends_in_a_notice() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(
        Send,
        r#"{"conversationId":"c1","aiStatus":"provider_error","aiStatusMessage":"stack trace"}"#,
    );
    tab.wait(31_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (Some(Notice::NoReply), false));
    assert_eq!(tab.texts(), ["hello"], "nothing internal is shown");
}

#[test]
fn an_empty_message_in_the_history_is_no_bubble_and_no_reply() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","aiStatus":"provider_error"}"#);
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"},{"id":"a1","role":"assistant","content":" "}]}"#);
    assert_eq!((tab.texts(), tab.session.awaits_reply(), tab.session.unread()), (vec!["hello"], true, 0));
}

#[test]
fn a_person_who_is_there_is_waited_for_without_a_complaint() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.answer(Presence, r#"{"operatorOnline":true}"#);
    tab.wait(31_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (None, false));
}

#[test]
fn what_the_visitor_writes_elsewhere_is_no_reply() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"},{"id":"u2","role":"visitor","content":"by phone"}]}"#,
    );
    assert_eq!((tab.texts(), tab.told()), (vec!["hello", "by phone"], vec!["hello"]));
    assert!(tab.session.awaits_reply());
}

#[test]
fn a_reply_that_comes_after_all_takes_the_notice_away() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.wait(31_000);
    assert_eq!(tab.session.notice(), Some(Notice::NoReply));
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"a1","role":"assistant","content":"at last"}]}"#);
    assert_eq!(tab.session.notice(), None);
}

#[test]
fn an_echo_that_is_quicker_than_the_answer_makes_a_reply_due_on_the_next_page_as_well() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer(Messages, r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#);
    let next = tab.reload();
    assert_eq!((next.attempts().len(), next.delivery("two")), (0, Delivery::Delivered));
    assert!(next.session.awaits_reply());
}

#[test]
fn a_message_of_which_no_trace_was_read_and_that_failed_makes_no_reply_due() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer(Messages, NOTHING);
    tab.refuse(Send, 403, "", None);
    assert_eq!((tab.delivery("two"), tab.session.awaits_reply()), (Delivery::Failed, false));
}

#[test]
fn a_reply_that_may_come_with_the_next_answer_is_not_given_up() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    tab.wait(20_000);
    tab.say("two");
    tab.wait(15_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (None, true));
    tab.reply(2, "to both");
    tab.wait(60_000);
    assert_eq!((tab.session.notice(), tab.session.awaits_reply()), (None, false));
}
