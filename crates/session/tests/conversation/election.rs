//! Leader election in sessions, also with hidden, suspended and throttled tabs.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{LEAD_MS, Tab, parsed};
use chat_protocol::Endpoint::{Config, Messages, Presence, Send};
use chat_session::{Delivery, Input, Start, keys};

#[test]
fn only_the_leader_sends_and_polls() {
    let mut browser = Browser::with(3);
    browser.send(2, "hello");
    browser.wait(400);
    assert_eq!(browser.leaders().len(), 1);
    let leader = browser.leaders()[0];
    browser.with_tab(leader, |tab| tab.reply(1, "hi"));
    browser.wait(10_000);
    for endpoint in [Send, Messages, Presence] {
        for (tab, count) in browser.counts(endpoint).into_iter().enumerate() {
            assert_eq!(count > 0, tab == leader, "tab {tab} {endpoint:?}");
        }
    }
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi"]));
}

#[test]
fn replaces_a_closed_leader_at_once_and_a_crashed_one_within_two_seconds() {
    let (mut browser, leader, _) = Browser::in_conversation_with_leader();
    browser.close(leader);
    browser.wait(320);
    assert_eq!(browser.leaders(), [0], "the remaining tab leads");
    assert!(browser.tabs[0].count(Messages) > 0, "and polls at once");

    let (mut browser, leader, _) = Browser::in_conversation_with_leader();
    browser.crash(leader);
    browser.wait(1_400);
    assert_eq!(browser.leaders(), [0]);
    assert!(browser.tabs[0].count(Messages) > 0);
}

#[test]
fn a_hidden_leader_resigns_after_its_message_in_flight() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.feed(leader, Input::Visible(false));
    browser.wait(320);
    assert_eq!(browser.leaders(), [other]);

    browser.feed(leader, Input::Visible(true));
    browser.send(leader, "one more");
    browser.feed(other, Input::Visible(false));
    browser.wait(5_000);
    assert_eq!(browser.leaders(), [other], "it awaits the response");
    let polls = browser.tabs[other].count(Messages);
    browser.wait(5_000);
    assert_eq!(browser.tabs[other].count(Messages), polls, "and polls nothing");
    browser.with_tab(other, |tab| tab.reply(2, "yes?"));
    browser.wait(320);
    assert_eq!(browser.leaders(), [leader]);
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi", "one more", "yes?"]));
}

#[test]
fn a_hidden_tab_sends_waiting_messages_if_it_is_the_only_one() {
    let (mut browser, _, other) = Browser::in_conversation_with_leader();
    browser.close(other);
    browser.send(0, "hm");
    browser.feed(0, Input::Visible(false));
    browser.with_tab(0, |tab| tab.refuse(Send, 503, "", None));
    browser.wait(2_000);
    assert!(browser.tabs[0].waiting(Send).is_some(), "retried in a hidden tab");
    browser.with_tab(0, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(60_000)));
    let visible = browser.open(Start::default());
    assert_eq!(browser.leaders(), [visible], "a visible tab takes precedence");
}

#[test]
fn one_of_two_leaders_resigns_after_the_other_was_restored() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.tabs[leader].isolated = true;
    browser.wait(2_000);
    assert_eq!(browser.leaders().len(), 2, "the other tab sees no leader");
    browser.tabs[leader].isolated = false;
    browser.set_open(leader, true);
    browser.feed(other, Input::PageHidden);
    browser.restore(other);
    browser.wait(2_000);
    assert_eq!(browser.leaders().len(), 1);
}

#[test]
fn a_suspended_leader_stands_for_election_before_it_polls() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.suspend(leader);
    browser.wait(20_000);
    let polls = browser.tabs[leader].count(Messages);
    browser.resume(leader);
    assert_eq!(browser.leaders(), [other]);
    assert_eq!(browser.tabs[leader].count(Messages), polls);
}

#[test]
fn a_suspended_leader_resigns_to_a_tab_that_led_in_the_meantime() {
    // Of two leaders in the same term, the one with the smaller random name stays: several seeds are tried.
    for now_ms in 0..8 {
        let mut browser = Browser { now_ms, ..Browser::with(0) };
        let first = browser.open(Start::default());
        browser.send(first, "hello");
        browser.wait(400);
        browser.with_tab(first, |tab| tab.reply(1, "hi"));
        browser.suspend(first);
        let second = browser.open(Start::default());
        assert_eq!(browser.leaders(), [first, second], "the suspended tab does not know");
        browser.send(second, "anybody?");
        browser.with_tab(second, |tab| tab.reply(2, "yes"));
        browser.resume(first);
        browser.wait(5_000);
        assert_eq!(browser.leaders(), [second]);
        for tab in &browser.tabs {
            assert_eq!(tab.texts(), ["hello", "hi", "anybody?", "yes"]);
            assert_eq!(tab.delivery("anybody?"), Delivery::Delivered);
        }
        assert_eq!(browser.counts(Send), [1, 1]);
    }
}

#[test]
fn one_of_two_leaders_resigns_whichever_notices_first() {
    for first in 0..2 {
        let (mut browser, leader, _) = Browser::in_conversation_with_leader();
        browser.tabs[leader].isolated = true;
        browser.wait(2_000);
        assert_eq!(browser.leaders().len(), 2);
        browser.tabs[leader].isolated = false;
        // A tab that becomes visible again stands for election.
        let challenger = if first == 0 { leader } else { 1 - leader };
        browser.feed(challenger, Input::Visible(false));
        browser.feed(challenger, Input::Visible(true));
        browser.wait(1_000);
        assert_eq!(browser.leaders(), [1 - challenger], "the tab that did not stand again");
        let texts = browser.tabs[0].texts();
        assert_eq!(browser.tabs[1].texts(), texts);
    }
}

#[test]
fn a_hidden_follower_does_not_replace_a_hidden_leader_with_waiting_messages() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.send(leader, "hm");
    browser.feed(other, Input::Visible(false));
    browser.feed(leader, Input::Visible(false));
    browser.with_tab(leader, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(20_000)));
    for _ in 0..10 {
        browser.wait(1_000);
        assert_eq!(browser.leaders(), [leader]);
    }
}

#[test]
fn a_hidden_leader_yields_at_once_and_stands_again_after_five_seconds() {
    let mut browser = Browser::with(1);
    browser.send(0, "hello");
    browser.wait(LEAD_MS);
    browser.with_tab(0, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(60_000)));
    browser.feed(0, Input::Visible(false));
    assert_eq!(browser.leaders(), [0]);
    let visible = browser.begin(Start::default());
    assert!(browser.leaders().is_empty());
    browser.crash(visible);
    browser.wait(4_900);
    assert!(browser.leaders().is_empty());
    browser.wait(LEAD_MS + 100);
    assert_eq!(browser.leaders(), [0]);
}

#[test]
fn a_leader_that_was_challenged_while_visible_still_sends_when_hidden() {
    let mut browser = Browser::with(1);
    browser.send(0, "hello");
    browser.wait(LEAD_MS);
    browser.with_tab(0, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(3_000)));
    let second = browser.open(Start::default());
    assert_eq!(browser.leaders(), [0]);
    browser.crash(second);
    browser.feed(0, Input::Visible(false));
    browser.wait(3_000);
    assert_eq!(browser.tabs[0].attempts().len(), 2);
}

#[test]
fn a_tab_with_throttled_timers_becomes_the_leader() {
    let start = Start { visible: true, online: true, ..Start::default() };
    let mut tab = Tab::begin(start, vec![], 0);
    tab.feed(Input::Send { text: "hello".into(), page_path: "/".into() });
    for _ in 0..2 {
        tab.now_ms += 5_000;
        tab.wait(0);
    }
    assert!(tab.session.leads());
    assert_eq!(tab.attempts().len(), 1);
}

#[test]
fn a_suspended_candidate_handles_queued_messages_before_it_leads() {
    let mut browser = Browser::with(1);
    browser.send(0, "hello");
    browser.suspend(0);
    let second = browser.open(Start::default());
    assert_eq!(browser.leaders(), [second]);
    browser.wait(1_000);
    browser.run_late_timers(0);
    assert_eq!(browser.leaders(), [second]);
    browser.resume(0);
    browser.wait(2_000);
    assert_eq!((browser.leaders(), browser.counts(Send)), (vec![second], vec![0, 1]));
}

#[test]
fn an_idle_hidden_tab_sets_no_timer() {
    let mut browser = Browser::in_conversation();
    for index in 0..2 {
        browser.with_tab(index, |tab| {
            if tab.waiting(Config).is_some() {
                tab.answer(Config, r#"{"config":{}}"#);
            }
        });
        browser.feed(index, Input::Visible(false));
    }
    browser.wait(60_000);
    assert!(browser.leaders().is_empty());
    assert!(browser.tabs.iter().all(|tab| tab.wake_ms.is_none()));
}

#[test]
fn an_offline_or_switched_off_tab_rarely_wakes() {
    let chats = [r#"{"config":{}}"#, r#"{"config":{"enabled":false}}"#];
    for (config, online) in [(chats[0], false), (chats[1], true), (chats[1], false)] {
        let mut tab = Tab::in_conversation_sending("two");
        tab.fail(Send);
        tab.answer(Config, config);
        tab.feed(Input::ReloadConfig);
        tab.feed(Input::Online(online));
        tab.set_open(false);
        let wakes = tab.wakes;
        tab.wait(600_000);
        assert!(tab.wakes - wakes <= 50, "{} times in ten minutes", tab.wakes - wakes);
    }
}

#[test]
fn moves_a_waiting_message_after_messages_another_tab_sent_first() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.send("two");
    tab.wait(0);
    let (name, _) = tab.pending("two");
    let id = name.trim_start_matches(keys::OUTBOX);
    let two = format!(r#"{{"role":"visitor","text":"two","letter":"{id}","delivery":"waiting"}}"#);
    let three = r#"{"role":"visitor","text":"three","letter":"m3","id":"u3"}"#;
    let snapshot = format!(
        r#"{{"v":2,"revision":99,"writer":"other","conversationId":"c1","entries":[{two},{three}]}}"#
    );
    tab.receive(&format!(r#""does":"keep","name":"conversation","term":9,"value":{snapshot}"#));
    assert_eq!(tab.texts(), ["two", "three"]);
    tab.feed(Input::Online(true));
    tab.wait_for(Send);
    assert_eq!(tab.texts(), ["three", "two"]);
}

#[test]
fn stays_the_leader_if_the_window_closes_before_the_first_message() {
    let mut tab = Tab::open(vec![], 0);
    tab.set_open(true);
    tab.wait(LEAD_MS);
    assert!(tab.session.leads());
    tab.set_open(false);
    tab.wait(0);
    assert!(tab.session.leads(), "the first message does not wait for an election");
}

#[test]
fn a_candidate_that_withdraws_broadcasts_it_once() {
    let mut tab = Tab::open(vec![], 0);
    tab.set_open(true);
    assert!(tab.take_broadcast_kinds().contains(&"ask".to_owned()) && !tab.session.leads());
    tab.feed(Input::Visible(false));
    assert!(tab.take_broadcast_kinds().contains(&"free".to_owned()), "another tab may have yielded to it");
    tab.feed(Input::Online(false));
    assert!(tab.take_broadcast_kinds().is_empty(), "it broadcasts this once");
}

#[test]
fn a_leader_that_resigns_publishes_only_a_changed_conversation() {
    let mut tab = Tab::in_conversation();
    tab.writes.clear();
    tab.feed(Input::Visible(false));
    assert!(tab.take_broadcast_kinds().contains(&"free".to_owned()));
    assert!(!tab.writes.iter().any(|(key, _)| key.ends_with(keys::CONVERSATION)), "{:?}", tab.writes);
}

#[test]
fn sends_a_message_known_only_from_a_snapshot() {
    let mut tab = Tab::open(vec![], 0);
    tab.receive_write(
        keys::CONVERSATION,
        r#"{"revision":1,"writer":"gone","entries":[{"letter":"m-1","serial":0,"role":"visitor","text":"mine","delivery":"waiting"}]}"#,
    );
    assert_eq!((tab.texts(), tab.delivery("mine")), (vec!["mine"], Delivery::Waiting));
    tab.wait(2_000);
    assert_eq!(tab.attempts().len(), 1);
    tab.reply(1, "first");
    assert_eq!(tab.delivery("mine"), Delivery::Delivered);
}

#[test]
fn does_not_resend_a_delivered_message_after_the_page_is_restored() {
    let mut tab = Tab::in_conversation_sending("two");
    let (name, stored) = tab.pending("two");
    tab.wait_for(Messages);
    tab.answer_messages(&["u2 visitor two"]);
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    let attempts = tab.attempts().len();
    tab.feed(Input::PageHidden);
    tab.storage.push((format!("{}{name}", keys::PREFIX), stored));
    tab.feed(Input::PageRestored(parsed(&tab.storage.clone())));
    tab.wait(60_000);
    assert_eq!(tab.attempts().len(), attempts);
    assert_eq!(tab.count_stored(keys::OUTBOX), 0);
}
