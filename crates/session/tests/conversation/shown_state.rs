//! What a window may show besides the messages, and the effects that make it show it again.

use chat_protocol::Endpoint::{Events, Messages, Send};
use chat_protocol::{MessageId, VisitorProfile};
use chat_session::{Delivery, Effect, Input, Notice, Page, Start, keys};

use crate::conversation::fixture::{LEAD_MS, Tab, json};

const FALLBACK: &str = r#"{"conversationId":"c1","userMessageId":"u2","message":{"id":"a2","role":"assistant","content":"Sorry"},"aiStatus":"provider_error"}"#;
const NO_REPLY: &str = r#"{"conversationId":"c1","userMessageId":"u3","aiStatus":"provider_error"}"#;

/// A message of another tab of the same visitor.
fn stored_elsewhere(tab: &Tab, name: &str, value: &str) -> Input {
    let visitor = tab.session.visitor_id();
    Input::TabMessage(json(&format!(
        r#"{{"visitor":"{visitor}","tab":"other","does":"keep","name":"{name}","value":{value}}}"#
    )))
}

fn shows(tab: &mut Tab, input: Input) -> bool {
    tab.session.handle(tab.now_ms, input).contains(&Effect::Show)
}

#[test]
fn tells_a_reply_without_an_answer_from_an_answer() {
    for outcome in [
        r#""aiStatus":"provider_error""#,
        r#""aiStatus":"quota_insufficient""#,
        r#""aiStatus":"visitor_limit","usedFallback":true"#,
        r#""outcome":"could_not_answer""#,
    ] {
        let mut tab = Tab::in_conversation();
        assert_eq!(tab.session.notice(), None);
        tab.send("two");
        tab.answer(
            Send,
            &format!(
                r#"{{"conversationId":"c1","userMessageId":"u2","message":{{"id":"a2","role":"assistant","content":"Sorry"}},{outcome}}}"#
            ),
        );
        assert_eq!(tab.session.notice(), Some(Notice::Unanswered), "{outcome}");
        tab.send("three");
        assert_eq!(tab.session.notice(), None, "another message");
        tab.answer(Send, &format!(r#"{{"conversationId":"c1","userMessageId":"u3",{outcome}}}"#));
        assert_eq!(tab.session.notice(), Some(Notice::NoReply), "there is no text");
        tab.send("four");
        tab.reply(4, "fine");
        assert_eq!(tab.session.notice(), None, "the assistant answered");
    }
}

#[test]
fn a_person_ends_the_notice_of_a_reply_without_an_answer() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer(Send, FALLBACK);
    tab.wait_for(Messages);
    tab.answer_messages(&["u2 visitor two", "a2 assistant Sorry"]);
    assert_eq!(tab.session.notice(), Some(Notice::Unanswered));
    tab.wait_for(Messages);
    tab.answer_messages(&["o1 operator Mara here"]);
    assert_eq!(tab.session.notice(), None);
    tab.send("three");
    tab.answer(Send, FALLBACK);
    assert_eq!(tab.session.notice(), None, "a person has taken over");
}

#[test]
fn a_visitor_who_asked_for_a_person_waits_until_one_writes_also_on_the_next_page() {
    let mut tab = Tab::in_conversation_sending("A person please");
    assert!(!tab.session.awaits_person());
    tab.answer(
        Send,
        r#"{"conversationId":"c1","userMessageId":"u2","message":{"id":"a2","role":"assistant","content":"Noted"},"lead":{"needsHandoff":true}}"#,
    );
    assert!(tab.session.awaits_person());
    tab.send("three");
    tab.reply(3, "fine");
    assert!(tab.session.awaits_person(), "the assistant answered");
    let mut tab = tab.reload();
    assert!(tab.session.awaits_person(), "another page");
    tab.wait_for(Messages);
    tab.answer_messages(&["u3 visitor three", "a3 assistant fine", "o1 operator Mara here"]);
    assert!(!tab.session.awaits_person());
}

#[test]
fn a_visitor_waits_for_a_person_for_a_day_and_in_one_conversation() {
    const ASKED: &str = r#"{"conversationId":"c1","userMessageId":"u2","lead":{"needsHandoff":true}}"#;
    let mut tab = Tab::in_conversation_sending("A person please");
    tab.answer(Send, ASKED);
    tab.wait(60_000);
    assert_eq!((tab.session.awaits_person(), tab.session.notice()), (true, None), "nothing is missing");
    tab.wait(24 * 60 * 60 * 1000);
    assert!(!tab.session.awaits_person(), "the person may have written an e-mail");
    let mut tab = Tab::in_conversation_sending("A person please");
    tab.answer(Send, ASKED);
    tab.wait_for(Messages);
    tab.refuse(Messages, 404, "NOT_FOUND", None);
    assert!(!tab.session.awaits_person());
}

#[test]
fn shows_no_missing_reply_where_a_person_has_taken_over() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Messages);
    tab.answer_messages(&["u1 visitor one", "a1 assistant first", "o1 operator Mara here"]);
    assert!(tab.session.person_took_over());
    tab.send("two");
    tab.answer(Send, NO_REPLY);
    assert_eq!(tab.session.notice(), None);
}

#[test]
fn hides_the_writing_indicator_once_the_reply_is_there() {
    let mut tab = Tab::in_conversation();
    assert!(!tab.session.is_writing(), "the last message has its reply");
    tab.send("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2"}"#);
    assert!(tab.session.is_writing());
    tab.wait_for(Messages);
    tab.answer_messages(&["u2 visitor two", "a2 assistant second"]);
    assert!(!tab.session.is_writing());
}

#[test]
fn shows_contact_details_and_a_config_of_another_tab() {
    let mut tab = Tab::in_conversation();
    let contact = stored_elsewhere(&tab, keys::CONTACT, r#"{"v":2,"name":"Ann"}"#);
    assert!(shows(&mut tab, contact));
    let config = stored_elsewhere(&tab, keys::CONFIG, r#"{"v":2,"data":{"config":{"enabled":true}}}"#);
    assert!(shows(&mut tab, config));
    let unusable = stored_elsewhere(&tab, keys::CONFIG, r#"{"v":2,"data":7}"#);
    assert!(!shows(&mut tab, unusable), "nothing has changed");
}

#[test]
fn does_not_hurry_a_retry_that_comes_soon_because_another_tab_asks() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.refuse(Send, 503, "UNAVAILABLE", Some(4_000));
    assert!(!tab.session.is_deferred() && tab.waiting(Send).is_none());
    tab.receive(r#""does":"retry""#);
    assert!(tab.waiting(Send).is_none());
    assert_eq!(tab.delivery("two"), Delivery::Sending);
}

#[test]
fn stays_the_leader_while_its_message_is_in_flight_and_a_visible_tab_asks() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.feed(Input::Visible(false));
    tab.receive(r#""does":"ask","term":1,"visible":true"#);
    assert!(tab.session.leads() && tab.waiting(Send).is_some());
    tab.reply(2, "second");
    assert!(!tab.session.leads(), "the visible tab leads from now on");
}

#[test]
fn an_erased_visitors_lead_ends_with_the_visitor() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Reset);
    assert!(!tab.session.leads());
    tab.wait(LEAD_MS);
    assert!(tab.session.leads());
}

#[test]
fn events_name_the_customer() {
    let start = |customer: Option<&str>| {
        let start = Start {
            reports: chat_session::Reports::Auto,
            customer_id: customer.map(str::to_owned),
            visitor: VisitorProfile::default(),
            visible: true,
            online: true,
            ..Start::default()
        };
        let mut tab = Tab::start(start, vec![], 0);
        tab.feed(Input::PageViewed(Page::default()));
        let stored = tab.storage.iter().find(|(key, _)| key.contains(keys::EVENT)).expect("an event");
        stored.1.clone()
    };
    assert!(start(Some("ann")).contains(r#""customerId":"ann""#));
    assert!(!start(None).contains("customerId"));
}

#[test]
fn shows_the_writing_indicator_while_the_next_message_waits_for_a_retry_after() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2"}"#);
    tab.wait_for(Messages);
    tab.refuse(Messages, 503, "UNAVAILABLE", Some(10_000));
    tab.send("three");
    assert_eq!((tab.delivery("two"), tab.delivery("three")), (Delivery::Delivered, Delivery::Waiting));
    assert!(tab.session.is_writing(), "the reply to the first message is due");
}

#[test]
fn a_leader_stays_the_leader_once_its_events_are_accepted() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::PageViewed(Page::default()));
    tab.wait_for(Events);
    assert!(tab.session.leads());
    tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#);
    tab.wait(5_000);
    assert!(tab.session.leads(), "the next message must not wait for an election");
}

#[test]
fn a_repeated_attempt_keeps_the_id_of_its_response() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.fail(Send);
    tab.wait_for(Send);
    tab.reply(2, "second");
    let shown = tab.session.entries().iter().find(|entry| &*entry.text == "two").expect("an entry");
    assert_eq!(shown.id.as_ref().map(MessageId::as_str), Some("u2"));
}
