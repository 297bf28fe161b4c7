//! Echoes: a visitor message and its echo are one entry, and nothing else matches it.

use super::*;

#[test]
fn shows_a_message_with_its_echo_and_a_repeated_reply_as_two_entries() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-hello", "hello", 1, Delivery::Sending);
    timeline.deliver(mine, Some("u1".into()));
    assert!(timeline.reply(mine, message("a1", "assistant", "hi")).is_some());
    let new = read(&mut timeline, messages(&["u1 user hello", "a1 assistant hi"]));
    assert_eq!((texts(&timeline), new.len()), (vec!["hello", "hi"], 0));
}

#[test]
fn matches_an_echo_polled_before_the_response() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-hello", "hello", 1, Delivery::Sending);
    timeline.merge(messages(&["u1 visitor hello", "a1 assistant hi"]), None, &[mine], Sync::Live);
    assert_eq!(texts(&timeline), ["hello", "hi"]);
    timeline.deliver(mine, Some("u1".into()));
    assert!(timeline.reply(mine, message("a1", "assistant", "hi")).is_none());
    assert_eq!(texts(&timeline), ["hello", "hi"]);
}

#[test]
fn matches_an_echo_of_an_unknown_role_by_its_id() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-hello", "hello", 1, Delivery::Sending);
    timeline.merge(messages(&["u1 person hello", "a1 assistant hi"]), None, &[mine], Sync::Live);
    timeline.deliver(mine, Some("u1".into()));
    assert_eq!(texts(&timeline), ["hello", "hi"]);
    assert_eq!(timeline.entries()[0].author, Role::Visitor);
}

#[test]
fn does_not_match_an_older_message_with_an_unsent_one() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Waiting);
    read(&mut timeline, vec![message("u1", "visitor", "ok")]);
    assert_eq!(texts(&timeline), ["ok", "ok"]);
    assert_eq!(timeline.entries()[1].key, mine);
}

#[test]
fn a_delivered_message_without_an_id_takes_the_date_of_its_echo() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    let echo = ChatMessage { role: Role::Visitor, ..dated("", "ok", "10:00") };
    timeline.merge(vec![echo], None, &[mine], Sync::Live);
    let [entry] = timeline.entries() else { panic!("one message") };
    assert_eq!((entry.key, &entry.created), (mine, &Some(Created::Remote("10:00".into()))));
}

#[test]
fn an_echo_without_an_id_rearranges_once() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    for changed in [true, false] {
        timeline.merge(vec![message("", "visitor", "ok")], None, &[mine], Sync::Live);
        timeline.rewind();
        assert_eq!((timeline.take_rearranged(), timeline.entries().len()), (changed, 1));
    }
}

#[test]
fn returns_an_echo_matched_with_the_wrong_message() {
    let mut timeline = Timeline::default();
    let first = timeline.write("m-1", "ok", 1, Delivery::Sending);
    let second = timeline.write("m-2", "ok", 2, Delivery::Sending);
    timeline.merge(vec![message("u1", "visitor", "ok")], None, &[first, second], Sync::Live);
    timeline.deliver(second, Some("u1".into()));
    let shown: Vec<_> =
        timeline.entries().iter().map(|entry| (entry.key, entry.delivery, entry.id.clone())).collect();
    assert_eq!(shown, [(second, Delivery::Delivered, Some("u1".into())), (first, Delivery::Waiting, None)]);
}

#[test]
fn a_response_merges_a_message_polled_before_at_its_position() {
    for written_first in [true, false] {
        let mut timeline = Timeline::default();
        let read_it = |timeline: &mut Timeline| {
            read(timeline, messages(&["o1 operator one", "u1 person mine", "o2 operator two"]))
        };
        let mine = if written_first {
            let failed = timeline.write("m-mine", "mine", 1, Delivery::Failed);
            timeline.close();
            read_it(&mut timeline);
            failed
        } else {
            read_it(&mut timeline);
            timeline.write("m-mine", "mine", 1, Delivery::Sending)
        };
        timeline.deliver(mine, Some("u1".into()));
        assert_eq!(texts(&timeline), ["one", "mine", "two"]);
        assert_eq!((timeline.entries()[1].key, timeline.entries()[1].is_settled()), (mine, true));
    }
}

#[test]
fn only_visitor_and_unknown_roles_can_be_echoes() {
    for (role, echoes) in [("visitor", true), ("person", true), ("assistant", false), ("operator", false)] {
        let mut timeline = Timeline::default();
        let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
        timeline.merge(vec![message("x1", role, "ok")], None, &[mine], Sync::Live);
        assert_eq!(timeline.entries().len() == 1, echoes, "{role}");
        assert_eq!(timeline.take_rearranged(), echoes);
        assert!(!timeline.take_rearranged());
    }
}

#[test]
fn matches_a_message_in_doubt_with_an_entry_of_an_unknown_role() {
    let mut timeline = Timeline::default();
    let page = |role: &str| vec![message("a0", "assistant", "ok"), message("u1", role, "ok")];
    for (role, one) in [("visitor", true), ("person", true), ("operator", false)] {
        let mut timeline = Timeline::default();
        read(&mut timeline, page(role));
        let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
        timeline.deliver_in_doubt(mine, None);
        assert_eq!(timeline.entries().len(), if one { 2 } else { 3 }, "{role}");
        let entry = timeline.entry(mine).expect("the message");
        assert_eq!((entry.is_settled(), entry.id.is_some()), (true, one));
    }
    read(&mut timeline, page("visitor"));
    timeline.close();
    read(&mut timeline, vec![message("u2", "visitor", "ok, then")]);
    delivered(&mut timeline, "ok", "u3");
    let mine = timeline.write("m-ok-2", "ok", 1, Delivery::Sending);
    timeline.deliver_in_doubt(mine, None);
    assert_eq!(timeline.entry(mine).expect("the message").id, None, "none of these is its echo");
    assert_eq!(timeline.entries().len(), 5);
}

#[test]
fn a_repeated_message_takes_the_place_of_an_echo_without_an_id() {
    let mut timeline = Timeline::default();
    let echo = ChatMessage { role: Role::Visitor, ..dated("", "ok", "10:00") };
    let page = vec![dated("", "hi", "09:59"), echo.clone(), dated("", "fine", "10:01")];
    timeline.merge(page, Some("cursor".into()), &[], Sync::Live);
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    assert!(!timeline.deliver_in_doubt(mine, Some("u1".into())));
    assert_eq!(texts(&timeline), ["hi", "ok", "fine"]);
    let entry = &timeline.entries()[1];
    assert_eq!((entry.key, entry.is_settled(), entry.id.clone()), (mine, true, Some("u1".into())));

    let later = ChatMessage { created_at: Some("10:02".into()), ..echo };
    read(&mut timeline, vec![later]);
    assert_eq!(texts(&timeline), ["hi", "ok", "fine", "ok"], "its date is that of the echo");
}

#[test]
fn a_repeated_message_leaves_the_echo_of_another_message() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("u1", "visitor", "ok")]);
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    timeline.deliver_in_doubt(mine, Some("u2".into()));
    assert_eq!(texts(&timeline), ["ok", "ok"]);
    assert_eq!(timeline.entries()[0].id, Some("u1".into()));
}

#[test]
fn an_echo_with_a_different_date_is_a_different_message() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    let echo = |date: &str| ChatMessage { role: Role::Visitor, ..dated("", "ok", date) };
    timeline.merge(vec![echo("10:00")], None, &[mine], Sync::Live);
    timeline.merge(vec![echo("10:01")], None, &[mine], Sync::Live);
    assert_eq!(texts(&timeline), ["ok", "ok"]);
}
