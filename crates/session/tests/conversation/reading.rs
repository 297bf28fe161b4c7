//! What the others say is read at its pace, and shown once and in its place.

use crate::site::{LEAD_MS, Tab};
use chat_protocol::Endpoint::{self, Config, Events, Messages, Presence, Send};
use chat_session::{Delivery, Input, News, Notice, Start, keys};

/// A history in which there is nothing new.
const NOTHING: &str = r#"{"messages":[]}"#;

#[test]
fn history_is_read_after_a_reload_and_shown_once() {
    let mut tab = Tab::in_conversation().reload();
    let history = r#"{"messages":[{"id":"u1","role":"visitor","content":"one"},{"id":"a1","role":"assistant","content":"first"}],"nextAfter":"a1"}"#;
    assert_eq!(tab.waiting(Messages).expect("a read").query, [("conversationId", "c1".to_owned())]);
    tab.answer(Messages, history);
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["one", "first"], 0));
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
    let mut tab = Tab::in_conversation();
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
    let mut tab = Tab::in_conversation();
    tab.look(false);
    assert_eq!(tab.session.unread(), 0);
    tab.wait(5_000);
    tab.answer(
        Presence,
        r#"{"operatorOnline":true,"shouldPollMessages":true,"suggestedMessageIntervalMs":2000}"#,
    );
    assert_eq!(tab.session.operator_online(), Some(true));
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"visitor","content":"one"},{"id":"a1","role":"assistant","content":"first"}]}"#);
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

/// How long 40 visitors pause after each of these many failures to read this.
fn pauses(endpoint: Endpoint, failures: usize, begin: impl Fn(Start) -> Tab) -> Vec<Vec<u64>> {
    let mut pauses = vec![Vec::new(); failures];
    for seed in 0..40 {
        let mut tab = begin(Start { seed, visible: true, online: true, ..Start::default() });
        for pauses in &mut pauses {
            let since_ms = tab.now_ms;
            tab.lose(endpoint);
            tab.wait_for(endpoint);
            pauses.push(tab.now_ms - since_ms);
        }
    }
    pauses
}

/// Nobody pauses for longer than this, and somebody for almost as long.
fn last_up_to(pauses: &[u64], most_ms: u64) -> bool {
    pauses.iter().all(|pause| *pause <= most_ms + 100) && pauses.iter().any(|pause| *pause > most_ms * 3 / 4)
}

#[test]
fn each_failure_to_read_the_config_doubles_what_is_paused_on_top_of_twenty_seconds() {
    let pauses = pauses(Config, 3, |start| Tab::start(start, vec![], 0));
    for (pauses, most_ms) in pauses.iter().zip([8_000, 16_000, 30_000]) {
        let on_top: Vec<u64> = pauses.iter().map(|pause| pause - 20_000).collect();
        assert!(last_up_to(&on_top, most_ms), "{on_top:?}");
    }
}

#[test]
fn each_failure_to_read_messages_doubles_the_pause() {
    let pauses = pauses(Messages, 4, |start| {
        let mut tab = Tab::start(start, vec![], 0);
        tab.say("one");
        tab.reply(1, "first");
        tab.answer(Presence, r#"{"suggestedMessageIntervalMs":1000,"suggestedPresenceIntervalMs":300000}"#);
        tab
    });
    for (pauses, most_ms) in pauses.iter().zip([2_400, 4_000, 8_000, 16_000]) {
        assert!(last_up_to(pauses, most_ms), "{pauses:?}");
    }
}

#[test]
fn the_service_is_left_alone_for_as_long_as_it_asks_whatever_it_was_asked() {
    let mut tab = Tab::in_conversation();
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
    assert!(tab.told().is_empty(), "nothing of it is news");
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"6","role":"operator","content":"new"}]}"#);
    assert_eq!(tab.session.unread(), 1);
}

#[test]
fn a_message_whose_echo_is_read_while_its_answer_is_lost_is_not_sent_again() {
    let mut tab = Tab::in_conversation();
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
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#);
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    assert!(tab.session.awaits_reply(), "its reply is looked for");
}

#[test]
fn of_two_messages_that_say_the_same_neither_is_taken_for_the_other() {
    let mut tab = Tab::in_conversation();
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
    let mut tab = Tab::in_conversation();
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
    let mut tab = Tab::in_conversation();
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
fn a_lost_attempt_is_followed_by_a_read() {
    let mut tab = Tab::in_conversation();
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
fn a_tab_that_is_hidden_waits_for_no_read() {
    let mut tab = Tab::in_conversation();
    assert!(tab.waiting(Messages).is_some() && tab.waiting(Presence).is_some());
    tab.feed(Input::Visible(false));
    assert!(tab.waiting(Messages).is_none() && tab.waiting(Presence).is_none());
}

#[test]
fn a_service_that_has_nothing_to_poll_for_is_asked_for_presence_alone() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    tab.answer(
        Presence,
        r#"{"shouldPollMessages":false,"suggestedMessageIntervalMs":1000,"suggestedPresenceIntervalMs":10000}"#,
    );
    let before = tab.count(Messages);
    tab.wait(8_000);
    assert_eq!(tab.count(Messages), before);
    tab.wait_for(Presence);
    tab.answer(Presence, r#"{"shouldPollMessages":true,"suggestedMessageIntervalMs":1000}"#);
    assert_eq!(tab.count(Messages), before + 1);
}

#[test]
fn what_a_second_reading_finds_before_known_messages_is_no_news() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.refuse(Send, 409, "IDEMPOTENCY_CONFLICT", None);
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"o0","role":"operator","content":"earlier"},
            {"id":"u1","role":"user","content":"one"},{"id":"a1","role":"assistant","content":"first"},
            {"id":"u2","role":"user","content":"two"},{"id":"a2","role":"assistant","content":"second"}]}"#,
    );
    assert_eq!(tab.texts(), ["earlier", "one", "first", "two", "second"]);
    assert_eq!(tab.told(), ["one", "first", "second", "two"]);
}

#[test]
fn the_next_page_reads_on_where_this_one_stopped() {
    let mut tab = Tab::in_conversation();
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"user","content":"one"},{"id":"a1","role":"assistant","content":"first"}],
            "nextAfter":"x9"}"#,
    );
    let next = tab.reload();
    assert_eq!(next.waiting(Messages).expect("a read").query[1], ("after", "x9".to_owned()));
}

#[test]
fn in_a_history_that_is_read_for_the_first_time_no_message_is_taken_for_one_that_failed() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    let mut storage = tab.storage;
    storage.retain(|(key, _)| !key.ends_with(keys::CONVERSATION));
    storage.push(("chat-widget:conversation".into(), r#"{"v":1,"conversationId":"c1"}"#.into()));
    let mut tab = Tab::open(storage, 1_000);
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"visitor","content":"hello"},{"id":"a1","role":"assistant","content":"hi"}]}"#,
    );
    assert_eq!((tab.texts(), tab.last().delivery), (vec!["hello", "hi", "hello"], Delivery::Failed));
}

#[test]
fn a_message_that_was_never_tried_is_found_in_no_history() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.say("ok");
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"a1","role":"assistant","content":"first"},{"id":"u0","role":"visitor","content":"ok"}]}"#,
    );
    assert_eq!(
        (tab.texts(), tab.last().delivery),
        (vec!["one", "first", "ok", "two", "ok"], Delivery::Waiting)
    );
    tab.reply(2, "second");
    assert_eq!(tab.attempts().len(), 3);
}

#[test]
fn of_two_messages_that_failed_the_one_that_is_found_is_delivered() {
    let mut tab = Tab::in_conversation();
    for text in ["two", "three"] {
        tab.say(text);
        tab.refuse(Send, 400, "INVALID_REQUEST", None);
    }
    tab.answer(Messages, r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#);
    assert_eq!((tab.delivery("two"), tab.delivery("three")), (Delivery::Delivered, Delivery::Failed));
    assert_eq!(tab.kept_as(keys::OUTBOX), 1, "the other one may be tried again");
    assert_eq!(tab.told(), ["one", "first", "two"]);
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
fn another_hint_holds_from_the_moment_that_it_is_given() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    tab.answer(
        Presence,
        r#"{"shouldPollMessages":true,"suggestedMessageIntervalMs":60000,"suggestedPresenceIntervalMs":10000}"#,
    );
    let before = tab.count(Messages);
    tab.wait_for(Presence);
    assert_eq!(tab.count(Messages), before, "slower than without a hint");
    tab.answer(Presence, r#"{"shouldPollMessages":true,"suggestedMessageIntervalMs":2000}"#);
    tab.wait(2_400);
    assert_eq!(tab.count(Messages), before + 1);
}

#[test]
fn a_hint_that_is_repeated_puts_no_read_off() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    let before = tab.count(Messages);
    for _ in 0..6 {
        tab.wait_for(Presence);
        tab.answer(
            Presence,
            r#"{"shouldPollMessages":true,"suggestedMessageIntervalMs":10000,"suggestedPresenceIntervalMs":3000}"#,
        );
    }
    assert_eq!(tab.count(Messages), before + 1);
}

#[test]
fn a_hint_does_not_shorten_the_pause_after_a_failure() {
    let mut tab = Tab::in_conversation();
    tab.lose(Messages);
    tab.answer(Presence, r#"{"shouldPollMessages":true,"suggestedMessageIntervalMs":1000}"#);
    let before = tab.count(Messages);
    tab.wait(1_500);
    assert_eq!(tab.count(Messages), before);
    tab.wait(1_500);
    assert_eq!(tab.count(Messages), before + 1);
}

#[test]
fn a_window_that_is_opened_and_a_tab_that_comes_back_are_read_for_at_once() {
    let mut tab = Tab::in_conversation();
    let slow = r#"{"shouldPollMessages":false,"suggestedMessageIntervalMs":60000}"#;
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, slow);
    assert!(tab.waiting(Messages).is_none());
    tab.look(false);
    tab.feed(Input::Visible(true));
    tab.feed(Input::Online(true));
    assert!(tab.waiting(Messages).is_none(), "nothing has changed");
    tab.look(true);
    assert!(tab.waiting(Messages).is_some());
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, slow);
    tab.feed(Input::Online(false));
    tab.feed(Input::Online(true));
    assert!(tab.waiting(Messages).is_some());
    tab.answer(Messages, NOTHING);
    tab.feed(Input::Visible(false));
    tab.feed(Input::Visible(true));
    tab.wait(LEAD_MS);
    assert!(tab.waiting(Messages).is_some());
}

#[test]
fn whether_a_person_is_there_is_known_once_the_service_has_said_so() {
    let mut tab = Tab::in_conversation();
    assert_eq!(tab.session.operator_online(), None);
    tab.answer(Presence, r#"{"operatorOnline":false}"#);
    assert_eq!(tab.session.operator_online(), Some(false));
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

#[test]
fn an_answer_before_which_something_may_have_been_said_is_followed_by_a_read() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, r#"{"shouldPollMessages":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.say("two");
    tab.reply(2, "second");
    assert!(tab.waiting(Messages).is_none(), "the first attempt was answered with the reply");
    tab.say("three");
    tab.refuse(Send, 503, "", Some(100));
    tab.wait_for(Send);
    assert!(tab.waiting(Messages).is_none(), "the service has said that it did not take it");
    tab.reply(3, "third");
    assert!(tab.waiting(Messages).is_some(), "the second attempt was answered");
    tab.answer(Messages, NOTHING);
    tab.say("four");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u4"}"#);
    tab.answer(Messages, NOTHING);
    tab.say("five");
    tab.reply(5, "fifth");
    assert!(tab.waiting(Messages).is_some(), "there was a reply to come");
}

#[test]
fn a_read_that_set_out_before_something_happened_is_followed_by_another() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, r#"{"shouldPollMessages":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.say("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2"}"#);
    assert!(tab.waiting(Messages).is_some(), "a reply is due");
    tab.say("three");
    tab.reply(3, "third");
    for early in [true, false] {
        tab.answer(Messages, NOTHING);
        assert_eq!(tab.waiting(Messages).is_some(), early);
    }
    tab.say("four");
    for _ in 0..6 {
        tab.wait_for(Send);
        tab.lose(Send);
    }
    assert_eq!(tab.delivery("four"), Delivery::Failed);
    tab.answer(Messages, NOTHING);
    tab.wait(2_500);
    assert!(tab.waiting(Messages).is_some(), "the service may have taken it since");
}

#[test]
fn where_an_answer_tells_that_an_echo_was_that_of_another_message_both_are_shown() {
    let mut tab = Tab::in_conversation();
    tab.say("ok");
    tab.answer(Messages, r#"{"messages":[{"id":"u9","role":"visitor","content":"ok"}],"nextAfter":"u9"}"#);
    assert_eq!(tab.texts(), ["one", "first", "ok"]);
    tab.reply(2, "second");
    assert_eq!(tab.waiting(Messages).expect("a read").query.len(), 1, "from the beginning");
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"visitor","content":"one"},{"id":"a1","role":"assistant","content":"first"},
            {"id":"u9","role":"visitor","content":"ok"},{"id":"u2","role":"visitor","content":"ok"},
            {"id":"a2","role":"assistant","content":"second"}]}"#,
    );
    assert_eq!(tab.texts(), ["one", "first", "ok", "ok", "second"]);
}

#[test]
fn a_message_that_was_read_in_a_conversation_that_is_gone_since_has_arrived() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer(Messages, r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#);
    tab.refuse(Send, 404, "NOT_FOUND", None);
    assert_eq!((tab.delivery("two"), tab.kept_as(keys::OUTBOX)), (Delivery::Delivered, 0));
    assert_eq!((tab.attempts().len(), tab.session.conversation_id()), (2, None));

    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.answer(Messages, r#"{"messages":[{"id":"u2","role":"visitor","content":"two"}]}"#);
    tab.refuse(Send, 403, "", None);
    assert_eq!((tab.delivery("two"), tab.session.awaits_reply()), (Delivery::Delivered, true));
    assert!(tab.session.conversation_id().is_some());
}
