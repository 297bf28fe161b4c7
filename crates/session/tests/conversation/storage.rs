//! The next page goes on where this browser left off.

use crate::site::{LEAD_MS, Tab};
use chat_protocol::Endpoint::{Messages, Send};
use chat_session::{Delivery, Input, Start, keys};

#[test]
fn a_reload_in_the_middle_of_a_send_repeats_it_to_the_byte() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    let first = tab.attempts()[0].clone();
    let mut tab = tab.reload();
    let again = tab.waiting(Send).expect("sent again");
    assert_eq!((&again.body, &again.key), (&first.body, &first.key));
    tab.reply(1, "hi");
    assert_eq!(tab.texts(), ["hello", "hi"]);
    assert!(!tab.storage.iter().any(|(key, _)| key.contains(keys::OUTBOX)), "nothing waits any more");
}

#[test]
fn a_message_from_the_day_before_is_shown_as_failed_and_not_sent_by_itself() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.say("hello");
    let tab = Tab::open(tab.storage, 25 * 60 * 60 * 1000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed));
}

#[test]
fn the_same_visitor_comes_back_and_a_site_may_name_another() {
    let tab = Tab::open(vec![], 0);
    let id = tab.session.visitor_id().clone();
    let tab = tab.reload();
    assert_eq!(tab.session.visitor_id(), &id);
    let visitor = chat_protocol::VisitorProfile { visitor_id: Some("named".into()), ..Default::default() };
    let tab = Tab::start(Start { visitor, ..Start::default() }, tab.storage, 5);
    assert_eq!(tab.session.visitor_id().as_str(), "named");
}

#[test]
fn rubbish_in_storage_costs_nothing_but_itself() {
    let rubbish = ["", "{", "null", "7", "[[[", r#"{"v":9,"visitorId":{}}"#, "\u{0}"];
    for text in rubbish {
        let storage = [
            keys::VISITOR,
            keys::CONVERSATION,
            keys::CONFIG,
            keys::SEEN,
            "outbox:m1",
            "batch:1",
            "event:1",
            "x",
        ]
        .map(|name| (format!("{}{name}", keys::PREFIX), text.to_owned()));
        let mut tab = Tab::open(storage.to_vec(), 0);
        tab.say("hello");
        tab.reply(1, "hi");
        assert_eq!(tab.texts(), ["hello", "hi"], "{text:?}");
    }
}

#[test]
fn after_a_reload_an_older_message_that_says_the_same_stays() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("ok");
    tab.reply(1, "first");
    tab.say("ok");
    let mut tab = tab.reload();
    tab.answer(Messages, r#"{"messages":[{"id":"u1","role":"visitor","content":"ok"},{"id":"a1","role":"assistant","content":"first"}]}"#);
    tab.reply(2, "second");
    assert_eq!(tab.texts(), ["ok", "first", "ok", "second"]);
}

#[test]
fn a_message_whose_letter_storage_lost_is_sent_with_the_same_key() {
    let mut tab = Tab::open(vec![], 0);
    tab.say("hello");
    let key = tab.attempts()[0].key.clone();
    let lost = |tab: Tab| -> Vec<(String, String)> {
        tab.storage.into_iter().filter(|(key, _)| !key.contains(keys::OUTBOX)).collect()
    };
    let now_ms = tab.now_ms;
    let mut tab = Tab::open(lost(tab), now_ms + 10);
    assert_eq!((tab.attempts().len(), &tab.attempts()[0].key), (1, &key));
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    let mut tab = Tab::open(lost(tab), now_ms + 1_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed));
    tab.feed(Input::Retry(tab.key("hello")));
    tab.wait(LEAD_MS);
    assert_eq!(tab.attempts()[0].key, key);
    let day_ms = 24 * 60 * 60 * 1000;
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.say("hello");
    let tab = Tab::open(lost(tab), day_ms + 2_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed), "too old");
}
