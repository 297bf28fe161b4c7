//! The visitor: one in all tabs of a browser, and nothing of another.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{Tab, json};
use chat_protocol::Endpoint::Send;
use chat_session::{Input, Start, keys};

#[test]
fn reset_erases_the_visitor_in_every_tab_and_in_storage() {
    let mut browser = Browser::in_conversation();
    let before = browser.tabs[0].session.visitor_id().clone();
    browser.set_open(0, true);
    browser.send(1, "on its way");
    browser.feed(1, Input::Reset);
    for tab in &browser.tabs {
        assert!(tab.session.entries().is_empty() && tab.session.conversation_id().is_none());
        assert_ne!(tab.session.visitor_id(), &before);
        assert_eq!(tab.session.visitor_id(), browser.tabs[0].session.visitor_id());
        assert_eq!(tab.session.unread(), 0);
    }
    let stored: Vec<&str> = browser.storage.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(stored, ["chat-widget:visitor"]);
    browser.wait(2_000);
    browser.send(0, "hello again");
    browser.wait(400);
    let leader = browser.leaders()[0];
    let body = browser.tabs[leader].waiting(Send).expect("a request").body.clone().expect("a body");
    assert!(!body.contains("conversationId") && !body.contains(before.as_str()), "{body}");
}

#[test]
fn two_tabs_that_start_together_agree_on_one_visitor() {
    let start = |seed| Start { seed, visible: true, online: true, ..Start::default() };
    let mut browser = Browser::with(0);
    browser.tabs = vec![Tab::begin(start(1), vec![], 0), Tab::begin(start(2), vec![], 0)];
    assert_ne!(browser.tabs[0].session.visitor_id(), browser.tabs[1].session.visitor_id());
    browser.set_open(0, true);
    browser.set_open(1, true);
    browser.wait(1_000);
    assert_eq!(browser.tabs[0].session.visitor_id(), browser.tabs[1].session.visitor_id());
    assert_eq!(browser.leaders().len(), 1);
}

#[test]
fn a_tab_with_empty_storage_joins_the_conversation_of_another() {
    let mut browser = Browser::in_conversation();
    browser.feed(0, Input::Visible(false));
    browser.feed(1, Input::Visible(false));
    browser.storage.clear();
    let third = browser.open(Start::default());
    browser.set_open(third, true);
    browser.wait(1_000);
    assert_eq!(browser.tabs[third].session.visitor_id(), browser.tabs[0].session.visitor_id());
    assert_eq!(browser.tabs[third].texts(), ["hello", "hi"]);
}

#[test]
fn a_leader_without_a_conversation_joins_that_of_a_tab_which_answers_late() {
    let mut browser = Browser::in_conversation();
    let visitor = browser.tabs[0].session.visitor_id().clone();
    browser.suspend(0);
    browser.suspend(1);
    // The browser refuses storage, so that the new page has another visitor.
    browser.storage.clear();
    let reloaded = browser.open(Start::default());
    browser.set_open(reloaded, true);
    browser.wait(1_000);
    assert!(browser.tabs[reloaded].session.leads());
    assert_ne!(browser.tabs[reloaded].session.visitor_id(), &visitor);
    browser.resume(0);
    browser.resume(1);
    browser.wait(2_000);
    assert_eq!(browser.tabs[reloaded].session.visitor_id(), &visitor);
    assert_eq!(browser.tabs[reloaded].texts(), ["hello", "hi"]);
    assert_eq!(browser.leaders().len(), 1);
}

#[test]
fn a_new_leader_stores_what_it_knows_and_nothing_if_it_knows_nothing() {
    let mut browser = Browser::with(1);
    browser.set_open(0, true);
    browser.wait(1_000);
    assert_eq!(browser.leaders(), [0]);
    let stored = |browser: &Browser| browser.storage.iter().any(|(key, _)| key.ends_with(keys::CONVERSATION));
    assert!(!stored(&browser));

    let (mut browser, leader, _) = Browser::in_conversation_with_leader();
    browser.crash(leader);
    browser.storage.clear();
    browser.wait(2_000);
    assert_eq!(browser.leaders(), [0]);
    assert!(stored(&browser), "the previous leader may have been closed before it could store it");
}

#[test]
fn a_visitor_whom_a_companion_could_not_store_gives_way_to_that_of_another_tab() {
    for (is_new, expected) in [(r#","isNew":true"#, "v-of-the-first-tab"), ("", "v-of-the-companion")] {
        let mut browser = Browser::with(0);
        browser.storage =
            vec![("chat-widget:visitor".into(), r#"{"visitorId":"v-of-the-first-tab"}"#.into())];
        browser.open(Start::default());
        browser.send(0, "hello");
        browser.wait(400);
        let handover = format!(r#"{{"visitorId":"v-of-the-companion"{is_new}}}"#);
        browser.storage = vec![("chat-widget:visitor".into(), handover)];
        let second = browser.open(Start::default());
        browser.set_open(second, true);
        browser.wait(1_000);
        assert_eq!(browser.tabs[second].session.visitor_id().as_str(), expected);
    }
}

#[test]
fn a_page_restored_to_another_visitor_shows_nothing_of_the_previous_one() {
    let mut browser = Browser::in_conversation();
    browser.feed(1, Input::PageHidden);
    browser.tabs[1].isolated = true;
    browser.feed(0, Input::Reset);
    browser.tabs[1].isolated = false;
    browser.restore(1);
    assert!(browser.tabs[1].session.entries().is_empty());
    assert_eq!(browser.tabs[1].session.visitor_id(), browser.tabs[0].session.visitor_id());
}

#[test]
fn a_page_restored_to_another_visitor_does_not_depose_the_leader_of_that_visitor() {
    let (mut browser, leader, _) = Browser::in_conversation_with_leader();
    browser.close(leader);
    browser.wait(1_000);
    assert_eq!(browser.leaders(), [0], "it leads in a later term");
    // It stores and broadcasts everything again after ten seconds.
    browser.feed(0, Input::PersistFailed);
    browser.feed(0, Input::PageHidden);
    (browser.tabs[0].isolated, browser.tabs[0].suspended) = (true, true);
    browser.storage.clear();
    let next = browser.open(Start::default());
    browser.send(next, "hello");
    browser.wait(10_000);
    assert_eq!(browser.leaders(), [next]);

    (browser.tabs[0].isolated, browser.tabs[0].suspended) = (false, false);
    browser.tabs[0].now_ms = browser.now_ms;
    browser.restore(0);
    assert_eq!(browser.tabs[0].session.visitor_id(), browser.tabs[next].session.visitor_id());
    assert_eq!(browser.leaders(), [next]);
}

#[test]
fn each_customer_has_a_separate_conversation() {
    let customer = |id: &str| Start { customer_id: Some(id.into()), ..Start::default() };
    let mut browser = Browser::with(0);
    let ann = browser.open(customer("ann"));
    browser.send(ann, "hello");
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
fn ignores_stored_values_of_another_visitor() {
    let mut browser = Browser::in_conversation();
    browser.feed(0, Input::Online(false));
    browser.feed(1, Input::Online(false));
    browser.send(0, "mine");
    let mut storage = browser.storage.clone();
    for (key, text) in &mut storage {
        if key == "chat-widget:visitor" {
            *text = r#"{"v":2,"visitorId":"v-somebody-else"}"#.into();
        }
    }
    let tab = Tab::open(storage, browser.now_ms);
    assert!(tab.session.entries().is_empty() && tab.attempts().is_empty());
    assert!(tab.storage.iter().any(|(key, _)| key.contains("outbox:")), "they are not removed");
}

#[test]
fn tells_a_tab_that_missed_a_reset_and_removes_its_writes() {
    let mut tab = Tab::in_conversation();
    let old = tab.session.visitor_id().to_string();
    tab.feed(Input::Reset);
    let new = tab.session.visitor_id().to_string();
    for does in ["ask", "keep", "here"] {
        tab.take_broadcast_kinds();
        tab.writes.clear();
        tab.receive_from_visitor(&old, &format!(r#""does":"{does}""#));
        let reset = json(&tab.broadcasts[0]);
        assert_eq!(reset.get("visitor"), Some(&old.as_str().into()), "or the other tab would ignore it");
        assert_eq!(reset.get("value").and_then(|value| value.get("visitorId")), Some(&new.as_str().into()));
        assert!(
            tab.writes.contains(&("chat-widget:conversation".to_owned(), None)),
            "the other tab may have stored it since"
        );
    }
    tab.take_broadcast_kinds();
    tab.receive_from_visitor(&old, r#""does":"reset""#);
    assert!(tab.take_broadcast_kinds().is_empty(), "two tabs that know of the reset send nothing");
}

#[test]
fn an_empty_tab_adopts_the_visitor_of_a_tab_with_a_conversation() {
    // The tab's own id is a UUID: it sorts between the two.
    for (visitor, revision, adopts) in [("!before", 0, true), ("w-behind", 0, false), ("w-behind", 1, true)] {
        let mut tab = Tab::open(vec![], 0);
        tab.take_broadcast_kinds();
        tab.receive_from_visitor(visitor, &format!(r#""does":"ask","revision":{revision}"#));
        assert_eq!(tab.session.visitor_id().as_str() == visitor, adopts);
        assert_eq!(tab.stored(keys::VISITOR).expect("a visitor").contains(visitor), adopts);
        assert_eq!(tab.take_broadcast_kinds(), [if adopts { "hello" } else { "here" }]);
        tab.receive_from_visitor("x-more", r#""does":"here""#);
        assert!(tab.broadcasts.is_empty(), "only a candidate gets a reply");
    }
}

#[test]
fn an_empty_tab_adopts_the_visitor_with_the_smaller_id() {
    let challenge = |revision: u32| format!(r#""does":"ask","revision":{revision}"#);
    let mut tab = Tab::open(vec![], 0);
    for (visitor, revision, adopted) in
        [("w", 1, "w"), ("u", 0, "w"), ("x", 1, "w"), ("u", 1, "u"), ("u", 1, "u"), ("a", 0, "u")]
    {
        tab.receive_from_visitor(visitor, &challenge(revision));
        assert_eq!(tab.session.visitor_id().as_str(), adopted);
    }
    let mut tab = Tab::open(vec![], 0);
    for (visitor, revision, adopted) in [("!", 0, "!"), ("x", 1, "x")] {
        tab.receive_from_visitor(visitor, &challenge(revision));
        assert_eq!(tab.session.visitor_id().as_str(), adopted);
    }
}

#[test]
fn a_tab_with_a_conversation_keeps_its_visitor() {
    let mut with_pending = Tab::open(vec![], 0);
    with_pending.feed(Input::Send { text: "hello".into(), page_path: "/".into() });
    let known_to_storage = Tab::open(vec![], 0).reload();
    for mut tab in [with_pending, known_to_storage] {
        tab.broadcasts.clear();
        tab.receive_from_visitor("!before", r#""does":"ask","revision":9"#);
        assert_ne!(tab.session.visitor_id().as_str(), "!before");
        assert_eq!(
            json(&tab.broadcasts[0]).get("revision"),
            Some(&1.into()),
            "the tab has something to lose"
        );
    }
}
