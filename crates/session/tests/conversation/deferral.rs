//! Deferred messages: the visitor sees within a minute that the next attempt is far away, and may send at
//! once.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{Tab, json};
use chat_protocol::Endpoint::{Config, Messages, Send};
use chat_session::{Delivery, Input, Start, Wait, keys};

const HOURS_MS: u64 = 3 * 3_600_000;
/// The maximum wait for a `Retry-After`, jitter included.
const MAX_WAIT_MS: u64 = 300_500;

/// Returns a tab with a message that the service refused with a `Retry-After` of hours.
fn deferred() -> Tab {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 429, "RATE_LIMITED", Some(HOURS_MS));
    tab
}

fn retry(tab: &mut Tab, text: &str) {
    tab.feed(Input::Retry(tab.key(text)));
}

/// Asserts that all attempts after the first message are the same request.
fn assert_repeated(tab: &Tab, attempts: usize) {
    let sent = &tab.attempts()[1..];
    assert_eq!(sent.len(), attempts);
    assert!(sent.iter().all(|again| (&again.key, &again.body) == (&sent[0].key, &sent[0].body)));
}

#[test]
fn defers_at_once_for_a_long_retry_after() {
    let tab = deferred();
    assert!(tab.session.is_deferred());
    assert_eq!((tab.session.wait(), tab.session.is_writing()), (Wait::Short, false));
}

#[test]
fn does_not_defer_for_a_short_wait() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.fail(Send);
    assert!(!tab.session.is_deferred());
    tab.wait_for(Send);
    tab.refuse(Send, 429, "RATE_LIMITED", Some(14_000));
    assert!(!tab.session.is_deferred());
}

#[test]
fn defers_after_a_minute_of_short_waits() {
    let mut tab = Tab::in_conversation_sending("two");
    let written_ms = tab.now_ms;
    while !tab.session.is_deferred() {
        tab.refuse(Send, 503, "UNAVAILABLE", Some(14_000));
        if !tab.session.is_deferred() {
            tab.wait_for(Send);
        }
    }
    let after_ms = tab.now_ms - written_ms;
    assert!((30_000..60_000).contains(&after_ms), "{after_ms}");
}

#[test]
fn does_not_defer_for_a_pause_too_short_to_read() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.wait(60_000);
    tab.refuse(Send, 503, "UNAVAILABLE", Some(1_000));
    assert!(!tab.session.is_deferred());
}

#[test]
fn a_retry_of_a_deferred_message_sends_the_same_request_at_once() {
    let mut tab = deferred();
    tab.wait(1_000);
    retry(&mut tab, "two");
    assert_repeated(&tab, 2);
    assert_eq!((tab.session.is_deferred(), tab.delivery("two")), (false, Delivery::Sending));
    tab.reply(2, "second");
    assert_eq!(tab.texts(), ["one", "first", "two", "second"]);
    tab.wait(MAX_WAIT_MS);
    assert_eq!(tab.attempts().len(), 3, "never a second copy");
}

#[test]
fn a_retry_does_not_resend_a_message_in_flight() {
    let mut tab = deferred();
    retry(&mut tab, "two");
    for _ in 0..3 {
        retry(&mut tab, "two");
    }
    tab.receive(r#""does":"retry""#);
    assert_repeated(&tab, 2);
}

#[test]
fn a_retry_after_applies_again_from_the_next_response() {
    let mut tab = Tab::in_conversation_sending("two");
    for attempts in 1..3 {
        tab.refuse(Send, 429, "RATE_LIMITED", Some(60_000));
        assert!(tab.session.is_deferred());
        tab.wait(59_000);
        assert_repeated(&tab, attempts);
        retry(&mut tab, "two");
        assert_repeated(&tab, attempts + 1);
    }
    tab.refuse(Send, 429, "RATE_LIMITED", Some(60_000));
    tab.wait(59_999);
    assert_repeated(&tab, 3);
    tab.wait(600);
    assert_repeated(&tab, 4);
}

#[test]
fn a_retry_does_not_end_the_hold_on_polls() {
    let mut tab = deferred();
    tab.wait(1_000);
    let polls = tab.count(Messages);
    retry(&mut tab, "two");
    tab.fail(Send);
    assert_eq!(tab.count(Messages), polls, "polls wait for the end of the Retry-After");
}

#[test]
fn sends_deferred_messages_in_order_until_one_fails() {
    let mut tab = deferred();
    tab.send("three");
    tab.send("four");
    assert_eq!(tab.attempts().len(), 2);
    retry(&mut tab, "four");
    tab.reply(2, "second");
    tab.refuse(Send, 429, "RATE_LIMITED", Some(HOURS_MS));
    assert!(tab.session.is_deferred());
    let bodies: Vec<_> = tab.attempts().iter().skip(1).filter_map(|sent| sent.body.clone()).collect();
    assert_eq!(bodies.len(), 3);
    for (body, text) in bodies.iter().zip(["two", "two", "three"]) {
        assert!(body.contains(&format!(r#""message":"{text}""#)), "{body}");
    }
    tab.wait(MAX_WAIT_MS);
    tab.reply(3, "third");
    tab.reply(4, "fourth");
    assert_eq!(tab.texts(), ["one", "first", "two", "second", "three", "third", "four", "fourth"]);
    assert!(!tab.session.is_deferred());
}

#[test]
fn a_message_written_while_deferred_waits_and_can_be_sent_at_once() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Config);
    tab.refuse(Config, 429, "RATE_LIMITED", Some(HOURS_MS));
    tab.send("two");
    assert_eq!((tab.attempts().len(), tab.delivery("two")), (1, Delivery::Waiting));
    assert!(tab.session.is_deferred());
    retry(&mut tab, "two");
    assert_repeated(&tab, 1);
}

#[test]
fn retries_a_failed_message_despite_a_retry_after() {
    let mut tab = deferred();
    for _ in 0..5 {
        tab.wait_for(Send);
        tab.refuse(Send, 429, "RATE_LIMITED", Some(HOURS_MS));
    }
    assert_eq!((tab.delivery("two"), tab.session.is_deferred()), (Delivery::Failed, false));
    retry(&mut tab, "two");
    assert_repeated(&tab, 7);
}

#[test]
fn stays_deferred_with_the_same_request_after_a_reload() {
    let before = deferred();
    let first = before.attempts()[1].clone();
    let mut tab = before.reload();
    assert!(tab.session.is_deferred());
    assert_eq!(tab.attempts().len(), 0);
    retry(&mut tab, "two");
    let again = tab.waiting(Send).expect("an attempt");
    assert_eq!((&again.key, &again.body), (&first.key, &first.body));
}

#[test]
fn sends_automatically_if_the_wait_ends_before_the_next_page() {
    let mut before = deferred();
    before.now_ms += MAX_WAIT_MS;
    let tab = before.reload();
    assert_eq!((tab.session.is_deferred(), tab.attempts().len()), (false, 1));
}

#[test]
fn defers_in_every_tab_and_the_leader_sends() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(other, "again");
    browser.with_tab(leader, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(HOURS_MS)));
    assert!(browser.tabs.iter().all(|tab| tab.session.is_deferred()));
    let key = browser.tabs[other].key("again");
    browser.feed(other, Input::Retry(key));
    assert!(browser.tabs.iter().all(|tab| !tab.session.is_deferred()));
    assert_repeated(&browser.tabs[leader], 2);
    assert_eq!(browser.tabs[other].attempts().len(), 0);
    browser.with_tab(leader, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(HOURS_MS)));
    browser.wait(5_000);
    assert!(
        browser.tabs.iter().all(|tab| tab.session.is_deferred()),
        "the Retry-After is obeyed in every tab"
    );
    assert_eq!(browser.counts(Send).iter().sum::<usize>(), 3);
}

#[test]
fn sends_from_the_tab_of_the_retry_if_the_leader_crashed() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(other, "again");
    browser.with_tab(leader, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(HOURS_MS)));
    let first = browser.tabs[leader].attempts()[1].clone();
    let key = browser.tabs[other].key("again");
    browser.crash(leader);
    browser.feed(0, Input::Retry(key));
    browser.wait(2_000);
    let again = browser.tabs[0].waiting(Send).expect("an attempt");
    assert_eq!((&again.key, &again.body), (&first.key, &first.body));
}

#[test]
fn does_not_defer_while_offline() {
    let mut tab = deferred();
    tab.feed(Input::Online(false));
    assert_eq!((tab.session.is_deferred(), tab.delivery("two")), (false, Delivery::Waiting));
    retry(&mut tab, "two");
    assert_repeated(&tab, 1);
    tab.feed(Input::Online(true));
    assert!(tab.session.is_deferred(), "the Retry-After still applies");
    assert_repeated(&tab, 1);
}

#[test]
fn waits_at_most_five_minutes_for_a_retry_after() {
    for retry_after_ms in [0, 1, 86_400_000, u64::MAX - 1, u64::MAX] {
        let mut tab = Tab::in_conversation_sending("two");
        tab.refuse(Send, 503, "UNAVAILABLE", Some(retry_after_ms));
        assert_eq!(tab.session.is_deferred(), retry_after_ms > 15_000, "{retry_after_ms}");
        tab.wait(MAX_WAIT_MS);
        assert!(tab.attempts().len() >= 3, "{retry_after_ms}");
    }
}

#[test]
fn bounds_a_stored_time_in_the_far_future() {
    let mut before = deferred();
    for (_, text) in &mut before.storage {
        for field in ["notBefore", "holdUntil"] {
            if let Some(chat_protocol::Value::Integer(ms)) = json(text).get(field) {
                *text = text.replace(&format!(r#""{field}":{ms}"#), &format!(r#""{field}":{}"#, i64::MAX));
            }
        }
    }
    assert!(before.stored(keys::CONVERSATION).is_some_and(|text| text.contains(&i64::MAX.to_string())));
    let mut tab = before.reload();
    tab.wait(MAX_WAIT_MS);
    assert_eq!(tab.attempts().len(), 1);
}

#[test]
fn does_not_defer_a_message_stored_by_an_earlier_version() {
    let mut before = deferred();
    for (_, text) in &mut before.storage {
        *text = text.replace(r#""deferred":true,"#, "");
    }
    assert!(Tab::begin(Start::default(), before.storage.clone(), before.now_ms).session.entries().len() > 2);
    assert!(before.reload().session.is_deferred());
}
