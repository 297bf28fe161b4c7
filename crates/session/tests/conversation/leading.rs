//! Which tab leads, when some are hidden, stopped or slow.

use crate::site::browser::Browser;
use crate::site::{LEAD_MS, Tab};
use chat_protocol::Endpoint::{Config, Send};
use chat_session::{Input, Start};

#[test]
fn a_hidden_leader_makes_way_at_once_and_asks_again_after_five_seconds() {
    let mut browser = Browser::with(1);
    browser.say(0, "hello");
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
fn a_visible_leader_that_was_asked_for_the_lead_still_sends_when_it_is_hidden() {
    let mut browser = Browser::with(1);
    browser.say(0, "hello");
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
fn a_tab_whose_timers_are_slowed_down_leads_all_the_same() {
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
fn a_tab_that_was_stopped_while_it_asked_for_the_lead_hears_the_others_out_first() {
    let mut browser = Browser::with(1);
    browser.say(0, "hello");
    browser.stop(0);
    let second = browser.open(Start::default());
    assert_eq!(browser.leaders(), [second]);
    browser.wait(1_000);
    browser.wake(0);
    assert_eq!(browser.leaders(), [second]);
    browser.go_on(0);
    browser.wait(2_000);
    assert_eq!((browser.leaders(), browser.counts(Send)), (vec![second], vec![0, 1]));
}

#[test]
fn a_tab_that_has_nothing_to_do_asks_for_no_wake_up() {
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
fn a_tab_that_has_no_network_or_whose_chat_is_switched_off_is_hardly_woken() {
    let chats = [r#"{"config":{}}"#, r#"{"config":{"enabled":false}}"#];
    for (config, online) in [(chats[0], false), (chats[1], true), (chats[1], false)] {
        let mut tab = Tab::in_conversation();
        tab.say("two");
        tab.lose(Send);
        tab.answer(Config, config);
        tab.feed(Input::ReloadConfig);
        tab.feed(Input::Online(online));
        tab.look(false);
        let wakes = tab.wakes;
        tab.wait(600_000);
        assert!(tab.wakes - wakes <= 50, "{} times in ten minutes", tab.wakes - wakes);
    }
}
