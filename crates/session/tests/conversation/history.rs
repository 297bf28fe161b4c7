//! Polling the history: each message is shown once, in the service's order.

use crate::conversation::fixture::{LEAD_MS, Tab, json, parsed};
use chat_protocol::Endpoint::{Messages, Presence, Send};
use chat_session::{Answer, Delivery, Input, SessionEvent, keys};

#[test]
fn polls_the_history_after_a_reload_and_shows_it_once() {
    let mut tab = Tab::in_conversation().reload();
    let history = r#"{"messages":[{"id":"u1","role":"visitor","content":"one"},{"id":"a1","role":"assistant","content":"first"}],"nextAfter":"a1"}"#;
    assert_eq!(tab.waiting(Messages).expect("a poll").query, [("conversationId", "c1".to_owned())]);
    tab.answer(Messages, history);
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["one", "first"], 0));
    let next = tab.wait_for(Messages);
    assert_eq!(next.query[1], ("after", "a1".to_owned()));
}

#[test]
fn polls_an_operator_message_while_idle_and_counts_it_until_seen() {
    let mut tab = Tab::in_conversation();
    tab.set_open(false);
    assert_eq!(tab.session.unread(), 0);
    tab.wait(5_000);
    tab.answer(
        Presence,
        r#"{"operatorOnline":true,"shouldPollMessages":true,"suggestedMessageIntervalMs":2000}"#,
    );
    assert_eq!(tab.session.operator_online(), Some(true));
    tab.answer_messages(&["u1 visitor one", "a1 assistant first"]);
    tab.wait(6_000);
    tab.answer_messages(&["o1 operator Anna here"]);
    assert_eq!((tab.last().author.as_str(), tab.session.unread()), ("operator", 1));
    assert!(tab.emitted.contains(&SessionEvent::Unread(1)));
    tab.set_open(true);
    assert_eq!(tab.session.unread(), 0);
}

#[test]
fn reads_all_pages_of_the_first_history_without_counting_them_as_unread() {
    let storage =
        vec![("chat-widget:conversation".to_owned(), r#"{"v":1,"conversationId":"c1"}"#.to_owned())];
    let mut tab = Tab::open(storage, 0);
    for page in 0..3 {
        let (first, last) = (2 * page, 2 * page + 1);
        let data = format!(
            r#"{{"messages":[{{"id":"{first}","role":"visitor","content":"q{first}"}},{{"id":"{last}","role":"operator","content":"a{last}"}}],"nextAfter":"{last}"}}"#
        );
        assert!(tab.waiting(Messages).is_some(), "page {page} is requested at once");
        tab.answer(Messages, &data);
    }
    tab.answer(Messages, r#"{"messages":[],"nextAfter":"5"}"#);
    assert!(tab.waiting(Messages).is_none());
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["q0", "a1", "q2", "a3", "q4", "a5"], 0));
    assert!(tab.emitted_texts().is_empty(), "the first history is not new");
    tab.wait_for(Messages);
    tab.answer_messages(&["6 operator new"]);
    assert_eq!(tab.session.unread(), 1);
}

#[test]
fn shows_a_new_conversation_after_the_old_one() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 404, "NOT_FOUND", None);
    tab.answer(
        Send,
        r#"{"conversationId":"c2","userMessageId":"u1","message":{"id":"b1","role":"assistant","content":"hello again"}}"#,
    );
    tab.wait_for(Messages);
    tab.answer_messages(&["b1 assistant hello again", "o1 operator Anna here"]);
    assert_eq!(tab.texts(), ["one", "first", "two", "hello again", "Anna here"]);
    let next = tab.reload();
    assert_eq!(next.texts(), ["one", "first", "two", "hello again", "Anna here"]);
}

#[test]
fn keeps_the_conversation_if_only_the_cursor_is_unknown() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Messages);
    tab.answer_messages(&["a1 assistant first"]);
    tab.wait_for(Messages);
    tab.refuse(Messages, 404, "NOT_FOUND", None);
    assert_eq!(tab.wait_for(Messages).query.len(), 1, "without a cursor");
    assert!(tab.session.conversation_id().is_some());
    tab.refuse(Messages, 404, "NOT_FOUND", None);
    assert!(tab.session.conversation_id().is_none());
    assert_eq!(tab.texts(), ["one", "first"]);
}

#[test]
fn does_not_report_older_messages_found_by_a_resync() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer_messages(&[
        "o0 operator earlier",
        "u1 user one",
        "a1 assistant first",
        "u2 user two",
        "a2 assistant second",
    ]);
    assert_eq!(tab.texts(), ["earlier", "one", "first", "two", "second"]);
    assert_eq!(tab.emitted_texts(), ["one", "first", "second", "two"]);
}

#[test]
fn continues_from_the_same_cursor_after_a_reload() {
    let mut tab = Tab::in_conversation();
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"user","content":"one"},{"id":"a1","role":"assistant","content":"first"}],
            "nextAfter":"x9"}"#,
    );
    let next = tab.reload();
    assert_eq!(next.waiting(Messages).expect("a poll").query[1], ("after", "x9".to_owned()));
}

#[test]
fn does_not_repeat_messages_without_ids_after_a_reload() {
    let mut tab = Tab::in_conversation();
    let ok = r#"{"role":"operator","content":"ok"}"#;
    let known = r#"{"role":"visitor","content":"one"},{"role":"assistant","content":"first"}"#;
    tab.answer(Messages, &format!(r#"{{"messages":[{known},{ok}],"nextAfter":"x1"}}"#));
    let mut next = tab.reload();
    next.answer(Messages, &format!(r#"{{"messages":[{ok}],"nextAfter":"x2"}}"#));
    assert_eq!(next.texts(), ["one", "first", "ok", "ok"], "the operator wrote it twice");
}

#[test]
fn operator_presence_is_unknown_until_the_first_response() {
    let mut tab = Tab::in_conversation();
    assert_eq!(tab.session.operator_online(), None);
    tab.answer(Presence, r#"{"operatorOnline":false}"#);
    assert_eq!(tab.session.operator_online(), Some(false));
}

#[test]
fn polls_from_the_beginning_if_a_restored_page_finds_a_truncated_snapshot() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.reply(2, "second");
    tab.feed(Input::PageHidden);
    let (visitor, key) = (tab.session.visitor_id().to_string(), [keys::PREFIX, keys::CONVERSATION].concat());
    tab.storage.retain(|(name, _)| *name != key);
    let end = format!(
        r#"{{"v":2,"visitorId":"{visitor}","revision":99,"writer":"other","conversationId":"c1","after":"a2","cut":true,"newest":3,"entries":[{{"id":"a2","serial":2,"role":"assistant","text":"second"}}]}}"#
    );
    tab.storage.push((key, end));
    tab.feed(Input::PageRestored(parsed(&tab.storage.clone())));
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
    tab.wait(LEAD_MS);
    let query = tab.wait_for(Messages).query;
    assert!(query.iter().all(|(name, _)| *name != "after"), "{query:?}");
}

/// Returns a tab whose visitor has retried "two", a message of the conversation c1. That one is gone, and c2
/// has begun with "three".
fn tab_that_retries_a_message_of_an_earlier_conversation() -> Tab {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.send("three");
    tab.refuse(Send, 404, "NOT_FOUND", None);
    tab.answer(Send, r#"{"conversationId":"c2","userMessageId":"v1"}"#);
    let key = tab.key("two");
    tab.feed(Input::Retry(key));
    let body = tab.waiting(Send).expect("an attempt").body.clone().expect("a body");
    assert!(body.starts_with(r#"{"conversationId":"c1","#), "{body}");
    tab
}

#[test]
fn a_response_to_an_earlier_attempt_does_not_bring_back_the_conversation_that_is_gone() {
    let mut tab = tab_that_retries_a_message_of_an_earlier_conversation();
    tab.reply(2, "second");
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c2"));
    assert_eq!(tab.count_stored(keys::OUTBOX), 0);
}

#[test]
fn shows_the_reply_to_a_message_of_an_earlier_conversation_beside_one_with_the_same_id() {
    let mut tab = tab_that_retries_a_message_of_an_earlier_conversation();
    tab.emitted.clear();
    tab.reply(2, "second");
    assert_eq!(tab.texts(), ["one", "first", "three", "two", "second"]);
    assert_eq!(tab.emitted_texts(), ["two", "second"]);
    assert!(tab.emitted.iter().any(|event| matches!(event, SessionEvent::Lead(_))));
    tab.wait_for(Messages);
    tab.answer_messages(&["v1 visitor three", "a2 assistant third"]);
    assert_eq!(tab.texts(), ["one", "first", "three", "third", "two", "second"]);
    let next = tab.reload();
    assert_eq!(next.texts(), ["one", "first", "three", "third", "two", "second"]);
}

#[test]
fn a_retried_message_whose_conversation_is_gone_joins_the_present_one() {
    let mut tab = tab_that_retries_a_message_of_an_earlier_conversation();
    tab.refuse(Send, 404, "NOT_FOUND", None);
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c2"));
    let body = tab.waiting(Send).expect("another request").body.clone().expect("a body");
    assert!(body.starts_with(r#"{"conversationId":"c2","#), "{body}");
}

#[test]
fn shows_a_reply_once_that_was_polled_before_its_conversation_was_gone() {
    let mut tab = Tab::in_conversation_sending("two");
    // The service does not list messages of the visitor.
    tab.answer_messages(&["a1 assistant first", "a2 assistant second"]);
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.send("three");
    tab.refuse(Send, 404, "NOT_FOUND", None);
    tab.answer(Send, r#"{"conversationId":"c2","userMessageId":"v1"}"#);
    let key = tab.key("two");
    tab.feed(Input::Retry(key));
    tab.reply(2, "second");
    assert_eq!(tab.texts().iter().filter(|text| **text == "second").count(), 1, "{:?}", tab.texts());
}

/// Returns a tab that knows only the id of its conversation, and has requested its messages.
fn tab_with_an_id_alone() -> Tab {
    Tab::open(vec![("chat-widget:conversation".to_owned(), r#"{"v":1,"conversationId":"c1"}"#.to_owned())], 0)
}

/// Returns the data of a history with the messages of these numbers.
fn numbered(numbers: std::ops::Range<u32>) -> String {
    let messages: Vec<String> = numbers
        .map(|number| format!(r#"{{"id":"m{number}","role":"operator","content":"{number}"}}"#))
        .collect();
    format!(r#"{{"messages":[{}]}}"#, messages.join(","))
}

fn show_newest(tab: &mut Tab, data: &str) {
    let request = tab.waiting(Messages).expect("a poll").id;
    tab.feed(Input::Newest(request, chat_protocol::success(json(data), "r")));
}

/// Hands over a part of a response.
fn answer_in_part(tab: &mut Tab, data: &str) {
    let body = chat_protocol::success(json(data), "r");
    tab.answer_with(Messages, Answer { status: 200, body, has_more: true, ..Answer::default() });
}

#[test]
fn shows_the_newest_messages_of_a_long_history_first_and_those_before_them_in_parts() {
    let mut tab = tab_with_an_id_alone();
    show_newest(&mut tab, &numbered(4..6));
    assert_eq!(tab.texts(), ["4", "5"]);
    let shown: Vec<_> = tab.session.entries().iter().map(|entry| entry.key).collect();

    answer_in_part(&mut tab, &numbered(0..2));
    assert_eq!(tab.texts(), ["0", "1", "4", "5"]);
    assert_eq!(tab.waiting(Messages).expect("the next part at once").query[1], ("after", "m1".to_owned()));
    answer_in_part(&mut tab, &numbered(2..4));
    tab.answer(Messages, &numbered(4..6));
    assert_eq!(tab.texts(), ["0", "1", "2", "3", "4", "5"]);
    let keys: Vec<_> = tab.session.entries()[4..].iter().map(|entry| entry.key).collect();
    assert_eq!(keys, shown, "the entries stay the same");
    assert_eq!((tab.session.unread(), tab.emitted_texts().len()), (0, 0), "nothing in the history is new");
}

#[test]
fn a_part_without_anything_new_does_not_end_the_read() {
    let mut tab = tab_with_an_id_alone();
    show_newest(&mut tab, &numbered(0..2));
    answer_in_part(&mut tab, &numbered(0..2));
    assert_eq!(tab.waiting(Messages).expect("the next part at once").query[1], ("after", "m1".to_owned()));
    tab.answer(Messages, &numbered(2..4));
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["0", "1", "2", "3"], 0));
}

/// Returns a tab in a conversation, whose service asks for a poll each minute.
fn tab_that_polls_each_minute() -> Tab {
    let mut tab = Tab::in_conversation();
    tab.answer(
        Presence,
        r#"{"shouldPollMessages":true,"suggestedMessageIntervalMs":60000,"suggestedPresenceIntervalMs":300000}"#,
    );
    tab
}

#[test]
fn polls_at_the_usual_pace_if_each_response_in_parts_ends_at_the_same_cursor() {
    let mut tab = tab_that_polls_each_minute();
    for _ in 0..3 {
        // The cursor is the id of no message.
        tab.wait_for(Messages);
        tab.writes.clear();
        answer_in_part(&mut tab, r#"{"messages":[{"id":"u1","role":"visitor","content":"one"}]}"#);
        assert!(tab.writes.is_empty(), "the order between two parts is not published");
        tab.answer(
            Messages,
            r#"{"messages":[{"id":"a1","role":"assistant","content":"first"}],"nextAfter":"token"}"#,
        );
        assert_eq!(tab.texts(), ["one", "first"]);
    }
    tab.wait(40_000);
    assert!(tab.waiting(Messages).is_none(), "nothing has changed since the last poll");
}

#[test]
fn takes_the_next_part_of_a_polled_response_at_once() {
    let mut tab = tab_that_polls_each_minute();
    tab.answer(Messages, r#"{"messages":[],"nextAfter":"a1"}"#);
    tab.wait_for(Messages);
    answer_in_part(&mut tab, &numbered(0..2));
    assert_eq!(tab.waiting(Messages).expect("the next part at once").query[1], ("after", "m1".to_owned()));
    tab.answer(Messages, &numbered(2..4));
    assert_eq!(tab.texts(), ["one", "first", "0", "1", "2", "3"]);
    assert_eq!(tab.emitted_texts(), ["one", "first", "0", "1", "2", "3"], "the messages are new");
}

#[test]
fn a_conversation_with_messages_waits_for_the_whole_response() {
    let mut tab = Tab::in_conversation().reload();
    let known = tab.texts().len();
    show_newest(&mut tab, &numbered(4..6));
    assert_eq!(tab.texts().len(), known);
}

#[test]
fn newest_messages_without_ids_wait_for_the_whole_response() {
    let mut tab = tab_with_an_id_alone();
    show_newest(&mut tab, r#"{"messages":[{"role":"operator","content":"a"}]}"#);
    assert!(tab.texts().is_empty());
    tab.answer(Messages, r#"{"messages":[{"role":"operator","content":"a"}]}"#);
    assert_eq!(tab.texts(), ["a"]);
}

#[test]
fn a_page_that_closes_during_a_long_read_is_continued_from_the_beginning() {
    let mut tab = tab_with_an_id_alone();
    show_newest(&mut tab, &numbered(4..6));
    let mut tab = tab.reload();
    assert_eq!(tab.texts(), ["4", "5"], "what was shown is stored");
    tab.wait(LEAD_MS);
    assert_eq!(tab.waiting(Messages).expect("a poll").query.len(), 1, "from the beginning");
    tab.answer(Messages, &numbered(0..6));
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["0", "1", "2", "3", "4", "5"], 0));
}
