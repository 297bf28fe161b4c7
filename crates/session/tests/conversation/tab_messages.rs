//! What tabs tell each other may come late, twice or not at all.

use crate::fixture::browser::Browser;
use crate::fixture::{Tab, json};
use chat_protocol::Endpoint::{Events, Messages, Presence, Send};
use chat_session::{Delivery, Input, keys};

#[test]
fn a_repeated_write_does_not_reset_the_number_of_attempts() {
    for attempted in [false, true] {
        let mut tab = Tab::open(vec![], 0);
        tab.feed(Input::Online(false));
        tab.say("hello");
        if attempted {
            tab.feed(Input::Online(true));
        }
        let (name, early) = tab.letter("hello");
        tab.feed(Input::Online(true));
        for _ in 0..5 {
            tab.lose(Send);
            tab.wait_for(Send);
        }
        tab.hear_kept(&name, &early);
        tab.lose(Send);
        assert_eq!((tab.attempts().len(), tab.delivery("hello")), (6, Delivery::Failed));
    }
}

#[test]
fn the_next_leader_continues_the_count_of_attempts() {
    let mut browser = Browser::in_conversation();
    let leader = browser.leaders()[0];
    browser.say(leader, "hm");
    for _ in 0..5 {
        browser.with_tab(leader, |tab| {
            tab.lose(Send);
            tab.wait_for(Send);
        });
        let now_ms = browser.tabs[leader].now_ms;
        browser.wait(now_ms - browser.now_ms);
    }
    browser.crash(leader);
    browser.wait(2_000);
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].delivery("hm")), (0, Delivery::Failed));
}

#[test]
fn repeats_the_frozen_request_of_another_tab() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.say("three");
    let (name, letter) = tab.letter("three");
    let sent = r#""key":"chat-another","body":"{}","failed":false"#;
    tab.hear_kept(&name, &letter.replace(r#""failed":false"#, sent));
    tab.reply(2, "second");
    assert_eq!(tab.waiting(Send).and_then(|request| request.body.as_deref()), Some("{}"));
}

#[test]
fn awaits_a_reply_instead_of_sending_a_message_another_tab_delivered() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.say("two");
    let (name, _) = tab.letter("two");
    tab.hear_kept(&name, "null");
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    assert!(tab.session.awaits_reply());
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 1);
}

#[test]
fn a_follower_does_not_await_a_reply() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.feed(leader, Input::Online(false));
    browser.say(leader, "hm");
    let (name, _) = browser.tabs[leader].letter("hm");
    let tab = &mut browser.tabs[other];
    tab.hear_kept(&name, "null");
    assert_eq!((tab.delivery("hm"), tab.session.awaits_reply()), (Delivery::Delivered, false));
}

#[test]
fn the_response_decides_about_a_message_in_flight() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.say("three");
    for text in ["two", "three"] {
        let (name, _) = tab.letter(text);
        tab.hear_kept(&name, "null");
    }
    assert_eq!((tab.delivery("two"), tab.delivery("three")), (Delivery::Sending, Delivery::Delivered));
    tab.reply(2, "second");
    assert_eq!((tab.delivery("two"), tab.attempts().len()), (Delivery::Delivered, 2));
}

/// The leader is told what became of a message. The other tab hears how the conversation stands, nothing else, and leads
/// from then on.
fn a_leader_that_crashes_while_it_tells(outcome: impl FnOnce(&mut Tab)) -> Browser {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(other, "there?");
    outcome(&mut browser.tabs[leader]);
    let told = std::mem::take(&mut browser.tabs[leader].posts);
    for post in told.iter().filter(|post| post.contains(r#""name":"conversation""#)) {
        browser.tabs[other].feed(Input::TabMessage(json(post)));
    }
    browser.crash(leader);
    browser.wait(5_000);
    assert_eq!(browser.leaders(), [0]);
    browser
}

#[test]
fn the_next_leader_does_not_send_a_message_the_snapshot_shows_as_delivered() {
    let browser = a_leader_that_crashes_while_it_tells(|tab| tab.reply(2, "yes"));
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].texts().len()), (0, 4));
}

#[test]
fn the_next_leader_does_not_send_a_message_the_snapshot_shows_as_failed() {
    let mut browser =
        a_leader_that_crashes_while_it_tells(|tab| tab.refuse(Send, 400, "INVALID_REQUEST", None));
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].delivery("there?")), (0, Delivery::Failed));
    let key = browser.tabs[0].key("there?");
    browser.feed(0, Input::Retry(key));
    assert_eq!(browser.tabs[0].attempts().len(), 1);
}

#[test]
fn broadcasts_a_message_again_if_the_leader_missed_it() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.tabs[leader].deaf = true;
    browser.say(other, "unheard");
    browser.tabs[leader].deaf = false;
    browser.say(leader, "heard");
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    browser.with_tab(leader, |tab| tab.reply(3, "and yes"));
    assert_eq!(browser.tabs[leader].attempts().len(), 3);
    assert!(browser.tabs.iter().all(|tab| tab.delivery("unheard") == Delivery::Delivered));
}

#[test]
fn the_next_leader_sends_in_the_order_of_writing() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(other, "alpha");
    browser.say(other, "beta");
    browser.with_tab(leader, |tab| tab.lose(Send));
    browser.crash(leader);
    browser.wait(3_000);
    let body = browser.tabs[0].waiting(Send).expect("an attempt").body.clone();
    assert!(body.expect("a body").contains("alpha"));
}

#[test]
fn a_late_response_does_not_restore_an_earlier_conversation() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    let (_, told) =
        tab.storage.iter().find(|(key, _)| key.ends_with(keys::CONVERSATION)).expect("kept").clone();
    assert!(told.contains(r#""conversationId":"c1""#) && told.contains(r#""delivery":"sending""#), "{told}");
    let told = told
        .replace(r#""conversationId":"c1""#, r#""conversationId":"c2""#)
        .replace(r#""delivery":"sending""#, r#""delivery":null"#)
        .replace(r#""revision":"#, r#""revision":1"#);
    tab.hear_kept(keys::CONVERSATION, &told);
    assert!(tab.session.leads() && tab.delivery("two") == Delivery::Delivered);
    tab.reply(2, "second");
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c2"));
    assert_eq!(tab.texts(), ["one", "first", "two"]);
}

#[test]
fn publishes_a_newer_revision_after_a_conflict() {
    let mut tab = Tab::in_conversation();
    let kept = tab.kept(keys::CONVERSATION).expect("a conversation").to_owned();
    tab.hear_kept(keys::CONVERSATION, &kept);
    assert_eq!(tab.kept(keys::CONVERSATION), Some(&*kept), "its own");
    let writer =
        kept.split(r#""writer":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("a writer");
    tab.hear_kept(keys::CONVERSATION, &kept.replace(writer, "other"));
    let counted_on = tab.kept(keys::CONVERSATION).expect("a conversation");
    assert_ne!(counted_on, kept);
    assert!(counted_on.contains(writer));
}

#[test]
fn never_moves_the_seen_position_backwards() {
    let mut tab = Tab::in_conversation();
    let seen = tab.kept(keys::SEEN).expect("a serial").to_owned();
    tab.stores.clear();
    tab.hear_kept(keys::SEEN, &seen);
    assert_eq!(tab.stores, []);
    tab.hear_kept(keys::SEEN, r#"{"v":2,"serial":0}"#);
    assert_eq!(tab.stores, [("chat-widget:seen".to_owned(), Some(seen))], "storage is put right");
    assert_eq!(tab.session.unread(), 0);
}

#[test]
fn takes_over_the_seen_position_from_any_tab_message() {
    let mut tab = Tab::in_conversation();
    tab.look(false);
    tab.answer(Messages, r#"{"messages":[{"id":"a1","role":"assistant","content":"first"},{"id":"o1","role":"operator","content":"Anna"}]}"#);
    assert_eq!(tab.session.unread(), 1);
    tab.hear(r#""does":"here","seen":2"#);
    assert_eq!(tab.session.unread(), 0);
}

#[test]
fn a_pending_message_of_a_newer_version_does_not_count_as_delivered() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.say("two");
    let (name, _) = tab.letter("two");
    tab.hear_kept(&name, r#"{"v":3}"#);
    assert_eq!(tab.delivery("two"), Delivery::Waiting);
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 2);
}

#[test]
fn removes_an_event_stored_after_tracking_was_disabled() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Events);
    tab.answer(Events, r#"{"accepted":0,"rejected":1,"tracking":"disabled"}"#);
    tab.stores.clear();
    tab.hear_kept("event:1", "null");
    assert_eq!(tab.stores, [], "it is forgotten already");
    tab.hear_kept("event:1", r#"{"eventType":"page_view"}"#);
    assert_eq!(tab.stores, [("chat-widget:event:1".to_owned(), None)]);
    let events = tab.count(Events);
    tab.wait(10_000);
    assert_eq!(tab.count(Events), events);
}

#[test]
fn broadcasts_to_a_candidate_only_what_it_lacks() {
    let mut tab = Tab::in_conversation();
    let known = json(tab.kept(keys::CONVERSATION).expect("a conversation"));
    let [revision, writer] = ["revision", "writer"].map(|field| known.get(field).expect(field).to_string());
    let asks = |seen: u32, revision: &str, writer: &str| {
        format!(r#""does":"ask","seen":{seen},"revision":{revision},"writer":{writer}"#)
    };
    tab.stores.clear();
    tab.hear(&asks(1, &revision, &writer));
    assert_eq!(tab.stores, []);
    tab.hear(&asks(0, &revision, &writer));
    let names = |tab: &mut Tab| -> Vec<String> {
        std::mem::take(&mut tab.stores).into_iter().map(|(key, _)| key.replace(keys::PREFIX, "")).collect()
    };
    assert_eq!(names(&mut tab), ["seen"]);
    tab.hear(&asks(1, "0", &writer));
    assert_eq!(names(&mut tab), [""; 0], "it asks again in a moment");
    tab.wait(200);
    tab.hear(&asks(1, "0", &writer));
    assert_eq!(names(&mut tab), ["visitor", "conversation", "seen"]);
    assert_eq!(json(tab.kept(keys::CONVERSATION).expect("a conversation")), known);
    tab.hear(&asks(1, &revision, r#""other""#));
    assert_eq!(names(&mut tab), ["visitor", "conversation"]);
    assert_ne!(json(tab.kept(keys::CONVERSATION).expect("a conversation")), known, "it counts on");
}

#[test]
fn a_leader_resigns_after_a_write_of_a_later_term() {
    let mut tab = Tab::in_conversation();
    tab.hear(r#""does":"keep","name":"conversation","term":0,"value":null"#);
    assert!(tab.session.leads());
    tab.hear(r#""does":"keep","name":"conversation","term":9,"value":null"#);
    assert!(!tab.session.leads());
}

#[test]
fn replaces_an_outdated_snapshot_in_storage() {
    let mut tab = Tab::in_conversation();
    let early = tab.kept(keys::CONVERSATION).expect("a conversation").to_owned();
    tab.say("two");
    tab.reply(2, "second");
    let late = tab.kept(keys::CONVERSATION).expect("a conversation").to_owned();
    tab.stores.clear();
    tab.take_deeds();
    tab.hear_kept(keys::CONVERSATION, &early);
    assert_eq!(tab.stores, [("chat-widget:conversation".to_owned(), Some(late))]);
    assert!(tab.posts.is_empty(), "it is not told: it hears better when it asks");
}

#[test]
fn a_leader_polls_again_after_the_snapshot_of_another_leader() {
    let mut tab = Tab::in_conversation();
    let told = tab.kept(keys::CONVERSATION).expect("a conversation").to_owned();
    let read = tab.waiting(Messages).expect("a read").id;
    tab.hear_kept(keys::CONVERSATION, &told.replace(r#""revision":"#, r#""revision":1"#));
    assert!(tab.session.leads());
    assert_ne!(tab.waiting(Messages).map(|request| request.id), Some(read));
}

#[test]
fn obeys_a_retry_after_received_after_losing_the_lead() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.hear(r#""does":"lead","term":99,"visible":true"#);
    tab.refuse(Send, 429, "RATE_LIMITED", Some(20_000));
    tab.wait(19_000);
    assert!(tab.session.leads(), "the other one is gone");
    assert_eq!(tab.attempts().len(), 2);
    tab.wait(2_000);
    assert_eq!(tab.attempts().len(), 3);
}

#[test]
fn sends_a_message_only_a_closed_leader_had_stored() {
    let mut tab = Tab::in_conversation();
    let told =
        tab.kept(keys::CONVERSATION).expect("a conversation").replace(r#""revision":"#, r#""revision":1"#);
    let lost = r#""entries":[{"letter":"mlost","role":"visitor","text":"lost","at":5,"delivery":"waiting"},"#;
    tab.hear_kept(keys::CONVERSATION, &told.replace(r#""entries":["#, lost));
    assert_eq!(tab.stored_as(keys::OUTBOX), 0, "the tab that told of it has it");
    tab.hear_kept(keys::CONVERSATION, &told.replace(r#""revision":"#, r#""revision":1"#));
    tab.hear(r#""does":"free""#);
    assert_eq!(tab.attempts().len(), 2);
    tab.reply(2, "found");
    assert_eq!(tab.texts(), ["one", "first", "lost", "found"]);
}

#[test]
fn merges_an_echo_with_a_message_stored_by_another_tab() {
    let mut tab = Tab::in_conversation();
    tab.answer(
        Messages,
        r#"{"messages":[{"id":"a1","role":"assistant","content":"first"},{"id":"u2","role":"visitor","content":"two"}]}"#,
    );
    tab.hear(r#""does":"lead","term":99,"visible":true"#);
    let letter = r#"{"v":2,"text":"two","path":"/","attempts":1,"key":"chat-visitor-mtwo","body":"{}"}"#;
    for (kept, shown) in [(letter, &["one", "first", "two", "two"][..]), ("null", &["one", "first", "two"])] {
        tab.hear_kept("outbox:mtwo", kept);
        assert_eq!(tab.texts(), shown);
    }
}

#[test]
fn answers_candidates_once_per_interval_but_new_tabs_always() {
    let all = r#""revision":0,"seen":9"#;
    let what_is_seen = r#""revision":9,"seen":0"#;
    for lacks in [all, what_is_seen] {
        let mut tab = Tab::in_conversation();
        for (does, wait_ms, told) in [
            ("ask", 200, true),
            ("ask", 199, false),
            ("hello", 0, true),
            ("ask", 199, false),
            ("ask", 1, true),
        ] {
            tab.wait(wait_ms);
            tab.stores.clear();
            tab.hear(&format!(r#""does":"{does}",{lacks}"#));
            let seen = tab.stores.iter().any(|(key, _)| key.ends_with(keys::SEEN));
            assert_eq!(seen, told, "{does} after {wait_ms} ms by one that knows {lacks}");
        }
    }
}

#[test]
fn the_leader_polls_after_a_former_leader_received_a_response() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, r#"{"messages":[]}"#);
    tab.answer(Presence, r#"{"shouldPollMessages":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.hear(r#""does":"answered""#);
    assert!(tab.waiting(Messages).is_some());
    tab.say("two");
    tab.hear(r#""does":"lead","term":99,"visible":true"#);
    tab.take_deeds();
    tab.reply(2, "second");
    assert!(tab.take_deeds().contains(&"answered".to_owned()));
}

#[test]
fn the_leader_obeys_a_retry_after_of_a_former_leader() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.hear(r#""does":"lead","term":99,"visible":true"#);
    tab.take_deeds();
    tab.refuse(Send, 503, "UNAVAILABLE", Some(60_000));
    let answered =
        tab.posts.iter().map(|post| json(post)).find(|post| post.get("does") == Some(&"answered".into()));
    let until = tab.now_ms + 60_000;
    assert_eq!(answered.and_then(|told| told.get("value").map(ToString::to_string)), Some(until.to_string()));

    let mut leader = Tab::in_conversation();
    leader.answer(Messages, r#"{"messages":[]}"#);
    let until = leader.now_ms + 60_000;
    leader.hear(&format!(r#""does":"answered","value":{until}"#));
    leader.say("two");
    leader.wait(59_999);
    assert!(leader.waiting(Send).is_none() && leader.waiting(Messages).is_none());
    leader.wait(1);
    assert!(leader.waiting(Send).is_some() && leader.waiting(Messages).is_some());
}
