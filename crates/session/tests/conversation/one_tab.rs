//! A conversation as a visitor has it: sent once, answered once, found again.

use crate::site::{LEAD_MS, Tab};
use chat_protocol::Endpoint::{Config, Events, Messages, Presence, Send};
use chat_session::{Delivery, EntryKey, Input, News, Notice, Page, Start, keys};

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
    assert!(!tab.storage.iter().any(|(key, _)| key.contains(keys::OUTBOX)), "nothing waits any more");
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
fn an_idempotency_conflict_without_a_trace_of_the_message_is_believed() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("one");
    tab.reply(1, "first");
    tab.say("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer(Messages, r#"{"messages":[{"id":"a1","role":"assistant","content":"first"}]}"#);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Delivered));
    assert!(tab.session.awaits_reply());
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
    tab.look(true);
    tab.say("hello");
    tab.reply(1, "hi");
    let mut tab = tab.reload();
    let history = r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"},{"id":"a1","role":"assistant","content":"hi"}],"nextAfter":"a1"}"#;
    assert_eq!(tab.waiting(Messages).expect("a read").query, [("conversationId", "c1".to_owned())]);
    tab.answer(Messages, history);
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["hello", "hi"], 0));
    let next = tab.wait_for(Messages);
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
    tab.wait(LEAD_MS);
    assert_eq!(tab.attempts().len(), before.3 + 1);
}

#[test]
fn a_config_that_is_handed_over_is_not_asked_for_again() {
    let config = Some(crate::site::json(r#"{"config":{"assistantName":"Clover"}}"#));
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
        let storage = [
            keys::VISITOR,
            keys::CONVERSATION,
            keys::CONFIG,
            keys::SEEN,
            "outbox:m1",
            "batch:1",
            "event:1",
            "x",
        ]
        .map(|name| (format!("{}{name}", keys::PREFIX), text.to_owned()));
        let mut tab = Tab::open(storage.to_vec(), 0);
        tab.say("hello");
        tab.reply(1, "hi");
        assert_eq!(tab.texts(), ["hello", "hi"], "{text:?}");
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
    let again = tab.wait_for(Events);
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

#[test]
fn a_config_that_could_not_be_read_is_asked_for_again_after_a_while() {
    let mut tab = Tab::open(vec![], 0);
    tab.refuse(Config, 503, "", None);
    tab.wait(19_900);
    assert_eq!(tab.count(Config), 1);
    tab.wait(8_200);
    assert_eq!(tab.count(Config), 2, "20 seconds, and up to 8 more");
    tab.answer(Config, r#"{"config":{"assistantName":"Clover"}}"#);
    tab.wait(600_000);
    assert_eq!(tab.count(Config), 2);
}

#[test]
fn what_goes_wrong_is_told_to_the_page_with_the_path_and_the_code() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.say("again");
    tab.lose(Send);
    let told: Vec<(&str, &str)> = (tab.news.iter())
        .filter_map(|news| match news {
            News::Error { code, message } => Some((code.as_str(), message.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(told[0], ("INVALID_REQUEST", "/chat/messages 400 INVALID_REQUEST: no (request r)"));
    assert_eq!(told[1].0, "NETWORK");
    let waiting = tab.waiting(Config).is_some();
    assert!(waiting, "nothing else was asked for");
    tab.wait(15_000);
    assert!(tab.news.iter().any(|news| matches!(news, News::Error { code, .. } if code == "TIMEOUT")));
}

#[test]
fn events_that_the_service_refuses_are_not_sent_again() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.wait_for(Events);
    tab.refuse(Events, 400, "INVALID_REQUEST", None);
    tab.wait(600_000);
    assert_eq!(tab.count(Events), 1);
    assert!(!tab.storage.iter().any(|(key, _)| key.contains(keys::BATCH) || key.contains(keys::EVENT)));
}

#[test]
fn while_a_batch_is_tried_again_the_events_after_it_wait() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.wait_for(Events);
    tab.lose(Events);
    tab.look(false);
    let again = tab.wait_for(Events);
    assert!(!again.body.expect("a body").contains("chat_closed"));
    let batches = tab.storage.iter().filter(|(key, _)| key.contains(keys::BATCH));
    assert_eq!(batches.count(), 1);
    tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#);
    assert!(tab.wait_for(Events).body.expect("a body").contains("chat_closed"));
}

#[test]
fn tracking_that_is_disabled_stays_so_on_the_next_page_until_a_day_has_passed() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.wait_for(Events);
    tab.look(false);
    tab.answer(Events, r#"{"accepted":0,"rejected":1,"tracking":"disabled"}"#);
    assert!(!tab.storage.iter().any(|(key, _)| key.contains(keys::EVENT)), "what waited is forgotten");
    let mut next = tab.reload();
    next.look(true);
    next.wait(60_000);
    assert_eq!(next.count(Events), 0);
    let mut later = Tab::open(next.storage, 25 * 60 * 60 * 1000);
    later.look(true);
    later.wait_for(Events);
}

#[test]
fn the_service_is_left_alone_for_as_long_as_it_asks_whatever_it_was_asked() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("hello");
    tab.reply(1, "hi");
    tab.wait_for(Presence);
    tab.refuse(Presence, 429, "RATE_LIMITED", Some(120_000));
    tab.open.clear();
    let before = (tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len());
    tab.say("are you there?");
    tab.wait(119_000);
    assert_eq!((tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len()), before);
    tab.wait(2_000);
    assert_eq!(tab.attempts().len(), before.3 + 1);
    tab.refuse(Send, 429, "RATE_LIMITED", Some(u64::MAX));
    tab.wait(301_000);
    assert_eq!(tab.attempts().len(), before.3 + 2, "five minutes at most");
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
fn pages_of_history_are_read_one_after_the_other_and_count_as_read() {
    let storage =
        vec![("chat-widget:conversation".to_owned(), r#"{"v":1,"conversationId":"c1"}"#.to_owned())];
    let mut tab = Tab::open(storage, 0);
    for page in 0..3 {
        let (first, last) = (2 * page, 2 * page + 1);
        let data = format!(
            r#"{{"messages":[{{"id":"{first}","role":"visitor","content":"q{first}"}},{{"id":"{last}","role":"operator","content":"a{last}"}}],"nextAfter":"{last}"}}"#
        );
        assert!(tab.waiting(Messages).is_some(), "page {page} is asked for at once");
        tab.answer(Messages, &data);
    }
    tab.answer(Messages, r#"{"messages":[],"nextAfter":"5"}"#);
    assert!(tab.waiting(Messages).is_none());
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["q0", "a1", "q2", "a3", "q4", "a5"], 0));
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"6","role":"operator","content":"new"}]}"#);
    assert_eq!(tab.session.unread(), 1);
}

#[test]
fn a_message_whose_echo_is_read_while_its_answer_is_lost_is_not_sent_again() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("one");
    tab.reply(1, "first");
    tab.say("two");
    tab.wait_for(Messages);
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"user","content":"one"},{"id":"a1","role":"assistant","content":"first"},
            {"id":"u2","role":"person","content":"two"},{"id":"a2","role":"assistant","content":"second"}]}"#,
    );
    tab.lose(Send);
    tab.wait(25_000);
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (2, Delivery::Delivered));
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
    assert!(!tab.session.awaits_reply() && !tab.storage.iter().any(|(key, _)| key.contains(keys::OUTBOX)));
}

#[test]
fn a_message_that_failed_and_is_found_in_the_history_is_delivered() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("one");
    tab.reply(1, "first");
    tab.say("two");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#);
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    assert!(tab.session.awaits_reply(), "its reply is looked for");
}

#[test]
fn of_two_messages_that_say_the_same_neither_is_taken_for_the_other() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("one");
    tab.reply(1, "first");
    tab.say("ok");
    tab.refuse(Send, 403, "", None);
    tab.say("ok");
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"u3","role":"visitor","content":"ok"}]}"#);
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
fn what_is_said_in_a_new_conversation_stands_behind_the_old_one() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("one");
    tab.reply(1, "first");
    tab.say("two");
    tab.refuse(Send, 404, "NOT_FOUND", None);
    tab.answer(
        Send,
        r#"{"conversationId":"c2","userMessageId":"u1","message":{"id":"b1","role":"assistant","content":"hello again"}}"#,
    );
    tab.wait_for(Messages);
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"b1","role":"assistant","content":"hello again"},{"id":"o1","role":"operator","content":"Anna here"}]}"#,
    );
    assert_eq!(tab.texts(), ["one", "first", "two", "hello again", "Anna here"]);
    let next = tab.reload();
    assert_eq!(next.texts(), ["one", "first", "two", "hello again", "Anna here"]);
}

#[test]
fn a_message_to_read_after_that_is_gone_costs_no_conversation() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("one");
    tab.reply(1, "first");
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"a1","role":"assistant","content":"first"}]}"#);
    tab.wait_for(Messages);
    tab.refuse(Messages, 404, "NOT_FOUND", None);
    assert_eq!(tab.wait_for(Messages).query.len(), 1, "without an after");
    assert!(tab.session.conversation_id().is_some());
    tab.refuse(Messages, 404, "NOT_FOUND", None);
    assert!(tab.session.conversation_id().is_none());
    assert_eq!(tab.texts(), ["one", "first"]);
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
fn a_message_whose_letter_storage_lost_is_sent_with_the_same_key() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    let key = tab.attempts()[0].key.clone();
    let lost = |tab: Tab| -> Vec<(String, String)> {
        tab.storage.into_iter().filter(|(key, _)| !key.contains(keys::OUTBOX)).collect()
    };
    let now_ms = tab.now_ms;
    let mut tab = Tab::open(lost(tab), now_ms + 10);
    assert_eq!((tab.attempts().len(), &tab.attempts()[0].key), (1, &key));
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    let mut tab = Tab::open(lost(tab), now_ms + 1_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed));
    tab.feed(Input::Retry(key_of(&tab, "hello")));
    tab.wait(LEAD_MS);
    assert_eq!(tab.attempts()[0].key, key);
    let day_ms = 24 * 60 * 60 * 1000;
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.say("hello");
    let tab = Tab::open(lost(tab), day_ms + 2_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed), "too old");
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
fn a_lost_attempt_is_followed_by_a_read() {
    let mut tab = Tab::open(vec![], 0);
    tab.look(true);
    tab.say("one");
    tab.reply(1, "first");
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"a1","role":"assistant","content":"first"}]}"#);
    tab.wait_for(Presence);
    tab.answer(
        Presence,
        r#"{"operatorOnline":false,"shouldPollMessages":false,"suggestedMessageIntervalMs":60000}"#,
    );
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[],"nextAfter":"a1"}"#);
    tab.wait(60_000);
    assert!(tab.waiting(Messages).is_none(), "there is nothing to poll for");
    tab.open.clear();
    tab.say("two");
    tab.lose(Send);
    tab.wait(2_500);
    assert!(tab.waiting(Messages).is_some());
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
