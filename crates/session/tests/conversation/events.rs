//! Visitor events: reported if the site and the service allow it.

use crate::conversation::fixture::Tab;
use crate::conversation::fixture::browser::Browser;
use chat_protocol::Endpoint::Events;
use chat_protocol::VisitorProfile;
use chat_session::{Input, Page, SessionEvent, Start, keys};

#[test]
fn repeats_a_batch_of_events_byte_for_byte() {
    let mut tab = Tab::open(vec![], 0);
    tab.set_open(true);
    tab.set_open(false);
    tab.wait(4_000);
    let first = tab.waiting(Events).expect("a batch").clone();
    let body = first.body.as_ref().expect("a body");
    assert!(body.contains("chat_opened") && body.contains("chat_closed"), "{body}");
    tab.refuse(Events, 503, "", None);
    let again = tab.wait_for(Events);
    assert_eq!((&again.body, &again.key), (&first.body, &first.key));
    assert!(first.key.is_some());
    tab.answer(Events, r#"{"accepted":2,"rejected":0,"tracking":"disabled"}"#);
    tab.set_open(true);
    tab.wait(60_000);
    assert!(tab.waiting(Events).is_none(), "a service that wants no events gets none");
}

#[test]
fn does_not_report_a_window_reopened_by_navigation() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Reopened);
    tab.wait(60_000);
    assert_eq!((tab.count(Events), tab.emitted.contains(&SessionEvent::Opened(true))), (0, true));
}

#[test]
fn reports_a_page_view_after_three_seconds() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::PageViewed(Page { path: "/rooms".into(), ..Page::default() }));
    tab.wait(2_999);
    assert!(tab.waiting(Events).is_none());
    tab.wait(1);
    let body = tab.waiting(Events).expect("a batch").body.clone().expect("a body");
    assert!(body.contains(r#""eventType":"page_view""#) && body.contains(r#""path":"/rooms""#), "{body}");
}

#[test]
fn sends_queued_events_when_the_page_is_hidden() {
    let mut tab = Tab::open(vec![], 0);
    tab.set_open(true);
    tab.feed(Input::PageHidden);
    assert!(tab.waiting(Events).expect("a batch").keepalive);
}

#[test]
fn drops_a_batch_the_service_rejects() {
    let mut tab = Tab::open(vec![], 0);
    tab.set_open(true);
    tab.wait_for(Events);
    tab.refuse(Events, 400, "INVALID_REQUEST", None);
    tab.wait(600_000);
    assert_eq!(tab.count(Events), 1);
    assert!(!tab.storage.iter().any(|(key, _)| key.contains(keys::BATCH) || key.contains(keys::EVENT)));
}

#[test]
fn holds_later_events_while_a_batch_backs_off() {
    let mut tab = Tab::open(vec![], 0);
    tab.set_open(true);
    tab.wait_for(Events);
    tab.fail(Events);
    tab.set_open(false);
    let again = tab.wait_for(Events);
    assert!(!again.body.expect("a body").contains("chat_closed"));
    let batches = tab.storage.iter().filter(|(key, _)| key.contains(keys::BATCH));
    assert_eq!(batches.count(), 1);
    tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#);
    assert!(tab.wait_for(Events).body.expect("a body").contains("chat_closed"));
}

#[test]
fn keeps_tracking_disabled_for_a_day_across_pages() {
    let mut tab = Tab::open(vec![], 0);
    tab.set_open(true);
    tab.wait_for(Events);
    tab.set_open(false);
    tab.answer(Events, r#"{"accepted":0,"rejected":1,"tracking":"disabled"}"#);
    assert!(!tab.storage.iter().any(|(key, _)| key.contains(keys::EVENT)), "queued events are removed");
    let mut next = tab.reload();
    next.set_open(true);
    next.wait(60_000);
    assert_eq!(next.count(Events), 0);
    let hour_ms = 60 * 60 * 1000;
    for (age_ms, batches) in [(23 * hour_ms, 0), (25 * hour_ms, 1)] {
        let mut later = Tab::open(next.storage.clone(), age_ms);
        later.set_open(true);
        later.wait(4_000);
        assert_eq!(later.count(Events), batches);
    }
}

#[test]
fn names_the_conversation_in_chat_events_but_not_in_page_views() {
    let ann = VisitorProfile { name: Some("Ann".into()), ..VisitorProfile::default() };
    let inputs = [
        ("page_view", Input::PageViewed(Page::default()), [false, false]),
        ("chat_closed", Input::Opened(false, Page::default()), [true, false]),
        ("lead_submitted", Input::Contact(ann, Page::default()), [true, true]),
    ];
    for (kind, input, [in_conversation, of_form]) in inputs {
        let mut tab = Tab::in_conversation();
        tab.wait_for(Events);
        tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#);
        tab.feed(input);
        let body = tab.wait_for(Events).body.expect("a body");
        assert!(body.contains(kind) && !body.contains("Ann"), "{body}");
        assert_eq!(body.contains(r#""conversationId":"c1""#), in_conversation, "{body}");
        assert_eq!(body.contains(r#""formType":"contact""#), of_form, "{body}");
    }
}

#[test]
fn the_leader_sends_the_events_of_every_tab() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.feed(other, Input::PageViewed(Page { path: "/seen-there".into(), ..Page::default() }));
    browser.with_tab(leader, |tab| tab.wait_for(Events));
    let batch = browser.tabs[leader].waiting(Events).expect("a batch");
    assert!(batch.body.as_ref().expect("a body").contains("/seen-there"));
    assert_eq!(browser.tabs[other].count(Events), 0);
    browser.with_tab(leader, |tab| tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#));
    browser.wait(60_000);
    assert!(!browser.storage.iter().any(|(key, _)| key.contains("event:") || key.contains("batch:")));
}

#[test]
fn sends_events_left_by_an_earlier_page() {
    let mut browser = Browser::with(1);
    browser.feed(0, Input::Online(false));
    browser.feed(0, Input::PageViewed(Page { path: "/before".into(), ..Page::default() }));
    browser.close(0);
    let next = browser.open(Start::default());
    let batch = browser.with_tab(next, |tab| tab.wait_for(Events));
    assert!(batch.body.expect("a body").contains("/before"));
}

#[test]
fn a_closing_follower_leaves_its_events_to_the_leader() {
    let (mut browser, leader, other) = Browser::in_conversation_with_leader();
    browser.feed(other, Input::PageViewed(Page { path: "/last".into(), ..Page::default() }));
    browser.feed(other, Input::PageHidden);
    assert_eq!(browser.tabs[other].count(Events), 0);
    let batch = browser.with_tab(leader, |tab| tab.wait_for(Events));
    assert!(batch.body.expect("a body").contains("/last"));
}

#[test]
fn a_hidden_leader_sends_its_events_before_it_resigns() {
    let mut browser = Browser::with(1);
    browser.feed(0, Input::PageViewed(Page { path: "/only".into(), ..Page::default() }));
    browser.wait(400);
    browser.feed(0, Input::Visible(false));
    let batch = browser.tabs[0].waiting(Events).expect("a batch");
    assert!(batch.keepalive && batch.body.as_ref().expect("a body").contains("/only"));
    browser.with_tab(0, |tab| tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#));
    assert!(
        !browser.storage.iter().any(|(key, _)| key.contains("batch:")),
        "also after the tab has lost the lead"
    );
}
