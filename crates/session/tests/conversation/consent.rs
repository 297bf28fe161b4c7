//! Consent: before the visitor agrees, a page reads and stores nothing.

use crate::conversation::fixture::{LEAD_MS, Tab, parsed};
use chat_protocol::Endpoint::Events;
use chat_protocol::VisitorProfile;
use chat_session::{Input, Page, Reports, Start, keys};

/// Returns a tab of an earlier page with a conversation. The site may have named the visitor.
fn earlier(visitor: &VisitorProfile) -> Tab {
    let start = Start { visible: true, online: true, visitor: visitor.clone(), ..Start::default() };
    let mut tab = Tab::start(start, vec![], 0);
    tab.send("one");
    tab.reply(1, "first");
    tab
}

/// Returns a tab of the next page, before the visitor agrees.
fn undecided(visitor: VisitorProfile) -> Tab {
    Tab::start(Start { seed: 7, visible: true, online: true, visitor, ..Start::default() }, vec![], 5_000)
}

fn agree(tab: &mut Tab, before: &Tab) {
    tab.feed(Input::Consented(parsed(&before.storage), Reports::Auto));
    tab.wait(LEAD_MS);
}

fn body_of_last(tab: &Tab) -> String {
    tab.attempts().last().and_then(|sent| sent.body.clone()).expect("a body")
}

#[test]
fn continues_a_stored_conversation_after_consent() {
    let before = earlier(&VisitorProfile::default());
    let mut tab = undecided(VisitorProfile { name: Some("Ann".into()), ..VisitorProfile::default() });
    assert_ne!(tab.session.visitor_id(), before.session.visitor_id());
    agree(&mut tab, &before);
    assert_eq!(tab.session.visitor_id(), before.session.visitor_id());
    assert_eq!(tab.texts(), ["one", "first"]);
    assert!(tab.stored(keys::VISITOR).expect("a visitor").contains(before.session.visitor_id().as_str()));
    tab.send("two");
    let body = body_of_last(&tab);
    assert!(body.contains(r#""conversationId":"c1""#) && body.contains("Ann"), "{body}");
}

#[test]
fn continues_a_stored_conversation_of_a_named_visitor_after_consent() {
    let named = |id: &str| VisitorProfile { visitor_id: Some(id.into()), ..VisitorProfile::default() };
    let before = earlier(&named("visitor-7"));
    let mut tab = undecided(named("visitor-7"));
    agree(&mut tab, &before);
    assert_eq!(tab.texts(), ["one", "first"]);
    let mut other = undecided(named("visitor-8"));
    agree(&mut other, &before);
    assert_eq!((other.session.visitor_id().as_str(), other.texts().len()), ("visitor-8", 0));
}

#[test]
fn continues_a_stored_conversation_after_consent_in_a_window_that_is_open() {
    for id in [None, Some("visitor-7")] {
        let profile = VisitorProfile { visitor_id: id.map(Into::into), ..VisitorProfile::default() };
        let before = earlier(&profile);
        let mut tab = undecided(profile);
        tab.set_open(true);
        tab.wait(LEAD_MS);
        assert!(tab.session.leads());
        agree(&mut tab, &before);
        assert_eq!(tab.session.visitor_id(), before.session.visitor_id());
        assert_eq!(tab.texts(), ["one", "first"]);
        tab.send("two");
        assert!(body_of_last(&tab).contains(r#""conversationId":"c1""#));
    }
}

#[test]
fn keeps_messages_written_before_consent_instead_of_a_stored_conversation() {
    for answered in [false, true] {
        let before = earlier(&VisitorProfile::default());
        let mut tab = undecided(VisitorProfile::default());
        tab.send("two");
        if answered {
            tab.reply(2, "second");
        }
        let (visitor, texts) = (tab.session.visitor_id().clone(), tab.texts().len());
        tab.storage.clone_from(&before.storage);
        agree(&mut tab, &before);
        assert_eq!((tab.session.visitor_id(), tab.texts().len()), (&visitor, texts));
        assert!(!tab.texts().contains(&"one"));
        let tab = tab.reload();
        assert_eq!((tab.session.visitor_id(), tab.texts().len()), (&visitor, texts));
    }
}

#[test]
fn does_not_restore_an_erased_visitor_after_consent() {
    for open in [false, true] {
        let before = earlier(&VisitorProfile::default());
        let mut tab = undecided(VisitorProfile::default());
        tab.set_open(open);
        tab.feed(Input::Reset);
        tab.wait(LEAD_MS);
        let visitor = tab.session.visitor_id().clone();
        assert_eq!(tab.session.leads(), open);
        tab.storage.clone_from(&before.storage);
        agree(&mut tab, &before);
        assert_eq!(tab.session.visitor_id(), &visitor);
        let tab = tab.reload();
        assert_eq!((tab.session.visitor_id(), tab.texts().len()), (&visitor, 0));
    }
}

#[test]
fn reports_events_only_after_consent() {
    let before = earlier(&VisitorProfile::default());
    let mut tab = undecided(VisitorProfile::default());
    tab.feed(Input::PageViewed(Page { path: "/before".into(), ..Page::default() }));
    agree(&mut tab, &before);
    tab.feed(Input::PageViewed(Page { path: "/after".into(), ..Page::default() }));
    let body = tab.wait_for(Events).body.expect("a body");
    assert!(body.contains("/after") && !body.contains("/before"), "{body}");
}
