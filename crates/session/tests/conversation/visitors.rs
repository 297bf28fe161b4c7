//! All tabs of a browser have one visitor, and nothing of another.

use crate::site::browser::Browser;
use crate::site::{Tab, parsed};
use chat_protocol::Endpoint::Send;
use chat_session::{Input, Start};

#[test]
fn reset_forgets_in_all_tabs_and_in_storage() {
    let mut browser = Browser::in_conversation();
    let before = browser.tabs[0].session.visitor_id().clone();
    browser.look(0, true);
    browser.say(1, "on its way");
    browser.feed(1, Input::Reset);
    for tab in &browser.tabs {
        assert!(tab.session.entries().is_empty() && tab.session.conversation_id().is_none());
        assert_ne!(tab.session.visitor_id(), &before);
        assert_eq!(tab.session.visitor_id(), browser.tabs[0].session.visitor_id());
        assert_eq!(tab.session.unread(), 0);
    }
    let kept: Vec<&str> = browser.storage.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(kept, ["chat-widget:visitor"]);
    browser.wait(2_000);
    browser.say(0, "hello again");
    browser.wait(400);
    let leader = browser.leaders()[0];
    let body = browser.tabs[leader].waiting(Send).expect("a request").body.clone().expect("a body");
    assert!(!body.contains("conversationId") && !body.contains(before.as_str()), "{body}");
}

#[test]
fn two_tabs_that_begin_at_the_same_moment_have_one_visitor() {
    let start = |seed| Start { seed, visible: true, online: true, ..Start::default() };
    let mut browser = Browser::with(0);
    browser.tabs = vec![Tab::begin(start(1), vec![], 0), Tab::begin(start(2), vec![], 0)];
    assert_ne!(browser.tabs[0].session.visitor_id(), browser.tabs[1].session.visitor_id());
    browser.look(0, true);
    browser.look(1, true);
    browser.wait(1_000);
    assert_eq!(browser.tabs[0].session.visitor_id(), browser.tabs[1].session.visitor_id());
    assert_eq!(browser.leaders().len(), 1);
}

#[test]
fn a_tab_that_finds_nothing_in_storage_joins_the_conversation_that_another_has() {
    let mut browser = Browser::in_conversation();
    browser.feed(0, Input::Visible(false));
    browser.feed(1, Input::Visible(false));
    browser.storage.clear();
    let third = browser.open(Start::default());
    browser.look(third, true);
    browser.wait(1_000);
    assert_eq!(browser.tabs[third].session.visitor_id(), browser.tabs[0].session.visitor_id());
    assert_eq!(browser.tabs[third].texts(), ["hello", "hi"]);
}

#[test]
fn a_page_that_comes_back_to_another_visitor_shows_nothing_of_the_one_before() {
    let mut browser = Browser::in_conversation();
    browser.feed(1, Input::Left);
    browser.tabs[1].deaf = true;
    browser.feed(0, Input::Reset);
    browser.tabs[1].deaf = false;
    let stored = parsed(&browser.storage);
    browser.feed(1, Input::Restored(stored));
    assert!(browser.tabs[1].session.entries().is_empty());
    assert_eq!(browser.tabs[1].session.visitor_id(), browser.tabs[0].session.visitor_id());
}

#[test]
fn another_customer_starts_clean_and_the_first_one_comes_back_to_the_same() {
    let customer = |id: &str| Start { customer_id: Some(id.into()), ..Start::default() };
    let mut browser = Browser::with(0);
    let ann = browser.open(customer("ann"));
    browser.say(ann, "hello");
    browser.wait(400);
    browser.with_tab(ann, |tab| tab.reply(1, "hi"));
    let visitor = browser.tabs[ann].session.visitor_id().clone();
    browser.close(ann);
    for other in [customer("bob"), Start::default()] {
        let other = browser.open(other);
        assert!(browser.tabs[other].texts().is_empty());
        assert_ne!(browser.tabs[other].session.visitor_id(), &visitor);
        browser.close(other);
    }
    let ann = browser.open(customer("ann"));
    assert_eq!(
        (browser.tabs[ann].texts(), browser.tabs[ann].session.visitor_id()),
        (vec!["hello", "hi"], &visitor)
    );
}

#[test]
fn letters_and_conversations_of_another_visitor_are_left_alone() {
    let mut browser = Browser::in_conversation();
    browser.feed(0, Input::Online(false));
    browser.feed(1, Input::Online(false));
    browser.say(0, "mine");
    let mut storage = browser.storage.clone();
    for (key, text) in &mut storage {
        if key == "chat-widget:visitor" {
            *text = r#"{"v":2,"visitorId":"v-somebody-else"}"#.into();
        }
    }
    let tab = Tab::open(storage, browser.now_ms);
    assert!(tab.session.entries().is_empty() && tab.attempts().is_empty());
    assert!(tab.storage.iter().any(|(key, _)| key.contains("outbox:")), "nor are they forgotten");
}
