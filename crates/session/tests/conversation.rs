//! A conversation as a visitor has it: sent once, answered once, found again.

mod site;

use chat_protocol::Endpoint::{Config, Events, Messages, Presence, Send};
use chat_session::{Delivery, EntryKey, Input, News, Notice, Page, Start, keys};
use site::Tab;

fn key_of(tab: &Tab, text: &str) -> EntryKey {
    tab.session.entries().iter().find(|entry| &*entry.text == text).expect(text).key
}

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
    assert_eq!(tab.texts(), ["hello", "hi"]);
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
        tab.wait(60_000);
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
    tab.feed(Input::Retry(key_of(&tab, "hello")));
    assert_eq!(tab.attempts()[0].key, tab.attempts()[1].key);
    assert_eq!(tab.attempts()[0].body, tab.attempts()[1].body);
    tab.reply(1, "hi");
    assert_eq!(tab.texts(), ["hello", "hi"]);
}

#[test]
fn a_reload_in_the_middle_of_a_send_repeats_it_to_the_byte() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    let first = tab.attempts()[0].clone();
    let mut tab = tab.reload();
    let again = tab.waiting(Send).expect("sent again");
    assert_eq!((&again.body, &again.key), (&first.body, &first.key));
    tab.reply(1, "hi");
    assert_eq!(tab.texts(), ["hello", "hi"]);
    assert!(!tab.storage.iter().any(|(key, _)| key.starts_with(keys::OUTBOX)), "nothing waits any more");
}

#[test]
fn a_message_from_the_day_before_is_shown_as_failed_and_not_sent_by_itself() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.say("hello");
    let tab = Tab::open(tab.storage, 25 * 60 * 60 * 1000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed));
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
        tab.wait(60_000);
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
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.reply(1, "first");
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
fn an_idempotency_conflict_without_a_trace_of_the_message_is_shown_as_failed() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.reply(1, "first");
    tab.say("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"user","content":"one"}]}"#);
    tab.wait(60_000);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Failed));
}

#[test]
fn a_conversation_that_the_service_forgot_starts_anew_with_the_text_kept() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.reply(1, "first");
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
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.reply(1, "first");
    tab.say("two");
    tab.answer_with(Send, chat_session::Answer { status: 404, ..Default::default() });
    assert_eq!(tab.delivery("two"), Delivery::Failed);
    assert!(tab.session.conversation_id().is_some());
}

#[test]
fn history_is_read_after_a_reload_and_shown_once() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.reply(1, "hi");
    let mut tab = tab.reload();
    let history = r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"},{"id":"a1","role":"assistant","content":"hi"}],"nextAfter":"a1"}"#;
    assert_eq!(tab.waiting(Messages).expect("a read").query, [("conversationId", "c1".to_owned())]);
    tab.answer(Messages, history);
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["hello", "hi"], 0));
    tab.wait(120_000);
    let next = tab.waiting(Messages).expect("another read");
    assert_eq!(next.query[1], ("after", "a1".to_owned()));
}

#[test]
fn nothing_is_polled_without_a_conversation_nor_while_hidden_or_offline() {
    let mut tab = Tab::open(vec![], 0);
    tab.answer(Config, r#"{"config":{}}"#);
    tab.look(true);
    tab.wait(600_000);
    assert_eq!((tab.count(Messages), tab.count(Presence)), (0, 0));
    tab.say("hello");
    tab.reply(1, "hi");
    for forbid in [Input::Visible(false), Input::Online(false)] {
        tab.feed(forbid);
        tab.open.retain(|request| request.endpoint == Events);
        let before = (tab.count(Messages), tab.count(Presence));
        tab.wait(600_000);
        assert_eq!((tab.count(Messages), tab.count(Presence)), before);
    }
}

#[test]
fn a_chat_that_is_switched_off_asks_for_nothing_until_it_is_switched_on_again() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("hello");
    tab.reply(1, "hi");
    tab.answer(Config, r#"{"config":{"enabled":false}}"#);
    let before = (tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len());
    tab.open.clear();
    tab.say("anybody?");
    tab.wait(600_000);
    assert_eq!((tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len()), before);
    tab.feed(Input::ReloadConfig);
    tab.answer(Config, r#"{"config":{"enabled":true}}"#);
    assert_eq!(tab.attempts().len(), before.3 + 1);
}

#[test]
fn a_config_that_is_handed_over_is_not_asked_for_again() {
    let config = Some(site::json(r#"{"config":{"assistantName":"Clover"}}"#));
    let tab = Tab::start(Start { config, visible: true, online: true, ..Start::default() }, vec![], 0);
    assert_eq!(tab.count(Config), 0);
    assert_eq!(tab.session.config().and_then(|config| config.assistant_name.as_deref()), Some("Clover"));
}

#[test]
fn a_message_of_a_person_is_read_while_the_visitor_does_nothing_and_counted_until_it_is_seen() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("hello");
    tab.reply(1, "hi");
    tab.look(false);
    assert_eq!(tab.session.unread(), 0);
    tab.wait(5_000);
    tab.answer(
        Presence,
        r#"{"operatorOnline":true,"shouldPollMessages":true,"suggestedMessageIntervalMs":2000}"#,
    );
    assert_eq!(tab.session.operator_online(), Some(true));
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"},{"id":"a1","role":"assistant","content":"hi"}]}"#);
    tab.wait(6_000);
    tab.answer(Messages, r#"{"messages":[{"id":"o1","role":"operator","content":"Anna here"}]}"#);
    assert_eq!((tab.last().author.as_str(), tab.session.unread()), ("operator", 1));
    assert!(tab.news.contains(&News::Unread(1)));
    tab.look(true);
    assert_eq!(tab.session.unread(), 0);
}

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
fn quota_and_blocks_are_told_apart() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 402, "INSUFFICIENT_QUOTA", None);
    assert_eq!((tab.session.notice(), tab.delivery("hello")), (Some(Notice::Quota), Delivery::Failed));
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
fn the_same_visitor_comes_back_and_a_site_may_name_another() {
    let tab = Tab::open(vec![], 0);
    let id = tab.session.visitor_id().clone();
    let tab = tab.reload();
    assert_eq!(tab.session.visitor_id(), &id);
    let visitor = chat_protocol::VisitorProfile { visitor_id: Some("named".into()), ..Default::default() };
    let tab = Tab::start(Start { visitor, ..Start::default() }, tab.storage, 5);
    assert_eq!(tab.session.visitor_id().as_str(), "named");
}

#[test]
fn rubbish_in_storage_costs_nothing_but_itself() {
    let rubbish = ["", "{", "null", "7", "[[[", r#"{"v":9,"visitorId":{}}"#, "\u{0}"];
    for text in rubbish {
        let storage =
            [keys::VISITOR, keys::CONVERSATION, keys::CONFIG, "chat-widget:outbox:m1", "chat-widget:future"]
                .map(|key| (key.to_owned(), text.to_owned()));
        let mut tab = Tab::open(storage.to_vec(), 0);
        tab.say("hello");
        tab.reply(1, "hi");
        assert_eq!(tab.texts(), ["hello", "hi"], "{text:?}");
        assert!(!tab.storage.iter().any(|(key, _)| key == "chat-widget:outbox:m1"), "{text:?}");
    }
}

#[test]
fn opening_the_chat_is_reported_in_a_batch_that_repeats_to_the_byte() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.look(false);
    tab.wait(4_000);
    let first = tab.waiting(Events).expect("a batch").clone();
    let body = first.body.as_ref().expect("a body");
    assert!(body.contains("chat_opened") && body.contains("chat_closed"), "{body}");
    tab.refuse(Events, 503, "", None);
    tab.wait(60_000);
    let again = tab.waiting(Events).expect("another attempt");
    assert_eq!((&again.body, &again.key), (&first.body, &first.key));
    tab.answer(Events, r#"{"accepted":2,"rejected":0,"tracking":"disabled"}"#);
    tab.look(true);
    tab.wait(60_000);
    assert!(tab.waiting(Events).is_none(), "a service that wants no events gets none");
}

#[test]
fn a_site_that_wants_no_reports_gets_none() {
    let mut tab = Tab::start(Start { visible: true, online: true, ..Start::default() }, vec![], 0);
    tab.look(true);
    tab.feed(Input::Viewed(Page::default()));
    tab.wait(60_000);
    assert_eq!(tab.count(Events), 0);
}

#[test]
fn a_page_view_is_reported() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Viewed(Page { path: "/rooms".into(), ..Page::default() }));
    tab.wait(4_000);
    let body = tab.waiting(Events).expect("a batch").body.clone().expect("a body");
    assert!(body.contains(r#""eventType":"page_view""#) && body.contains(r#""path":"/rooms""#), "{body}");
}

#[test]
fn events_leave_with_the_visitor() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.feed(Input::Left);
    assert!(tab.waiting(Events).expect("a batch").keepalive);
}

#[test]
fn a_message_frozen_into_a_conversation_that_a_poll_found_gone_is_not_lost() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.reply(1, "first");
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
fn an_empty_message_in_the_history_is_no_bubble_and_no_reply() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1","aiStatus":"provider_error"}"#);
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"},{"id":"a1","role":"assistant","content":" "}]}"#);
    assert_eq!((tab.texts(), tab.session.awaits_reply(), tab.session.unread()), (vec!["hello"], true, 0));
}

#[test]
fn after_a_reload_an_older_message_that_says_the_same_stays() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("ok");
    tab.reply(1, "first");
    tab.say("ok");
    let mut tab = tab.reload();
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"visitor","content":"ok"},{"id":"a1","role":"assistant","content":"first"}]}"#);
    tab.reply(2, "second");
    assert_eq!(tab.texts(), ["ok", "first", "ok", "second"]);
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
