//! Pending messages that another tab has stored, sent or delivered.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{Tab, json};
use chat_protocol::Endpoint::Send;
use chat_session::{Delivery, Input, Start, keys};

#[test]
fn a_repeated_write_does_not_reset_the_number_of_attempts() {
    for attempted in [false, true] {
        let mut tab = Tab::open(vec![], 0);
        tab.feed(Input::Online(false));
        tab.send("hello");
        if attempted {
            tab.feed(Input::Online(true));
        }
        let (name, early) = tab.pending("hello");
        tab.feed(Input::Online(true));
        for _ in 0..5 {
            tab.fail(Send);
            tab.wait_for(Send);
        }
        tab.receive_write(&name, &early);
        tab.fail(Send);
        assert_eq!((tab.attempts().len(), tab.delivery("hello")), (6, Delivery::Failed));
    }
}

#[test]
fn the_next_leader_continues_the_count_of_attempts() {
    let (mut browser, leader, _) = Browser::in_conversation_with_leader();
    browser.send(leader, "hm");
    for _ in 0..5 {
        browser.with_tab(leader, |tab| {
            tab.fail(Send);
            tab.wait_for(Send);
        });
        let now_ms = browser.tabs[leader].now_ms;
        browser.wait(now_ms - browser.now_ms);
    }
    browser.crash(leader);
    browser.wait(2_000);
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].delivery("hm")), (0, Delivery::Failed));
}

#[test]
fn a_leader_that_knows_nothing_sends_a_message_of_which_only_another_tab_has_heard() {
    let mut browser = Browser::with(1);
    browser.suspend(0);
    let writer = browser.open(Start::default());
    browser.send(writer, "hello");
    browser.crash(writer);
    browser.storage.retain(|(key, _)| key.ends_with(keys::VISITOR));
    let leader = browser.open(Start::default());
    browser.set_open(leader, true);
    browser.wait(1_000);
    assert_eq!((browser.leaders(), browser.tabs[leader].texts().len()), (vec![leader], 0));
    browser.resume(0);
    browser.wait(2_000);
    assert_eq!((browser.leaders(), browser.counts(Send)), (vec![leader], vec![0, 1]));
    browser.with_tab(leader, |tab| tab.reply(1, "hi"));
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi"]));
}

#[test]
fn a_leader_that_knows_nothing_sends_the_message_of_a_restored_page() {
    let mut browser = Browser::with(1);
    browser.send(0, "hello");
    browser.feed(0, Input::PageHidden);
    // The browser refused to store the message.
    browser.storage.retain(|(key, _)| key.ends_with(keys::VISITOR));
    let leader = browser.open(Start::default());
    browser.set_open(leader, true);
    browser.wait(1_000);
    browser.restore(0);
    browser.wait(2_000);
    assert_eq!((browser.leaders(), browser.counts(Send)), (vec![leader], vec![0, 1]));
    assert_eq!(browser.tabs[leader].texts(), ["hello"]);
}

#[test]
fn repeats_the_frozen_request_of_another_tab() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.send("three");
    let (name, pending) = tab.pending("three");
    let sent = r#""key":"chat-another","body":"{}","failed":false"#;
    tab.receive_write(&name, &pending.replace(r#""failed":false"#, sent));
    tab.reply(2, "second");
    assert_eq!(tab.waiting(Send).and_then(|request| request.body.as_deref()), Some("{}"));
}

#[test]
fn awaits_a_reply_instead_of_sending_a_message_another_tab_delivered() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.send("two");
    let (name, _) = tab.pending("two");
    tab.receive_write(&name, "null");
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    assert!(tab.session.awaits_reply());
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 1);
}

#[test]
fn a_follower_does_not_await_a_reply() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.feed(leader, Input::Online(false));
    browser.send(leader, "hm");
    let (name, _) = browser.tabs[leader].pending("hm");
    let tab = &mut browser.tabs[other];
    tab.receive_write(&name, "null");
    assert_eq!((tab.delivery("hm"), tab.session.awaits_reply()), (Delivery::Delivered, false));
}

#[test]
fn the_response_decides_about_a_message_in_flight() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.send("three");
    for text in ["two", "three"] {
        let (name, _) = tab.pending(text);
        tab.receive_write(&name, "null");
    }
    assert_eq!((tab.delivery("two"), tab.delivery("three")), (Delivery::Sending, Delivery::Delivered));
    tab.reply(2, "second");
    assert_eq!((tab.delivery("two"), tab.attempts().len()), (Delivery::Delivered, 2));
}

/// The leader receives the outcome of a message and crashes. The other tab receives only the snapshot, and
/// leads from then on.
fn leader_crashes_after_publishing(outcome: impl FnOnce(&mut Tab)) -> Browser {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(other, "there?");
    outcome(&mut browser.tabs[leader]);
    let broadcasts = std::mem::take(&mut browser.tabs[leader].broadcasts);
    for message in broadcasts.iter().filter(|message| message.contains(r#""name":"conversation""#)) {
        browser.tabs[other].feed(Input::TabMessage(json(message)));
    }
    browser.crash(leader);
    browser.wait(5_000);
    assert_eq!(browser.leaders(), [0]);
    browser
}

#[test]
fn the_next_leader_does_not_send_a_message_the_snapshot_shows_as_delivered() {
    let browser = leader_crashes_after_publishing(|tab| tab.reply(2, "yes"));
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].texts().len()), (0, 4));
}

#[test]
fn the_next_leader_does_not_send_a_message_the_snapshot_shows_as_failed() {
    let mut browser = leader_crashes_after_publishing(|tab| tab.refuse(Send, 400, "INVALID_REQUEST", None));
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].delivery("there?")), (0, Delivery::Failed));
    let key = browser.tabs[0].key("there?");
    browser.feed(0, Input::Retry(key));
    assert_eq!(browser.tabs[0].attempts().len(), 1);
}

#[test]
fn broadcasts_a_message_again_if_the_leader_missed_it() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.tabs[leader].isolated = true;
    browser.send(other, "missed");
    browser.tabs[leader].isolated = false;
    browser.send(leader, "received");
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    browser.with_tab(leader, |tab| tab.reply(3, "and yes"));
    assert_eq!(browser.tabs[leader].attempts().len(), 3);
    assert!(browser.tabs.iter().all(|tab| tab.delivery("missed") == Delivery::Delivered));
}

#[test]
fn the_next_leader_sends_in_the_order_of_writing() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(other, "alpha");
    browser.send(other, "beta");
    browser.with_tab(leader, |tab| tab.fail(Send));
    browser.crash(leader);
    browser.wait(3_000);
    let body = browser.tabs[0].waiting(Send).expect("an attempt").body.clone();
    assert!(body.expect("a body").contains("alpha"));
}

#[test]
fn a_pending_message_of_a_newer_version_does_not_count_as_delivered() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.send("two");
    let (name, _) = tab.pending("two");
    tab.receive_write(&name, r#"{"v":3}"#);
    assert_eq!(tab.delivery("two"), Delivery::Waiting);
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 2);
}

#[test]
fn sends_a_message_only_a_closed_leader_had_stored() {
    let mut tab = Tab::in_conversation();
    let snapshot =
        tab.stored(keys::CONVERSATION).expect("a conversation").replace(r#""revision":"#, r#""revision":1"#);
    let lost = r#""entries":[{"letter":"mlost","role":"visitor","text":"lost","at":5,"delivery":"waiting"},"#;
    tab.receive_write(keys::CONVERSATION, &snapshot.replace(r#""entries":["#, lost));
    assert_eq!(tab.count_stored(keys::OUTBOX), 0, "the tab that published the snapshot has it");
    tab.receive_write(keys::CONVERSATION, &snapshot.replace(r#""revision":"#, r#""revision":1"#));
    tab.receive(r#""does":"free""#);
    assert_eq!(tab.attempts().len(), 2);
    tab.reply(2, "found");
    assert_eq!(tab.texts(), ["one", "first", "lost", "found"]);
}

#[test]
fn merges_an_echo_with_a_message_stored_by_another_tab() {
    let mut tab = Tab::in_conversation();
    tab.answer_messages(&["a1 assistant first", "u2 visitor two"]);
    tab.receive(r#""does":"lead","term":99,"visible":true"#);
    let pending = r#"{"v":2,"text":"two","path":"/","attempts":1,"key":"chat-visitor-mtwo","body":"{}"}"#;
    for (stored, shown) in
        [(pending, &["one", "first", "two", "two"][..]), ("null", &["one", "first", "two"])]
    {
        tab.receive_write("outbox:mtwo", stored);
        assert_eq!(tab.texts(), shown);
    }
}
