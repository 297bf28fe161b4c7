//! Persons whom the site proves: they sign in and out, on several devices and in several tabs.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{LEAD_MS, NOTHING, Tab};
use chat_protocol::Endpoint::{Events, Messages, Send};
use chat_protocol::VisitorProfile;
use chat_session::{Delivery, Input, Page, Reports, Start, VERIFIED};

const ADA: Option<&str> = Some("crm-ada");
const BOB: Option<&str> = Some("crm-bob");

fn proving() -> Start {
    Start {
        reports: Reports::Auto,
        visible: true,
        online: true,
        seed: 7,
        expects_proof: true,
        ..Start::default()
    }
}

/// Opens a tab in which somebody has signed in, without a conversation on any device.
fn signed_in(storage: Vec<(String, String)>, now_ms: u64, person: Option<&str>) -> Tab {
    let mut tab = Tab::start(proving(), storage, now_ms);
    tab.prove(person);
    tab.wait(LEAD_MS);
    tab
}

/// Opens a tab in which Ada has signed in, and has a conversation: "one", and the reply "first".
fn adas_conversation() -> Tab {
    let mut tab = signed_in(Vec::new(), 0, ADA);
    tab.answer(Messages, NOTHING);
    tab.set_open(true);
    tab.send("one");
    tab.reply(1, "first");
    tab
}

/// Returns the keys in storage that belong to a person.
fn keys_of_persons(storage: &[(String, String)]) -> Vec<&str> {
    storage.iter().map(|(key, _)| key.as_str()).filter(|key| key.contains(VERIFIED)).collect()
}

#[test]
fn a_person_on_a_new_device_sees_the_current_conversation_and_nothing_in_it_is_new() {
    let mut tab = signed_in(Vec::new(), 0, ADA);
    assert_eq!(tab.wait_for(Messages).query, [], "without an id: the proof names the visitor");
    tab.answer(
        Messages,
        r#"{"conversationId":"c7","messages":[{"id":"a1","role":"operator","content":"old"}]}"#,
    );
    let read = tab.wait_for(Messages);
    assert_eq!(read.query, [("conversationId", "c7".to_owned())]);
    tab.answer_messages(&["u1 visitor hello", "a1 operator old"]);
    assert_eq!(tab.texts(), ["hello", "old"]);
    assert_eq!((tab.session.unread(), tab.emitted_texts().len()), (0, 0));
}

#[test]
fn a_person_without_a_conversation_is_looked_up_once() {
    let mut tab = signed_in(Vec::new(), 0, ADA);
    tab.answer(Messages, NOTHING);
    tab.set_open(true);
    tab.wait(600_000);
    assert_eq!(tab.count(Messages), 1);
    let mut tab = signed_in(Vec::new(), 0, ADA);
    tab.refuse(Messages, 400, "INVALID_REQUEST", None);
    tab.wait(600_000);
    assert_eq!(tab.count(Messages), 1, "a service that knows no proof is not asked again");
    let mut tab = signed_in(Vec::new(), 0, ADA);
    tab.fail(Messages);
    tab.wait(4_000);
    assert_eq!(tab.count(Messages), 1);
    tab.wait_for(Messages);
    assert_eq!(tab.count(Messages), 2, "no connection");
    let mut tab = Tab::open(Vec::new(), 0);
    tab.set_open(true);
    tab.wait(60_000);
    assert_eq!(tab.count(Messages), 0, "whoever is not proved has no other device");
}

#[test]
fn after_signing_out_nothing_of_the_person_is_shown_stored_or_sent() {
    let mut tab = adas_conversation();
    let visitor = tab.session.visitor_id().clone();
    let profile = chat_protocol::VisitorProfile { name: Some("Ada".into()), ..Default::default() };
    tab.feed(Input::Identify(profile));
    assert!(!keys_of_persons(&tab.storage).is_empty());
    tab.prove(None);
    assert!(tab.session.entries().is_empty() && tab.session.conversation_id().is_none());
    assert_eq!(tab.session.profile().name, None);
    assert_ne!(tab.session.visitor_id(), &visitor);
    assert!(keys_of_persons(&tab.storage).is_empty(), "{:?}", tab.storage);
    assert_eq!((tab.forgets, tab.session.unread()), (1, 0));
    tab.send("next");
    let body = tab.waiting(Send).expect("a request").body.clone().expect("a body");
    assert!(!body.contains("c1") && !body.contains(visitor.as_str()) && !body.contains("Ada"), "{body}");
    assert!(!tab.storage.iter().any(|(_, text)| text.contains("\"c1\"") || text.contains("crm-ada")));
}

#[test]
fn a_page_without_a_proof_shows_and_keeps_nothing_of_an_earlier_page_with_one() {
    let tab = adas_conversation();
    let next = Tab::open(tab.storage.clone(), 10_000);
    assert!(next.session.entries().is_empty() && keys_of_persons(&next.storage).is_empty());
    assert_eq!(next.forgets, 1);
    // A page that expects a proof waits for it.
    let mut next = Tab::start(proving(), tab.storage, 10_000);
    assert!(next.session.entries().is_empty());
    next.prove(ADA);
    assert_eq!(next.texts(), ["one", "first"]);
    assert_eq!(next.forgets, 0);
}

#[test]
fn another_person_sees_nothing_of_the_one_before() {
    let tab = adas_conversation();
    let storage = tab.storage.clone();
    for mut tab in [tab, Tab::start(proving(), storage, 10_000)] {
        tab.prove(BOB);
        assert!(tab.session.entries().is_empty());
        assert!(
            keys_of_persons(&tab.storage).iter().all(|key| key.ends_with("crm-bob")),
            "{:?}",
            tab.storage
        );
        assert_eq!(tab.forgets, 1);
        tab.wait(LEAD_MS);
        assert_eq!(tab.wait_for(Messages).query, []);
    }
}

#[test]
fn contact_details_from_before_somebody_signed_in_who_is_known_are_not_theirs() {
    let storage = adas_conversation().storage;
    let mut tab = Tab::start(proving(), storage, 10_000);
    let site = VisitorProfile { name: Some("Ada".into()), ..Default::default() };
    tab.feed(Input::Identify(site));
    let entered = VisitorProfile { email: Some("guest@example.com".into()), ..Default::default() };
    tab.feed(Input::Contact(entered, Page::default()));
    assert_eq!(tab.session.profile().email.as_deref(), Some("guest@example.com"));
    tab.prove(ADA);
    assert_eq!(tab.texts(), ["one", "first"]);
    assert_eq!(tab.session.profile().email, None);
    assert_eq!(tab.session.profile().name.as_deref(), Some("Ada"), "what the site says stays");
}

#[test]
fn an_erased_conversation_of_a_person_is_not_looked_up_again() {
    let mut tab = signed_in(Vec::new(), 0, ADA);
    tab.wait_for(Messages);
    tab.set_open(true);
    tab.send("one");
    tab.reply(1, "first");
    tab.feed(Input::Reset);
    tab.wait(60_000);
    assert!(tab.session.entries().is_empty() && tab.session.conversation_id().is_none());
}

#[test]
fn a_conversation_from_before_somebody_signed_in_is_theirs_and_stays_in_view() {
    let mut tab = Tab::start(proving(), Vec::new(), 0);
    tab.set_open(true);
    tab.send("one");
    tab.reply(1, "first");
    let visitor = tab.session.visitor_id().clone();
    tab.prove(ADA);
    assert_eq!((tab.texts(), tab.session.visitor_id()), (vec!["one", "first"], &visitor));
    assert_eq!(tab.forgets, 0);
    tab.wait(LEAD_MS);
    tab.send("two");
    let body = tab.waiting(Send).expect("a request").body.clone().expect("a body");
    assert!(body.contains(r#""conversationId":"c1""#), "{body}");
    assert_eq!(tab.stored("conversation"), None, "nobody else continues it");
    tab.prove(None);
    assert!(tab.session.entries().is_empty() && keys_of_persons(&tab.storage).is_empty());
}

#[test]
fn a_message_keeps_its_bytes_and_its_key_when_the_visitor_signs_in_between_two_attempts() {
    let mut tab = Tab::start(proving(), Vec::new(), 0);
    tab.send("hello");
    tab.fail(Send);
    tab.prove(ADA);
    tab.wait_for(Send);
    let attempts = tab.attempts();
    assert_eq!((&attempts[0].body, &attempts[0].key), (&attempts[1].body, &attempts[1].key));
    assert!(!attempts[1].is_unproved);
    tab.reply(1, "hi");
    assert_eq!(tab.texts(), ["hello", "hi"]);
    assert_eq!(tab.delivery("hello"), Delivery::Delivered);
}

#[test]
fn a_message_keeps_its_bytes_and_its_key_when_the_visitor_signs_out_between_two_attempts() {
    let mut tab = adas_conversation();
    tab.send("two");
    tab.fail(Send);
    tab.prove(None);
    let again = tab.wait_for(Send);
    let first = tab.attempts()[1].clone();
    assert_eq!((&first.body, &first.key), (&again.body, &again.key));
    assert!(again.is_unproved, "whoever is signed in now did not write it");
    // The response belongs to the previous visitor.
    tab.reply(2, "second");
    assert!(tab.session.entries().is_empty() && tab.session.conversation_id().is_none());
    tab.wait(60_000);
    assert_eq!(tab.attempts().len(), 3);
    // The next visitor's own message is not held up.
    tab.send("mine");
    assert!(tab.waiting(Send).is_some_and(|request| !request.is_unproved));
}

#[test]
fn a_message_is_sent_after_its_person_left_the_page_and_signed_out() {
    let mut tab = adas_conversation();
    tab.send("two");
    let first = tab.waiting(Send).expect("a request").clone();
    let mut next = Tab::open(tab.storage, 10_000);
    assert!(next.session.entries().is_empty() && keys_of_persons(&next.storage).is_empty());
    let again = next.wait_for(Send);
    assert_eq!((&first.body, &first.key), (&again.body, &again.key));
    for attempt in 2..=6 {
        next.refuse(Send, 503, "UNAVAILABLE", None);
        next.wait_for(Send);
        assert_eq!(next.attempts().len(), attempt);
    }
    next.refuse(Send, 503, "UNAVAILABLE", None);
    next.wait(600_000);
    assert_eq!(next.attempts().len(), 6, "nobody is there to retry it");
}

#[test]
fn events_from_before_somebody_signed_in_are_sent_once() {
    for has_conversation in [false, true] {
        let storage = if has_conversation { adas_conversation().storage } else { Vec::new() };
        let mut tab = Tab::start(proving(), storage, 10_000);
        tab.feed(Input::PageViewed(chat_session::Page { path: "/prices".into(), ..Default::default() }));
        tab.prove(ADA);
        let batch = tab.wait_for(Events);
        assert!(batch.body.expect("a body").contains("/prices"));
        tab.answer(Events, r#"{"accepted":1}"#);
        assert_eq!(tab.count_stored("event:") + tab.count_stored("batch:"), 0, "{:?}", tab.storage);
    }
}

#[test]
fn a_person_who_signs_out_in_one_tab_is_gone_from_the_others() {
    let mut browser = Browser::with(0);
    for _ in 0..2 {
        let tab = browser.open(proving());
        browser.prove(tab, ADA);
        browser.wait(1_000);
    }
    browser.send(0, "hello");
    browser.wait(400);
    let leader = browser.leaders()[0];
    browser.with_tab(leader, |tab| tab.reply(1, "hi"));
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi"]));
    browser.prove(0, None);
    assert!(browser.tabs[1].is_told && !browser.tabs[0].is_told);
    browser.prove(1, None);
    for tab in &browser.tabs {
        assert!(tab.session.entries().is_empty());
    }
    assert!(!browser.tabs[0].is_told, "the told tab does not tell again");
    assert!(keys_of_persons(&browser.storage).is_empty());
    browser.set_open(0, true);
    browser.wait(2_000);
    assert_eq!(browser.leaders().len(), 1, "both are tabs of the same visitor again");
    assert_eq!(browser.tabs[0].session.visitor_id(), browser.tabs[1].session.visitor_id());
}

#[test]
fn a_tab_with_a_proof_and_one_without_share_nothing() {
    let mut browser = Browser::with(0);
    let tab = browser.open(proving());
    browser.prove(tab, ADA);
    browser.wait(1_000);
    browser.send(tab, "secret");
    browser.wait(400);
    browser.with_tab(tab, |tab| tab.reply(1, "hi"));
    let other = browser.open(Start::default());
    browser.set_open(other, true);
    browser.wait(2_000);
    assert!(browser.tabs[other].session.entries().is_empty());
    browser.send(other, "mine");
    browser.wait(2_000);
    assert_eq!(browser.tabs[tab].texts(), ["secret", "hi"]);
    assert_eq!(browser.tabs[other].texts(), ["mine"]);
    assert_eq!(browser.leaders().len(), 2, "each polls for its own conversation");
}

#[test]
fn tabs_from_before_somebody_signed_in_no_longer_show_what_is_theirs_now() {
    let mut browser = Browser::in_conversation();
    let tab = browser.open(proving());
    assert_eq!(browser.tabs[tab].texts(), ["hello", "hi"]);
    browser.prove(tab, ADA);
    assert_eq!(browser.tabs[tab].texts(), ["hello", "hi"]);
    assert!(browser.tabs[0].session.entries().is_empty() && browser.tabs[1].session.entries().is_empty());
    browser.wait(2_000);
    browser.prove(tab, None);
    browser.wait(2_000);
    assert!(browser.tabs.iter().all(|tab| tab.session.entries().is_empty()));
}
