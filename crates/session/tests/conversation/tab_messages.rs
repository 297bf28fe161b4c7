//! Messages between tabs: late, repeated and lost.

use crate::conversation::fixture::{Tab, json};
use chat_protocol::Endpoint::{Events, Messages, Presence, Send};
use chat_session::{Delivery, keys};

#[test]
fn a_late_response_does_not_restore_an_earlier_conversation() {
    let mut tab = Tab::in_conversation_sending("two");
    let (_, snapshot) = tab
        .storage
        .iter()
        .find(|(key, _)| key.ends_with(keys::CONVERSATION))
        .expect("a conversation")
        .clone();
    assert!(
        snapshot.contains(r#""conversationId":"c1""#) && snapshot.contains(r#""delivery":"sending""#),
        "{snapshot}"
    );
    let newer = snapshot
        .replace(r#""conversationId":"c1""#, r#""conversationId":"c2""#)
        .replace(r#""delivery":"sending""#, r#""delivery":null"#)
        .replace(r#""revision":"#, r#""revision":1"#);
    tab.receive_write(keys::CONVERSATION, &newer);
    assert!(tab.session.leads() && tab.delivery("two") == Delivery::Delivered);
    tab.reply(2, "second");
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c2"));
    assert_eq!(tab.texts(), ["one", "first", "two"]);
}

#[test]
fn publishes_a_newer_revision_after_a_conflict() {
    let mut tab = Tab::in_conversation();
    let stored = tab.stored(keys::CONVERSATION).expect("a conversation").to_owned();
    tab.receive_write(keys::CONVERSATION, &stored);
    assert_eq!(tab.stored(keys::CONVERSATION), Some(&*stored), "a revision of its own");
    let writer =
        stored.split(r#""writer":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("a writer");
    tab.receive_write(keys::CONVERSATION, &stored.replace(writer, "other"));
    let republished = tab.stored(keys::CONVERSATION).expect("a conversation");
    assert_ne!(republished, stored);
    assert!(republished.contains(writer));
}

#[test]
fn learns_of_a_conversation_from_another_leaders_snapshot_of_the_same_revision() {
    let mut tab = Tab::sending("one");
    let own = tab.stored(keys::CONVERSATION).expect("a snapshot").to_owned();
    let id = tab.pending("one").0.replace(keys::OUTBOX, "");
    let revision = json(&own).get("revision").expect("a revision").to_string();
    let other = format!(
        r#"{{"v":2,"revision":{revision},"writer":"other","conversationId":"c1","newest":1,"entries":[{{"letter":"{id}","id":"u1","role":"visitor","text":"one"}},{{"id":"a1","serial":1,"role":"assistant","text":"first"}}]}}"#
    );
    tab.receive_write(keys::CONVERSATION, &other);
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c1"));
    assert_eq!((tab.texts(), tab.session.unread()), (vec!["one", "first"], 1));
    tab.receive_write(keys::CONVERSATION, &own);
    assert_eq!(tab.texts(), ["one", "first"], "the snapshot without the conversation does not replace it");
}

#[test]
fn keeps_its_conversation_if_another_leader_does_not_know_of_it() {
    let mut tab = Tab::in_conversation();
    let other = r#"{"v":2,"revision":99,"writer":"other","entries":[{"letter":"m-other","role":"visitor","text":"two","delivery":"sending"}]}"#;
    tab.receive_write(keys::CONVERSATION, other);
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c1"));
    assert_eq!(tab.texts(), ["one", "first"]);
    let published = json(tab.stored(keys::CONVERSATION).expect("a conversation"));
    assert_eq!(published.get("revision"), Some(&100.into()), "the other leader adopts it");
}

#[test]
fn never_moves_the_seen_position_backwards() {
    let mut tab = Tab::in_conversation();
    let seen = tab.stored(keys::SEEN).expect("a position").to_owned();
    tab.writes.clear();
    tab.receive_write(keys::SEEN, &seen);
    assert_eq!(tab.writes, []);
    tab.receive_write(keys::SEEN, r#"{"v":2,"serial":0}"#);
    assert_eq!(
        tab.writes,
        [("chat-widget:seen".to_owned(), Some(seen))],
        "the newer position is stored again"
    );
    assert_eq!(tab.session.unread(), 0);
}

#[test]
fn takes_over_the_seen_position_from_any_tab_message() {
    let mut tab = Tab::in_conversation();
    tab.set_open(false);
    tab.answer_messages(&["a1 assistant first", "o1 operator Anna"]);
    assert_eq!(tab.session.unread(), 1);
    tab.receive(r#""does":"here","seen":2"#);
    assert_eq!(tab.session.unread(), 0);
}

#[test]
fn removes_an_event_stored_after_tracking_was_disabled() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Events);
    tab.answer(Events, r#"{"accepted":0,"rejected":1,"tracking":"disabled"}"#);
    tab.writes.clear();
    tab.receive_write("event:1", "null");
    assert_eq!(tab.writes, [], "the event is already removed");
    tab.receive_write("event:1", r#"{"eventType":"page_view"}"#);
    assert_eq!(tab.writes, [("chat-widget:event:1".to_owned(), None)]);
    let events = tab.count(Events);
    tab.wait(10_000);
    assert_eq!(tab.count(Events), events);
}

#[test]
fn broadcasts_to_a_candidate_only_what_it_lacks() {
    let mut tab = Tab::in_conversation();
    let known = json(tab.stored(keys::CONVERSATION).expect("a conversation"));
    let [revision, writer] = ["revision", "writer"].map(|field| known.get(field).expect(field).to_string());
    let challenge = |seen: u32, revision: &str, writer: &str| {
        format!(r#""does":"ask","seen":{seen},"revision":{revision},"writer":{writer}"#)
    };
    tab.writes.clear();
    tab.receive(&challenge(1, &revision, &writer));
    assert_eq!(tab.writes, []);
    tab.receive(&challenge(0, &revision, &writer));
    let names = |tab: &mut Tab| -> Vec<String> {
        std::mem::take(&mut tab.writes).into_iter().map(|(key, _)| key.replace(keys::PREFIX, "")).collect()
    };
    assert_eq!(names(&mut tab), ["seen"]);
    tab.receive(&challenge(1, "0", &writer));
    assert_eq!(names(&mut tab), [""; 0], "a repeated request is ignored for a moment");
    tab.wait(200);
    tab.receive(&challenge(1, "0", &writer));
    assert_eq!(names(&mut tab), ["visitor", "conversation", "seen"]);
    assert_eq!(json(tab.stored(keys::CONVERSATION).expect("a conversation")), known);
    tab.receive(&challenge(1, &revision, r#""other""#));
    assert_eq!(names(&mut tab), ["visitor", "conversation"]);
    assert_ne!(
        json(tab.stored(keys::CONVERSATION).expect("a conversation")),
        known,
        "a newer revision is published"
    );
}

#[test]
fn a_leader_resigns_after_a_write_of_a_later_term() {
    let mut tab = Tab::in_conversation();
    tab.receive(r#""does":"keep","name":"conversation","term":0,"value":null"#);
    assert!(tab.session.leads());
    tab.receive(r#""does":"keep","name":"conversation","term":9,"value":null"#);
    assert!(!tab.session.leads());
}

#[test]
fn replaces_an_outdated_snapshot_in_storage() {
    let mut tab = Tab::in_conversation();
    let early = tab.stored(keys::CONVERSATION).expect("a conversation").to_owned();
    tab.send("two");
    tab.reply(2, "second");
    let late = tab.stored(keys::CONVERSATION).expect("a conversation").to_owned();
    tab.writes.clear();
    tab.take_broadcast_kinds();
    tab.receive_write(keys::CONVERSATION, &early);
    assert_eq!(tab.writes, [("chat-widget:conversation".to_owned(), Some(late))]);
    assert!(tab.broadcasts.is_empty(), "the other tab is brought up to date when it stands for election");
}

#[test]
fn a_leader_polls_again_after_the_snapshot_of_another_leader() {
    let mut tab = Tab::in_conversation();
    let snapshot = tab.stored(keys::CONVERSATION).expect("a conversation").to_owned();
    let poll = tab.waiting(Messages).expect("a poll").id;
    tab.receive_write(keys::CONVERSATION, &snapshot.replace(r#""revision":"#, r#""revision":1"#));
    assert!(tab.session.leads());
    assert_ne!(tab.waiting(Messages).map(|request| request.id), Some(poll));
}

#[test]
fn obeys_a_retry_after_received_after_losing_the_lead() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.receive(r#""does":"lead","term":99,"visible":true"#);
    tab.refuse(Send, 429, "RATE_LIMITED", Some(20_000));
    tab.wait(19_000);
    assert!(tab.session.leads(), "the other tab is gone");
    assert_eq!(tab.attempts().len(), 2);
    tab.wait(2_000);
    assert_eq!(tab.attempts().len(), 3);
}

#[test]
fn answers_candidates_once_per_interval_but_new_tabs_always() {
    let all = r#""revision":0,"seen":9"#;
    let what_is_seen = r#""revision":9,"seen":0"#;
    for lacks in [all, what_is_seen] {
        let mut tab = Tab::in_conversation();
        for (does, wait_ms, answered) in [
            ("ask", 200, true),
            ("ask", 199, false),
            ("hello", 0, true),
            ("ask", 199, false),
            ("ask", 1, true),
        ] {
            tab.wait(wait_ms);
            tab.writes.clear();
            tab.receive(&format!(r#""does":"{does}",{lacks}"#));
            let seen = tab.writes.iter().any(|(key, _)| key.ends_with(keys::SEEN));
            assert_eq!(seen, answered, "{does} after {wait_ms} ms by a tab that knows {lacks}");
        }
    }
}

#[test]
fn the_leader_polls_after_a_former_leader_received_a_response() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, r#"{"messages":[]}"#);
    tab.answer(Presence, r#"{"shouldPollMessages":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.receive(r#""does":"answered""#);
    assert!(tab.waiting(Messages).is_some());
    tab.send("two");
    tab.receive(r#""does":"lead","term":99,"visible":true"#);
    tab.take_broadcast_kinds();
    tab.reply(2, "second");
    assert!(tab.take_broadcast_kinds().contains(&"answered".to_owned()));
}

#[test]
fn the_leader_obeys_a_retry_after_of_a_former_leader() {
    let mut tab = Tab::in_conversation_sending("two");
    tab.receive(r#""does":"lead","term":99,"visible":true"#);
    tab.take_broadcast_kinds();
    tab.refuse(Send, 503, "UNAVAILABLE", Some(60_000));
    let answered = tab
        .broadcasts
        .iter()
        .map(|message| json(message))
        .find(|message| message.get("does") == Some(&"answered".into()));
    let until = tab.now_ms + 60_000;
    assert_eq!(
        answered.and_then(|message| message.get("value").map(ToString::to_string)),
        Some(until.to_string())
    );

    let mut leader = Tab::in_conversation();
    leader.answer(Messages, r#"{"messages":[]}"#);
    let until = leader.now_ms + 60_000;
    leader.receive(&format!(r#""does":"answered","value":{until}"#));
    leader.send("two");
    leader.wait(59_999);
    assert!(leader.waiting(Send).is_none() && leader.waiting(Messages).is_none());
    leader.wait(1);
    assert!(leader.waiting(Send).is_some() && leader.waiting(Messages).is_some());
}
