//! Sending: each message arrives once, whatever happens to the response.

use crate::conversation::fixture::{Tab, json};
use chat_protocol::Endpoint::{Config, Messages, Send};
use chat_session::{Answer, Delivery, Input, Notice, SessionEvent, Start};

#[test]
fn the_first_message_starts_a_conversation_and_gets_a_reply() {
    let mut tab = Tab::sending("hello");
    assert!(tab.session.awaits_reply());
    let request = tab.waiting(Send).expect("a request");
    let visitor = tab.session.visitor_id();
    let expected =
        format!(r#"{{"message":"hello","sourcePage":"/rooms","visitor":{{"visitorId":"{visitor}"}}}}"#);
    assert_eq!(request.body.as_deref(), Some(expected.as_str()));
    assert!(request.key.as_ref().expect("a key").as_str().starts_with(&format!("chat-{visitor}-m")));
    tab.reply(1, "hi");
    assert_eq!((tab.texts(), tab.emitted_texts()), (vec!["hello", "hi"], vec!["hello", "hi"]));
    assert_eq!((tab.delivery("hello"), tab.session.awaits_reply()), (Delivery::Delivered, false));
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c1"));
}

#[test]
fn the_next_message_waits_for_the_first_and_names_the_conversation() {
    let mut tab = Tab::sending("one");
    tab.send("two");
    assert_eq!(tab.attempts().len(), 1);
    assert_eq!(tab.delivery("two"), Delivery::Waiting);
    tab.reply(1, "first");
    assert!(tab.attempts()[1].body.as_ref().expect("a body").contains(r#""conversationId":"c1""#));
    tab.reply(2, "second");
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
}

#[test]
fn every_attempt_repeats_body_and_key_byte_for_byte() {
    let mut tab = Tab::sending("hello");
    for _ in 0..5 {
        tab.fail(Send);
        tab.wait_for(Send);
    }
    let first = tab.attempts()[0].clone();
    assert_eq!(tab.attempts().len(), 6);
    assert!(tab.attempts().iter().all(|attempt| (&attempt.body, &attempt.key) == (&first.body, &first.key)));
    assert_eq!(tab.delivery("hello"), Delivery::Sending);
    tab.fail(Send);
    tab.wait(600_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (6, Delivery::Failed));
}

#[test]
fn a_retry_by_the_visitor_reuses_the_key() {
    let mut tab = Tab::sending("hello");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (1, Delivery::Failed));
    tab.feed(Input::Retry(tab.key("hello")));
    assert_eq!(tab.attempts()[0].key, tab.attempts()[1].key);
    assert_eq!(tab.attempts()[0].body, tab.attempts()[1].body);
    tab.reply(1, "hi");
    assert_eq!(tab.texts(), ["hello", "hi"]);
}

#[test]
fn retries_only_transient_errors() {
    for (status, code) in [
        (400, "INVALID_REQUEST"),
        (401, "INVALID_TOKEN"),
        (402, "INSUFFICIENT_QUOTA"),
        (403, ""),
        (404, "NOT_FOUND"),
        (409, "IDEMPOTENCY_CONFLICT"),
    ] {
        let mut tab = Tab::sending("hello");
        tab.refuse(Send, status, code, None);
        tab.wait(600_000);
        assert_eq!((tab.attempts().len(), tab.delivery("hello")), (1, Delivery::Failed), "{status}");
    }
    for status in [408, 409, 425, 429, 500, 502, 503, 504] {
        let mut tab = Tab::sending("hello");
        tab.refuse(Send, status, "", None);
        tab.wait_for(Send);
        assert_eq!(tab.attempts().len(), 2, "{status}");
    }
}

#[test]
fn waits_for_retry_after() {
    let mut tab = Tab::sending("hello");
    tab.refuse(Send, 429, "RATE_LIMITED", Some(20_000));
    tab.wait(19_999);
    assert_eq!(tab.attempts().len(), 1);
    tab.wait(1000);
    assert_eq!(tab.attempts().len(), 2);
}

#[test]
fn polls_instead_of_sending_after_an_idempotency_conflict() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer_messages(&["u1 user one", "a1 assistant first", "u2 user two", "a2 assistant second"]);
    tab.wait(60_000);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Delivered));
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
}

#[test]
fn believes_an_idempotency_conflict_on_a_message_that_polling_does_not_find() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer_messages(&["a1 assistant first"]);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Delivered));
    assert!(tab.session.awaits_reply());
}

#[test]
fn starts_a_new_conversation_with_the_same_text_if_the_old_one_is_gone() {
    let mut tab = Tab::in_conversation_sending("two");
    let refused = tab.waiting(Send).expect("a request").clone();
    tab.refuse(Send, 404, "NOT_FOUND", None);
    let renewed = tab.waiting(Send).expect("another request").clone();
    assert!(!renewed.body.as_ref().expect("a body").contains("conversationId"));
    assert_ne!(refused.key, renewed.key, "another body needs another key");
    assert_eq!(tab.delivery("two"), Delivery::Sending);
}

#[test]
fn a_404_without_an_envelope_does_not_end_the_conversation() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer_with(Send, Answer { status: 404, ..Default::default() });
    assert_eq!(tab.delivery("two"), Delivery::Failed);
    assert!(tab.session.conversation_id().is_some());
}

#[test]
fn distinguishes_quota_and_block_notices() {
    let refusals = [
        (402, "INSUFFICIENT_QUOTA", Some(Notice::Quota)),
        (402, "PAYMENT_REQUIRED", Some(Notice::Quota)),
        (400, "INSUFFICIENT_QUOTA", Some(Notice::Quota)),
        (400, "INVALID_REQUEST", None),
    ];
    for (status, code, notice) in refusals {
        let mut tab = Tab::sending("hello");
        tab.refuse(Send, status, code, None);
        assert_eq!((tab.session.notice(), tab.delivery("hello")), (notice, Delivery::Failed));
    }
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","blocked":true}"#);
    assert_eq!((tab.session.notice(), tab.delivery("hello")), (Some(Notice::Blocked), Delivery::Delivered));
}

#[test]
fn sends_a_message_written_offline_once_online() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.send("hello");
    tab.wait(3_600_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Waiting));
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 1);
}

#[test]
fn refuses_empty_and_too_long_messages() {
    let mut tab = Tab::open(vec![], 0);
    tab.send(" \n ");
    tab.send(&"a".repeat(4001));
    assert!(tab.session.entries().is_empty());
}

#[test]
fn resends_a_message_whose_conversation_a_poll_found_gone() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 502, "", None);
    tab.refuse(Messages, 404, "NOT_FOUND", None);
    assert!(tab.session.conversation_id().is_none());
    tab.wait(30_000);
    tab.refuse(Send, 404, "NOT_FOUND", None);
    let renewed = tab.waiting(Send).expect("another request").clone();
    assert!(!renewed.body.expect("a body").contains("conversationId"));
}

#[test]
fn emits_errors_with_path_and_code() {
    let mut tab = Tab::sending("hello");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.send("again");
    tab.fail(Send);
    let errors: Vec<(&str, &str)> = (tab.emitted.iter())
        .filter_map(|event| match event {
            SessionEvent::Error { code, message } => Some((code.as_str(), message.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(errors[0], ("INVALID_REQUEST", "/chat/messages 400 INVALID_REQUEST: no (request r)"));
    assert_eq!(errors[1].0, "NETWORK");
    let waiting = tab.waiting(Config).is_some();
    assert!(waiting, "only the config is requested");
    tab.wait(15_000);
    assert!(
        tab.emitted
            .iter()
            .any(|event| matches!(event, SessionEvent::Error { code, .. } if code == "TIMEOUT"))
    );
}

#[test]
fn ask_again_sends_the_last_message_as_a_new_one() {
    let mut tab = Tab::sending("hello");
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
fn cancels_a_request_at_its_deadline() {
    let mut tab = Tab::sending("hello");
    let deadline_ms = tab.waiting(Send).expect("a request").deadline_ms;
    assert_eq!(deadline_ms, tab.now_ms + 30_000);
    tab.wait(29_999);
    assert_eq!((tab.attempts().len(), tab.open.iter().filter(|open| open.endpoint == Send).count()), (1, 1));
    tab.wait(2_000);
    assert_eq!(tab.attempts().len(), 2, "another attempt");
}

#[test]
fn a_message_reloaded_in_mid_attempt_waits_while_offline() {
    let tab = Tab::sending("hello");
    assert_eq!(tab.delivery("hello"), Delivery::Sending);
    let offline = Start { visible: true, seed: 7, ..Start::default() };
    let mut next = Tab::start(offline, tab.storage, 1_000);
    assert_eq!((next.attempts().len(), next.delivery("hello")), (0, Delivery::Waiting));
    next.feed(Input::Online(true));
    assert_eq!((next.attempts().len(), next.delivery("hello")), (1, Delivery::Sending));
}

#[test]
fn a_retried_message_moves_to_the_end() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.send("three");
    tab.reply(3, "third");
    tab.feed(Input::Retry(tab.key("two")));
    assert_eq!(tab.texts(), ["one", "first", "three", "third", "two"]);
}

#[test]
fn ignores_a_retry_of_a_message_that_did_not_fail() {
    let mut tab = Tab::sending("one");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.send("two");
    tab.feed(Input::Retry(tab.key("two")));
    assert_eq!((tab.delivery("one"), tab.delivery("two")), (Delivery::Failed, Delivery::Sending));
    tab.reply(2, "second");
    assert_eq!((tab.attempts().len(), tab.texts()), (2, vec!["one", "two", "second"]));
}

#[test]
fn going_online_ends_the_back_off() {
    let mut tab = Tab::sending("hello");
    for _ in 0..4 {
        tab.fail(Send);
        tab.wait_for(Send);
    }
    tab.fail(Send);
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 5, "the browser was online before");
    tab.feed(Input::Online(false));
    assert!(!tab.session.online());
    tab.feed(Input::Online(true));
    assert!(tab.session.online());
    assert_eq!(tab.attempts().len(), 6);
}

#[test]
fn follows_the_service_to_another_conversation() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer(
        Send,
        r#"{"conversationId":"c2","userMessageId":"u1","message":{"id":"b1","role":"assistant","content":"hello again"}}"#,
    );
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c2"));
    assert_eq!(tab.texts(), ["one", "first", "two", "hello again"]);
    assert_eq!((tab.delivery("two"), tab.count_stored("outbox:")), (Delivery::Delivered, 0));
}

#[test]
fn writing_another_message_removes_every_notice_but_that_of_a_blocked_visitor() {
    for (status, body, notice, later) in [
        (402, r#"{"ok":false,"error":{"code":"INSUFFICIENT_QUOTA"}}"#, Notice::Quota, None),
        (
            200,
            r#"{"ok":true,"data":{"conversationId":"c1","aiStatus":"provider_error"}}"#,
            Notice::NoReply,
            None,
        ),
        (
            200,
            r#"{"ok":true,"data":{"conversationId":"c1","blocked":true}}"#,
            Notice::Blocked,
            Some(Notice::Blocked),
        ),
    ] {
        let mut tab = Tab::sending("hello");
        tab.answer_with(Send, Answer { status, body: json(body), ..Default::default() });
        assert_eq!(tab.session.notice(), Some(notice));
        tab.send("are you there?");
        assert_eq!(tab.session.notice(), later);
    }
}

#[test]
fn has_an_answer_after_the_first_reply() {
    let mut tab = Tab::open(vec![], 0);
    assert!(!tab.session.has_answers());
    tab.send("hello");
    assert!(!tab.session.has_answers());
    tab.reply(1, "hi");
    assert!(tab.session.has_answers());
}
