//! Contact details that the visitor entered.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{LEAD_MS, Tab};
use chat_protocol::Endpoint::Send;
use chat_protocol::VisitorProfile;
use chat_session::{Input, Page, Start, keys};

fn email(address: &str) -> VisitorProfile {
    VisitorProfile { email: Some(address.into()), ..VisitorProfile::default() }
}

#[test]
fn keeps_contact_details_across_pages() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Contact(email("ann@site.example"), Page::default()));
    let mut next = tab.reload();
    assert_eq!(next.session.profile().email.as_deref(), Some("ann@site.example"));
    next.send("two");
    let body = next.attempts()[0].body.clone().expect("a body");
    assert!(body.contains("ann@site.example"), "{body}");
}

#[test]
fn stores_only_contact_details_the_visitor_entered() {
    let visitor = VisitorProfile { name: Some("Ann of accounts".into()), ..VisitorProfile::default() };
    let mut tab = Tab::start(Start { visitor, ..Start::default() }, vec![], 0);
    tab.feed(Input::Contact(email("ann@home.example"), Page::default()));
    let phone = VisitorProfile { phone: Some("030 901820".into()), ..VisitorProfile::default() };
    tab.feed(Input::Contact(phone, Page::default()));
    let stored = tab.stored(keys::CONTACT).expect("contact details");
    assert!(stored.contains("ann@home.example") && stored.contains("030 901820"), "{stored}");
    assert!(!stored.contains("accounts"), "{stored}");
}

#[test]
fn shares_contact_details_with_other_tabs_until_a_reset() {
    let mut browser = Browser::in_conversation();
    browser.feed(0, Input::Contact(email("ann@site.example"), Page::default()));
    assert!(browser.tabs[1].session.profile().has_contact());
    browser.feed(0, Input::Reset);
    browser.wait(LEAD_MS);
    assert!(browser.tabs.iter().all(|tab| !tab.session.profile().has_contact()));
    assert!(browser.storage.iter().all(|(key, _)| !key.contains(keys::CONTACT)), "{:?}", browser.storage);
}

#[test]
fn ignores_unusable_stored_contact_details() {
    for unusable in
        ["7", "[]", "null", r#"{"email":{}}"#, r#"{"visitorId":"somebody else","email":"x@y.example"}"#]
    {
        let tab = Tab::open(vec![("chat-widget:contact".into(), unusable.into())], 0);
        assert!(!tab.session.profile().has_contact(), "{unusable}");
    }
}

#[test]
fn erases_contact_details_with_the_visitor() {
    let mut tab = Tab::in_conversation();
    let email = VisitorProfile { email: Some("ann@site.example".into()), ..VisitorProfile::default() };
    tab.feed(Input::Contact(email, Page::default()));
    tab.feed(Input::Reset);
    tab.wait(LEAD_MS);
    tab.send("two");
    let body = tab.attempts().last().expect("an attempt").body.clone().expect("a body");
    assert!(body.contains("two") && !body.contains("ann@site.example"), "{body}");
}

#[test]
fn erases_contact_details_on_a_page_restored_after_a_reset() {
    let mut browser = Browser::in_conversation();
    let email = VisitorProfile { email: Some("ann@site.example".into()), ..VisitorProfile::default() };
    browser.feed(1, Input::Contact(email, Page::default()));
    browser.feed(1, Input::PageHidden);
    browser.tabs[1].isolated = true;
    browser.feed(0, Input::Reset);
    browser.tabs[1].isolated = false;
    browser.close(0);
    browser.restore(0);
    browser.send(0, "two");
    browser.wait(400);
    let body = browser.tabs[0].waiting(Send).and_then(|request| request.body.clone()).expect("a body");
    assert!(body.contains("two") && !body.contains("ann@site.example"), "{body}");
}
