//! Storage: the next page continues from what the browser stored, or from what another tab knows.

use crate::conversation::fixture::browser::Browser;
use crate::conversation::fixture::{LEAD_MS, Tab, parsed};
use chat_protocol::Endpoint::{Messages, Presence, Send};
use chat_session::{Created, Delivery, Input, Start, keys};

#[test]
fn repeats_the_request_byte_for_byte_after_a_reload() {
    let tab = Tab::sending("hello");
    let first = tab.attempts()[0].clone();
    let mut tab = tab.reload();
    let again = tab.waiting(Send).expect("sent again");
    assert_eq!((&again.body, &again.key), (&first.body, &first.key));
    tab.reply(1, "hi");
    assert_eq!(tab.texts(), ["hello", "hi"]);
    assert!(!tab.storage.iter().any(|(key, _)| key.contains(keys::OUTBOX)), "no message is pending");
}

#[test]
fn a_message_older_than_a_day_is_shown_as_failed_and_not_sent() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.send("hello");
    let tab = Tab::open(tab.storage, 25 * 60 * 60 * 1000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed));
}

#[test]
fn keeps_the_stored_visitor_unless_the_site_names_one() {
    let tab = Tab::open(vec![], 0);
    let id = tab.session.visitor_id().clone();
    let tab = tab.reload();
    assert_eq!(tab.session.visitor_id(), &id);
    let visitor = chat_protocol::VisitorProfile { visitor_id: Some("named".into()), ..Default::default() };
    let tab = Tab::start(Start { visitor, ..Start::default() }, tab.storage, 5);
    assert_eq!(tab.session.visitor_id().as_str(), "named");
}

#[test]
fn ignores_unusable_values_in_storage() {
    let unusable = ["", "{", "null", "7", "[[[", r#"{"v":9,"visitorId":{}}"#, "\u{0}"];
    for text in unusable {
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
        tab.send("hello");
        tab.reply(1, "hi");
        assert_eq!(tab.texts(), ["hello", "hi"], "{text:?}");
    }
}

#[test]
fn an_earlier_message_with_the_same_text_stays_after_a_reload() {
    let mut tab = Tab::sending("ok");
    tab.reply(1, "first");
    tab.send("ok");
    let mut tab = tab.reload();
    tab.answer_messages(&["u1 visitor ok", "a1 assistant first"]);
    tab.reply(2, "second");
    assert_eq!(tab.texts(), ["ok", "first", "ok", "second"]);
}

#[test]
fn sends_a_message_missing_from_storage_with_the_same_key() {
    let day_ms = 24 * 60 * 60 * 1000;
    let mut tab = Tab::open(vec![], 10 * day_ms);
    tab.send("hello");
    let key = tab.attempts()[0].key.clone();
    let without_pending = |tab: Tab| -> Vec<(String, String)> {
        tab.storage.into_iter().filter(|(key, _)| !key.contains(keys::OUTBOX)).collect()
    };
    let now_ms = tab.now_ms;
    let mut tab = Tab::open(without_pending(tab), now_ms + 10);
    assert_eq!((tab.attempts().len(), &tab.attempts()[0].key), (1, &key));
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    let mut tab = Tab::open(without_pending(tab), now_ms + 1_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed));
    tab.feed(Input::Retry(tab.key("hello")));
    tab.wait(LEAD_MS);
    assert_eq!(tab.attempts()[0].key, key);
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    tab.send("hello");
    let tab = Tab::open(without_pending(tab), day_ms + 2_000);
    assert_eq!((tab.attempts().len(), tab.delivery("hello")), (0, Delivery::Failed), "too old");
}

#[test]
fn shows_the_same_dates_after_a_reload() {
    let mut tab = Tab::in_conversation();
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"u1","role":"visitor","content":"one"},{"id":"a1","role":"assistant","content":"first"},
            {"id":"o1","role":"operator","content":"Anna here","createdAt":"2026-03-01T10:00:00Z"}]}"#,
    );
    let dates = |tab: &Tab| -> Vec<Option<Created>> {
        tab.session.entries().iter().map(|entry| entry.created.clone()).collect()
    };
    let before = dates(&tab);
    assert_eq!(
        before,
        [Some(Created::Local(300)), None, Some(Created::Remote("2026-03-01T10:00:00Z".into()))]
    );
    assert_eq!(dates(&tab.reload()), before);
}

#[test]
fn each_customer_has_a_channel_of_its_own() {
    let channel = |customer_id: Option<&str>| {
        let start = Start { customer_id: customer_id.map(Into::into), ..Start::default() };
        Tab::start(start, vec![], 0).session.channel().to_owned()
    };
    assert_eq!(channel(None), "chat-widget:");
    assert_eq!(channel(Some("ann")), "chat-widget:@ann");
}

#[test]
fn a_restored_page_keeps_its_conversation_if_storage_is_empty() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.send("two");
    tab.feed(Input::PageHidden);
    let visitor =
        tab.storage.iter().filter(|(key, _)| key.ends_with(keys::VISITOR)).cloned().collect::<Vec<_>>();
    tab.feed(Input::PageRestored(parsed(&visitor)));
    tab.feed(Input::Online(true));
    tab.wait(LEAD_MS);
    assert_eq!(tab.texts(), ["one", "first", "two"]);
    assert_eq!((tab.delivery("two"), tab.attempts().len()), (Delivery::Sending, 2));
    let body = tab.attempts()[1].body.as_deref().expect("a body");
    assert!(body.contains("/rooms"), "the page of the message is still known");
}

#[test]
fn a_page_that_is_left_sends_no_request_and_sets_no_timer() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::PageHidden);
    tab.wake_ms = None;
    let before = tab.sent.len();
    for input in [Input::Online(true), Input::Visible(true), Input::TimerFired] {
        tab.feed(input);
    }
    assert_eq!((tab.sent.len(), tab.wake_ms), (before, None));
}

#[test]
fn sends_waiting_messages_in_the_order_they_were_written() {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    for text in ["one", "two", "three"] {
        tab.send(text);
        tab.wait(10);
    }
    let mut storage = tab.storage;
    storage.retain(|(key, _)| !key.ends_with(keys::CONVERSATION));
    for _ in 0..3 {
        storage.rotate_left(1);
        let mut tab = Tab::open(storage.clone(), 5_000);
        assert_eq!(tab.texts(), ["one", "two", "three"]);
        for (number, text) in [(1, "one"), (2, "two"), (3, "three")] {
            assert!(tab.waiting(Send).and_then(|sent| sent.body.clone()).expect("an attempt").contains(text));
            tab.reply(number, "yes");
        }
    }
}

#[test]
fn still_awaits_a_reply_after_a_reload() {
    let mut tab = Tab::sending("hello");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u1"}"#);
    let mut next = tab.reload();
    assert!(next.session.awaits_reply());
    next.wait(31_000);
    assert!(!next.session.awaits_reply());
    assert!(!next.reload().session.awaits_reply());
}

#[test]
fn does_not_report_stored_messages_as_new() {
    let mut tab = Tab::in_conversation();
    tab.answer(Presence, r#"{"operatorOnline":true}"#);
    let next = tab.reload();
    assert_eq!(next.session.operator_online(), Some(true));
    assert_eq!(next.emitted, []);
}

#[test]
fn polls_messages_that_did_not_fit_into_storage() {
    let mut tab = Tab::in_conversation();
    let (long, longer) = ("x".repeat(1_000), "y".repeat(3_000));
    tab.send(&long);
    tab.reply(2, &longer);
    let history = format!(
        r#"{{"messages":[{{"id":"u1","role":"visitor","content":"one"}},{{"id":"a1","role":"assistant","content":"first"}},
            {{"id":"u2","role":"visitor","content":"{long}"}},{{"id":"a2","role":"assistant","content":"{longer}"}},
            {{"id":"u3","role":"visitor","content":"three"}},{{"id":"a3","role":"assistant","content":"third"}}]}}"#
    );
    tab.answer(Messages, &history);
    for _ in 0..3 {
        tab.feed(Input::PersistFailed);
    }
    tab.send("three");
    tab.reply(3, "third");
    let mut next = tab.reload();
    assert_eq!(next.texts(), ["three", "third"]);
    assert_eq!(next.waiting(Messages).expect("a poll").query.len(), 1, "from the beginning");
    next.answer(Messages, &history);
    assert_eq!(next.texts(), ["one", "first", &long, &longer, "three", "third"]);
    assert_eq!((next.emitted_texts(), next.session.unread()), (vec![], 0));
}

#[test]
fn a_restored_page_does_not_send_a_message_removed_from_storage() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.answer_messages(&["u2 visitor two"]);
    assert_eq!((tab.delivery("two"), tab.count_stored(keys::OUTBOX)), (Delivery::Delivered, 1));
    tab.feed(Input::PageHidden);
    tab.storage.retain(|(key, _)| !key.contains(keys::OUTBOX));
    tab.feed(Input::PageRestored(parsed(&tab.storage.clone())));
    tab.wait(LEAD_MS);
    assert_eq!((tab.session.leads(), tab.attempts().len()), (true, 2));
}

#[test]
fn sends_messages_missing_from_storage_in_their_positions() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    for text in ["two", "three", "four"] {
        tab.send(text);
        tab.wait(10);
    }
    for lost in [vec!["two"], vec!["three"], vec!["four"], vec!["two", "three"]] {
        let mut storage = tab.storage.clone();
        for text in &lost {
            let (name, _) = tab.pending(text);
            storage.retain(|(key, _)| !key.ends_with(&name));
        }
        let mut next = Tab::open(storage, 5_000);
        assert_eq!(next.count_stored(keys::OUTBOX), 3, "all messages are stored again");
        for (number, text) in [(2, "two"), (3, "three"), (4, "four")] {
            let attempt = next.waiting(Send).expect("an attempt").body.clone();
            assert!(attempt.expect("a body").contains(text), "{lost:?} were missing");
            next.reply(number, "yes");
        }
    }
}

#[test]
fn stores_everything_again_after_a_refused_write() {
    let (mut browser, leader, _) = Browser::in_conversation_with_leader();
    browser.storage.clear();
    browser.feed(leader, Input::PersistFailed);
    browser.wait(11_000);
    let stored: Vec<&str> = browser.storage.iter().map(|(key, _)| key.as_str()).collect();
    assert!(
        stored.contains(&"chat-widget:visitor") && stored.contains(&"chat-widget:conversation"),
        "{stored:?}"
    );
}

#[test]
fn stores_the_end_of_the_conversation_if_storage_is_full() {
    let mut browser = Browser::with(1);
    browser.send(0, &format!("{}first", "x".repeat(3_900)));
    browser.wait(400);
    browser.with_tab(0, |tab| tab.reply(1, &"y".repeat(3_900)));
    for _ in 0..2 {
        browser.feed(0, Input::PersistFailed);
    }
    browser.send(0, "last");
    let stored = |browser: &Browser| {
        let text = browser.stored_conversation();
        (text.contains("first"), text.contains("last"))
    };
    assert_eq!(stored(&browser), (false, true));
    browser.with_tab(0, |tab| tab.reply(2, "one"));
    browser.send(0, "more");
    browser.with_tab(0, |tab| tab.reply(3, "two"));
    browser.send(0, "and more");
    assert_eq!(stored(&browser), (true, true), "the snapshot grows again while the browser accepts writes");
}

/// Returns a browser with one tab that shows a conversation too long for storage, and the texts of the
/// conversation.
fn in_long_conversation() -> (Browser, Vec<String>) {
    let mut browser = Browser::in_conversation();
    while browser.tabs.len() > 1 {
        browser.close(0);
    }
    let list: Vec<String> = (0..100)
        .map(|number| {
            let text = "x".repeat(1_000);
            format!(r#"{{"id":"m{number}","role":"operator","content":"{number}:{text}"}}"#)
        })
        .collect();
    browser.wait(2_000);
    browser.with_tab(0, |tab| tab.answer(Messages, &format!(r#"{{"messages":[{}]}}"#, list.join(","))));
    let texts: Vec<String> = browser.tabs[0].texts().into_iter().map(str::to_owned).collect();
    assert!(texts.len() > list.len());
    (browser, texts)
}

#[test]
fn receives_the_beginning_of_a_long_conversation_from_the_leader() {
    let (mut browser, all) = in_long_conversation();
    let other = browser.open(Start::default());
    browser.wait(2_000);
    assert_eq!(browser.tabs[other].texts(), all);
    assert!(browser.tabs[other].emitted_texts().is_empty(), "the messages are not new");
    assert!(!browser.tabs[other].session.leads());
}

#[test]
fn stores_and_broadcasts_only_the_end_of_a_long_conversation() {
    let (mut browser, _) = in_long_conversation();
    let longest = |texts: Vec<&String>| texts.into_iter().map(String::len).max().unwrap_or(0);
    let (broadcast, stored) = browser.with_tab(0, |tab| {
        tab.broadcasts.clear();
        tab.send("more");
        let broadcast = longest(tab.broadcasts.iter().collect());
        tab.writes.clear();
        tab.receive(r#""does":"ask","revision":999,"seen":999,"lacks":true"#);
        (broadcast, longest(tab.writes.iter().filter_map(|(_, text)| text.as_ref()).collect()))
    });
    assert!((10_000..40_000).contains(&broadcast), "broadcast: {broadcast}");
    assert!((10_000..40_000).contains(&stored), "stored if another tab requests the beginning: {stored}");
}

#[test]
fn a_leader_with_a_truncated_conversation_polls_from_the_beginning() {
    let (mut browser, all) = in_long_conversation();
    browser.suspend(0);
    let other = browser.begin(Start::default());
    assert!(browser.tabs[other].texts().len() < all.len());
    browser.wait(2_000);
    let query = &browser.tabs[other].waiting(Messages).expect("a poll").query;
    assert_eq!(query.len(), 1, "from the beginning");
}

#[test]
fn broadcasts_a_conversation_only_to_a_tab_that_lacks_part_of_it() {
    let (mut browser, leader, _) = Browser::in_conversation_with_leader();
    let before = browser.stored_conversation().to_owned();
    browser.open(Start::default());
    assert_eq!(
        browser.stored_conversation(),
        before,
        "a conversation that is broadcast again is stored again"
    );

    browser.send(leader, &"x".repeat(3_000));
    browser.with_tab(leader, |tab| tab.reply(2, "long"));
    for _ in 0..5 {
        browser.feed(leader, Input::PersistFailed);
    }
    browser.send(leader, "last");
    let fourth = browser.open(Start::default());
    assert_eq!(browser.tabs[fourth].texts(), browser.tabs[leader].texts());
    assert!(!browser.stored_conversation().contains("hello"), "storage has only the end");
}

#[test]
fn bounds_stored_and_broadcast_pauses_to_five_minutes() {
    let mut tab = Tab::in_conversation();
    let attempts = tab.attempts().len();
    tab.receive(r#""does":"answered","value":9000000000000000"#);
    tab.send("two");
    assert_eq!(tab.attempts().len(), attempts);
    tab.wait(5 * 60_000);
    assert_eq!(tab.attempts().len(), attempts + 1);
}
