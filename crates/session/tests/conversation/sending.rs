//! What the visitor writes is sent once, whatever becomes of the answer.

use crate::site::{LEAD_MS, Tab};
use chat_protocol::Endpoint::{Config, Messages, Send};
use chat_session::{Answer, Delivery, Input, Notice, SessionEvent, Start};

#[test]
fn a_first_message_starts_a_conversation_and_gets_its_answer() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    assert!(tab.session.awaits_reply());
    let request = tab.waiting(Send).expect("a request");
    let visitor = tab.session.visitor_id();
    let expected =
        format!(r#"{{"message":"hello","sourcePage":"/rooms","visitor":{{"visitorId":"{visitor}"}}}}"#);
    assert_eq!(request.body.as_deref(), Some(expected.as_str()));
    assert!(request.key.as_ref().expect("a key").as_str().starts_with(&format!("chat-{visitor}-m")));
    tab.reply(1, "hi");
    assert_eq!((tab.texts(), tab.told()), (vec!["hello", "hi"], vec!["hello", "hi"]));
    assert_eq!((tab.delivery("hello"), tab.session.awaits_reply()), (Delivery::Delivered, false));
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c1"));
}

#[test]
fn the_next_message_waits_for_the_one_before_and_carries_the_conversation() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.say("two");
    assert_eq!(tab.attempts().len(), 1);
    assert_eq!(tab.delivery("two"), Delivery::Waiting);
    tab.reply(1, "first");
    assert!(tab.attempts()[1].body.as_ref().expect("a body").contains(r#""conversationId":"c1""#));
    tab.reply(2, "second");
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
}

#[test]
fn every_attempt_repeats_body_and_key_to_the_byte() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    for _ in 0..5 {
        tab.lose(Send);
        tab.wait_for(Send);
    }
    let first = tab.attempts()[0].clone();
    assert_eq!(tab.attempts().len(), 6);
    assert!(tab.attempts().iter().all(|attempt| (&attempt.body, &attempt.key) == (&first.body, &first.key)));
    assert_eq!(tab.delivery("hello"), Delivery::Sending);
    tab.lose(Send);
    tab.wait(600_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (6, Delivery::Failed));
}

#[test]
fn a_visitors_retry_reuses_the_key() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (1, Delivery::Failed));
    tab.feed(Input::Retry(tab.key("hello")));
    assert_eq!(tab.attempts()[0].key, tab.attempts()[1].key);
    assert_eq!(tab.attempts()[0].body, tab.attempts()[1].body);
    tab.reply(1, "hi");
    assert_eq!(tab.texts(), ["hello", "hi"]);
}

#[test]
fn only_what_a_repetition_can_change_is_repeated() {
    for (status, code) in
        [(400, "INVALID_REQUEST"), (401, "INVALID_TOKEN"), (402, "INSUFFICIENT_QUOTA"), (403, "")]
    {
        let mut tab = Tab::open(vec![], 0);
        tab.say("hello");
        tab.refuse(Send, status, code, None);
        tab.wait(600_000);
        assert_eq!((tab.attempts().len(), tab.delivery("hello")), (1, Delivery::Failed), "{status}");
    }
    for status in [408, 409, 425, 429, 500, 502, 503, 504] {
        let mut tab = Tab::open(vec![], 0);
        tab.say("hello");
        tab.refuse(Send, status, "", None);
        tab.wait_for(Send);
        assert_eq!(tab.attempts().len(), 2, "{status}");
    }
}

#[test]
fn retry_after_is_waited_for() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 429, "RATE_LIMITED", Some(20_000));
    tab.wait(19_999);
    assert_eq!(tab.attempts().len(), 1);
    tab.wait(1000);
    assert_eq!(tab.attempts().len(), 2);
}

#[test]
fn an_idempotency_conflict_is_settled_by_reading_and_never_by_sending() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"user","content":"one"},{"id":"a1","role":"assistant","content":"first"},
            {"id":"u2","role":"user","content":"two"},{"id":"a2","role":"assistant","content":"second"}]}"#,
    );
    tab.wait(60_000);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Delivered));
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
}

#[test]
fn an_idempotency_conflict_without_a_trace_of_the_message_is_believed() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer(Messages, r#"{"messages":[{"id":"a1","role":"assistant","content":"first"}]}"#);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Delivered));
    assert!(tab.session.awaits_reply());
}

#[test]
fn a_conversation_that_the_service_forgot_starts_anew_with_the_text_kept() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    let refused = tab.waiting(Send).expect("a request").clone();
    tab.refuse(Send, 404, "NOT_FOUND", None);
    let anew = tab.waiting(Send).expect("another request").clone();
    assert!(!anew.body.as_ref().expect("a body").contains("conversationId"));
    assert_ne!(refused.key, anew.key, "another body needs another key");
    assert_eq!(tab.delivery("two"), Delivery::Sending);
}

#[test]
fn a_proxy_that_is_not_there_is_not_taken_for_a_conversation_that_is_gone() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer_with(Send, Answer { status: 404, ..Default::default() });
    assert_eq!(tab.delivery("two"), Delivery::Failed);
    assert!(tab.session.conversation_id().is_some());
}

#[test]
fn quota_and_blocks_are_told_apart() {
    let refusals = [
        (402, "INSUFFICIENT_QUOTA", Some(Notice::Quota)),
        (402, "PAYMENT_REQUIRED", Some(Notice::Quota)),
        (400, "INSUFFICIENT_QUOTA", Some(Notice::Quota)),
        (400, "INVALID_REQUEST", None),
    ];
    for (status, code, notice) in refusals {
        let mut tab = Tab::open(vec![], 0);
        tab.say("hello");
        tab.refuse(Send, status, code, None);
        assert_eq!((tab.session.notice(), tab.delivery("hello")), (notice, Delivery::Failed));
    }
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","blocked":true}"#);
    assert_eq!((tab.session.notice(), tab.delivery("hello")), (Some(Notice::Blocked), Delivery::Delivered));
}

#[test]
fn a_message_written_offline_goes_out_at_once_when_the_network_is_back() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.say("hello");
    tab.wait(3_600_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Waiting));
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 1);
}

#[test]
fn what_cannot_be_sent_is_not_taken() {
    let mut tab = Tab::open(vec![], 0);
    tab.say(" \n ");
    tab.say(&"a".repeat(4001));
    assert!(tab.session.entries().is_empty());
}

#[test]
fn a_message_frozen_into_a_conversation_that_a_poll_found_gone_is_not_lost() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.refuse(Send, 502, "", None);
    tab.refuse(Messages, 404, "NOT_FOUND", None);
    assert!(tab.session.conversation_id().is_none());
    tab.wait(30_000);
    tab.refuse(Send, 404, "NOT_FOUND", None);
    let anew = tab.waiting(Send).expect("another request").clone();
    assert!(!anew.body.expect("a body").contains("conversationId"));
}

#[test]
fn what_goes_wrong_is_told_to_the_page_with_the_path_and_the_code() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.say("again");
    tab.lose(Send);
    let told: Vec<(&str, &str)> = (tab.emitted.iter())
        .filter_map(|event| match event {
            SessionEvent::Error { code, message } => Some((code.as_str(), message.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(told[0], ("INVALID_REQUEST", "/chat/messages 400 INVALID_REQUEST: no (request r)"));
    assert_eq!(told[1].0, "NETWORK");
    let waiting = tab.waiting(Config).is_some();
    assert!(waiting, "nothing else was asked for");
    tab.wait(15_000);
    assert!(
        tab.emitted
            .iter()
            .any(|event| matches!(event, SessionEvent::Error { code, .. } if code == "TIMEOUT"))
    );
}

#[test]
fn asking_again_sends_the_last_message_as_a_new_one() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","aiStatus":"provider_error"}"#);
    tab.wait(31_000);
    assert_eq!(tab.session.notice(), Some(Notice::NoReply));
    tab.feed(Input::AskAgain { page_path: "/there".into() });
    assert_eq!((tab.session.notice(), tab.attempts().len()), (None, 2));
    assert_ne!(tab.attempts()[0].key, tab.attempts()[1].key);
    tab.reply(2, "hi");
    assert_eq!(tab.texts(), ["hello", "hello", "hi"]);
}

#[test]
fn a_silent_service_is_given_up_on_after_its_time() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    let deadline_ms = tab.waiting(Send).expect("a request").deadline_ms;
    assert_eq!(deadline_ms, tab.now_ms + 30_000);
    tab.wait(29_999);
    assert_eq!((tab.attempts().len(), tab.open.iter().filter(|open| open.endpoint == Send).count()), (1, 1));
    tab.wait(2_000);
    assert_eq!(tab.attempts().len(), 2, "tried again");
}

#[test]
fn a_first_message_that_meets_no_conversation_does_not_begin_another() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 404, "NOT_FOUND", None);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (1, Delivery::Failed));
}

#[test]
fn a_message_that_was_never_tried_awaits_no_reply() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.say("hello");
    assert!(!tab.session.awaits_reply());
    tab.feed(Input::Online(true));
    assert!(tab.session.awaits_reply());
}

#[test]
fn a_message_waits_a_day_and_not_longer() {
    let day_ms = 24 * 60 * 60 * 1000;
    for (age_ms, attempts) in [(day_ms - 1_000, 1), (day_ms + 1, 0)] {
        let mut tab = Tab::open(vec![], 0);
        tab.feed(Input::Online(false));
        tab.say("hello");
        tab.now_ms = LEAD_MS + age_ms;
        tab.feed(Input::Online(true));
        tab.wait(LEAD_MS);
        assert_eq!(
            (tab.attempts().len(), tab.delivery("hello") == Delivery::Failed),
            (attempts, attempts == 0)
        );
    }
}

#[test]
fn between_two_attempts_a_message_waits_while_there_is_no_network() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.lose(Send);
    assert_eq!(tab.delivery("hello"), Delivery::Sending);
    tab.feed(Input::Online(false));
    assert_eq!(tab.delivery("hello"), Delivery::Waiting);
    tab.feed(Input::Online(true));
    tab.feed(Input::Online(false));
    assert_eq!(tab.delivery("hello"), Delivery::Sending, "its answer may still come");
    tab.lose(Send);
    assert_eq!(tab.delivery("hello"), Delivery::Waiting);
}

#[test]
fn a_message_whose_page_was_reloaded_in_the_middle_of_an_attempt_waits_while_there_is_no_network() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    assert_eq!(tab.delivery("hello"), Delivery::Sending);
    let without_network = Start { visible: true, seed: 7, ..Start::default() };
    let mut next = Tab::start(without_network, tab.storage, 1_000);
    assert_eq!((next.attempts().len(), next.delivery("hello")), (0, Delivery::Waiting));
    next.feed(Input::Online(true));
    assert_eq!((next.attempts().len(), next.delivery("hello")), (1, Delivery::Sending));
}

#[test]
fn a_message_that_is_tried_again_stands_behind_what_came_since() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.say("three");
    tab.reply(3, "third");
    tab.feed(Input::Retry(tab.key("two")));
    assert_eq!(tab.texts(), ["one", "first", "three", "third", "two"]);
}

#[test]
fn only_a_message_that_failed_is_tried_again() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.say("two");
    tab.feed(Input::Retry(tab.key("two")));
    assert_eq!((tab.delivery("one"), tab.delivery("two")), (Delivery::Failed, Delivery::Sending));
    tab.reply(2, "second");
    assert_eq!((tab.attempts().len(), tab.texts()), (2, vec!["one", "two", "second"]));
}

#[test]
fn a_network_that_comes_back_ends_the_pause_between_two_attempts() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    for _ in 0..4 {
        tab.lose(Send);
        tab.wait_for(Send);
    }
    tab.lose(Send);
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 5, "it was there all the time");
    tab.feed(Input::Online(false));
    assert!(!tab.session.online());
    tab.feed(Input::Online(true));
    assert!(tab.session.online());
    assert_eq!(tab.attempts().len(), 6);
}

#[test]
fn a_first_message_that_meets_an_idempotency_conflict_fails_since_there_is_nothing_to_read() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (1, Delivery::Failed));
}

#[test]
fn a_service_that_answers_from_another_conversation_has_begun_it() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer(
        Send,
        r#"{"conversationId":"c2","userMessageId":"u1","message":{"id":"b1","role":"assistant","content":"hello again"}}"#,
    );
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c2"));
    assert_eq!(tab.texts(), ["one", "first", "two", "hello again"]);
    assert_eq!((tab.delivery("two"), tab.stored_as("outbox:")), (Delivery::Delivered, 0));
}

#[test]
fn a_quota_that_was_used_up_is_no_longer_held_against_a_visitor_who_comes_back() {
    let outcomes =
        [("quota_insufficient", Notice::Quota, None), ("blocked", Notice::Blocked, Some(Notice::Blocked))];
    for (outcome, notice, later) in outcomes {
        let mut tab = Tab::open(vec![], 0);
        tab.look(true);
        tab.say("hello");
        tab.answer(Send, &format!(r#"{{"conversationId":"c1","aiStatus":"{outcome}"}}"#));
        assert_eq!(tab.session.notice(), Some(notice));
        tab.look(false);
        tab.look(true);
        assert_eq!(tab.session.notice(), later);
    }
}

#[test]
fn a_visitor_has_an_answer_once_somebody_has_answered() {
    let mut tab = Tab::open(vec![], 0);
    assert!(!tab.session.has_answers());
    tab.say("hello");
    assert!(!tab.session.has_answers());
    tab.reply(1, "hi");
    assert!(tab.session.has_answers());
}
