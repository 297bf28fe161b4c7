//! Several tabs of one browser: they share one conversation, and show the same state.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{Tab, parsed};
use chat_protocol::Endpoint::{Config, Messages, Presence, Send};
use chat_session::{Delivery, Input, Notice, SessionEvent, Start};

#[test]
fn shows_a_message_and_its_delivery_in_every_tab() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(other, "and another");
    assert_eq!(browser.tabs[leader].delivery("and another"), Delivery::Sending);
    assert_eq!(browser.tabs[other].delivery("and another"), Delivery::Sending);
    assert!(browser.tabs[other].session.awaits_reply());
    browser.with_tab(leader, |tab| tab.refuse(Send, 400, "INVALID_REQUEST", None));
    assert_eq!(browser.tabs[other].delivery("and another"), Delivery::Failed);
    assert!(!browser.tabs[other].session.awaits_reply());
}

#[test]
fn the_leader_carries_out_the_retry_of_a_follower() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(other, "again");
    browser.with_tab(leader, |tab| tab.refuse(Send, 400, "INVALID_REQUEST", None));
    let key = browser.tabs[other].last().key;
    browser.feed(other, Input::Retry(key));
    let attempts: Vec<_> = browser.tabs[leader].attempts()[1..].iter().map(|sent| sent.key.clone()).collect();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0], attempts[1]);
    assert_eq!(browser.tabs[other].attempts().len(), 0);
    browser.with_tab(leader, |tab| tab.reply(2, "got it"));
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi", "again", "got it"]));
}

#[test]
fn the_next_leader_repeats_the_request_of_a_crashed_tab_byte_for_byte() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(other, "still there?");
    let first = browser.tabs[leader].waiting(Send).expect("an attempt").clone();
    browser.crash(leader);
    browser.wait(2_000);
    let again = browser.tabs[0].waiting(Send).expect("another attempt");
    assert_eq!((&again.key, &again.body), (&first.key, &first.body));
}

#[test]
fn counts_unread_messages_once_and_clears_them_in_every_tab() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    let unread =
        |browser: &Browser| -> Vec<u32> { browser.tabs.iter().map(|tab| tab.session.unread()).collect() };
    assert_eq!(unread(&browser), [1, 1], "the reply");
    browser.set_open(other, true);
    assert_eq!(unread(&browser), [0, 0]);
    browser.feed(other, Input::Visible(false));
    browser.wait(5_000);
    browser.with_tab(leader, |tab| {
        tab.wait_for(Messages);
        tab.answer_messages(&["o1 operator Anna here"]);
    });
    assert_eq!(unread(&browser), [1, 1], "an open window in a hidden tab does not mark messages as seen");
    for tab in &browser.tabs {
        let emitted = tab
            .emitted
            .iter()
            .filter(|event| matches!(event, SessionEvent::Message(entry) if &*entry.text == "Anna here"));
        assert_eq!(emitted.count(), 1);
    }
    browser.feed(other, Input::Visible(true));
    assert_eq!(unread(&browser), [0, 0]);
}

#[test]
fn messages_that_arrived_between_visits_are_unread() {
    let mut browser = Browser::in_conversation();
    browser.set_open(0, true);
    browser.close(1);
    browser.close(0);
    let next = browser.open(Start::default());
    assert_eq!((browser.tabs[next].session.unread(), browser.tabs[next].texts()), (0, vec!["hello", "hi"]));
    browser.with_tab(next, |tab| tab.answer_messages(&["o1 operator Anna here"]));
    assert_eq!(browser.tabs[next].session.unread(), 1);
}

#[test]
fn a_restored_page_shows_messages_from_the_meantime() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.feed(other, Input::PageHidden);
    browser.tabs[other].isolated = true;
    browser.send(leader, "anybody?");
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    browser.send(leader, "good");
    assert_eq!(browser.tabs[other].texts(), ["hello", "hi"]);
    browser.tabs[other].isolated = false;
    browser.restore(other);
    assert_eq!(browser.tabs[other].texts(), ["hello", "hi", "anybody?", "yes", "good"]);
    assert_eq!(browser.tabs[other].session.unread(), browser.tabs[leader].session.unread());
}

#[test]
fn every_tab_emits_the_delivery_of_a_message() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(leader, "anybody?");
    assert!(!browser.tabs[other].emitted_texts().contains(&"anybody?"), "it is in flight");
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    assert_eq!(browser.tabs[other].emitted_texts(), ["hello", "hi", "anybody?", "yes"]);
}

#[test]
fn shares_a_loaded_config_with_every_tab() {
    let mut browser = Browser::with(2);
    browser.with_tab(0, |tab| tab.answer(Config, r#"{"config":{"assistantName":"Clover"}}"#));
    for tab in &browser.tabs {
        assert_eq!(tab.session.config().and_then(|config| config.assistant_name.as_deref()), Some("Clover"));
    }
}

#[test]
fn shares_operator_presence_with_every_tab() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.with_tab(leader, |tab| {
        tab.wait_for(Presence);
        tab.answer(Presence, r#"{"operatorOnline":true,"shouldPollMessages":true}"#);
    });
    assert_eq!(browser.tabs[other].session.operator_online(), Some(true));
    let emitted =
        browser.tabs[other].emitted.iter().filter(|event| matches!(event, SessionEvent::Presence(true)));
    assert_eq!(emitted.count(), 1);
}

#[test]
fn shows_a_notice_in_every_tab_and_on_the_next_page() {
    let outcomes = [
        (
            r#"{"conversationId":"c1","message":{"id":"a2","role":"assistant","content":"Sorry"},"outcome":"could_not_answer"}"#,
            Notice::Unanswered,
        ),
        (r#"{"conversationId":"c1","aiStatus":"blocked"}"#, Notice::Blocked),
        (r#"{"conversationId":"c1","aiStatus":"provider_error"}"#, Notice::NoReply),
    ];
    for (outcome, notice) in outcomes {
        let (mut browser, leader, other) = Browser::in_conversation_with_leader();
        browser.send(other, "hm");
        browser.with_tab(leader, |tab| tab.answer(Send, outcome));
        browser.wait(32_000);
        assert_eq!(browser.tabs[other].session.notice(), Some(notice));
        let next = browser.open(Start::default());
        assert_eq!(browser.tabs[next].session.notice(), Some(notice));
    }
}

#[test]
fn does_not_resend_a_message_another_tab_delivered() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(leader, "there?");
    browser.tabs[other].isolated = true;
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    browser.crash(leader);
    browser.tabs[0].isolated = false;
    let stored = parsed(&browser.storage);
    browser.feed(0, Input::PageHidden);
    browser.feed(0, Input::PageRestored(stored));
    browser.wait(2_000);
    assert_eq!(
        (browser.tabs[0].delivery("there?"), browser.tabs[0].attempts().len()),
        (Delivery::Delivered, 0)
    );
}

#[test]
fn still_awaits_the_config_after_adopting_another_visitor() {
    let mut tab = Tab::open(vec![], 0);
    let requested = tab.waiting(Config).expect("a request").id;
    tab.receive_from_visitor("another", r#""does":"here","revision":1"#);
    assert_eq!(tab.session.visitor_id().as_str(), "another");
    assert_eq!(tab.waiting(Config).map(|request| request.id), Some(requested));
}
