//! What a read brings is shown once, and where the service has it.

use super::*;

#[test]
fn history_comes_before_what_is_not_yet_delivered() {
    let mut timeline = Timeline::default();
    timeline.write("m-new", "new", 1, Delivery::Waiting);
    timeline.merge(
        vec![message("u1", "visitor", "old"), message("a1", "assistant", "answer")],
        None,
        &[],
        Sync::Live,
    );
    assert_eq!(texts(&timeline), ["old", "answer", "new"]);
}

#[test]
fn the_services_order_wins_over_the_order_of_arrival() {
    let mut timeline = Timeline::default();
    timeline.merge(vec![message("a0", "assistant", "welcome")], None, &[], Sync::Live);
    let mine = timeline.write("m-question", "question", 1, Delivery::Sending);
    timeline.deliver(mine, Some("u1".into()));
    timeline.reply(mine, message("a1", "assistant", "answer"));
    let new = timeline.merge(
        vec![
            message("o1", "operator", "I am here"),
            message("u1", "visitor", "question"),
            message("a1", "assistant", "answer"),
        ],
        None,
        &[],
        Sync::Live,
    );
    assert_eq!(texts(&timeline), ["welcome", "I am here", "question", "answer"]);
    assert_eq!(new.len(), 1);
}

#[test]
fn a_service_that_does_not_list_the_visitors_messages_does_not_disorder_them() {
    let mut timeline = Timeline::default();
    timeline.merge(vec![message("a0", "assistant", "welcome")], None, &[], Sync::Live);
    let mine = timeline.write("m-question", "question", 1, Delivery::Sending);
    timeline.deliver(mine, Some("u1".into()));
    timeline.merge(vec![message("o1", "operator", "answer")], None, &[], Sync::Live);
    assert_eq!(texts(&timeline), ["welcome", "question", "answer"]);
}

#[test]
fn what_a_read_brings_late_stands_before_a_message_that_it_does_not_list_yet() {
    for visitor in ["visitor", "person"] {
        let mut timeline = Timeline::default();
        delivered(&mut timeline, "one", "u1");
        delivered(&mut timeline, "two", "u2");
        read(&mut timeline, vec![message("u1", visitor, "one"), message("o1", "operator", "between")]);
        assert_eq!(texts(&timeline), ["one", "between", "two"], "{visitor}");
    }
}

#[test]
fn messages_without_ids_are_shown_once_and_in_order() {
    let mut timeline = Timeline::default();
    let page =
        || vec![message("", "assistant", "a"), message("", "assistant", "b"), message("", "operator", "a")];
    timeline.merge(page(), None, &[], Sync::Live);
    let new = timeline.merge(page(), None, &[], Sync::Live);
    assert_eq!((texts(&timeline), new.len()), (vec!["a", "b", "a"], 0));
}

#[test]
fn a_cursor_that_repeats_or_goes_back_shows_nothing_twice() {
    let mut timeline = Timeline::default();
    let (a, b, c) =
        (message("1", "operator", "a"), message("2", "operator", "b"), message("3", "operator", "c"));
    timeline.merge(vec![a.clone(), b.clone()], Some("2".into()), &[], Sync::Live);
    timeline.merge(vec![b.clone(), c.clone()], Some("1".into()), &[], Sync::Live);
    timeline.merge(vec![a, b, c], Some("3".into()), &[], Sync::Live);
    assert_eq!(texts(&timeline), ["a", "b", "c"]);
    assert_eq!(timeline.cursor(), Some(&"3".into()));
}

#[test]
fn messages_without_ids_that_say_the_same_are_told_apart_by_their_dates() {
    let mut timeline = Timeline::default();
    let page = || vec![dated("", "ok", "10:00"), dated("", "ok", "10:01")];
    read(&mut timeline, page());
    assert!(read(&mut timeline, page()).is_empty());
    assert_eq!(texts(&timeline), ["ok", "ok"]);
    assert_eq!(read(&mut timeline, vec![dated("", "ok", "10:02")]).len(), 1);
}

#[test]
fn a_read_that_brings_what_is_known_in_its_order_rearranges_nothing() {
    let mut timeline = Timeline::default();
    let page = || vec![message("o1", "operator", "one"), message("o2", "operator", "two")];
    read(&mut timeline, page());
    timeline.rewind();
    read(&mut timeline, page());
    assert!(!timeline.take_rearranged());
    timeline.rewind();
    read(&mut timeline, vec![message("o1", "operator", "one"), message("o1", "operator", "one")]);
    assert!(!timeline.take_rearranged(), "nor does one that comes twice");
    timeline.rewind();
    read(&mut timeline, vec![message("o2", "operator", "two"), message("o1", "operator", "one")]);
    assert!(timeline.take_rearranged());
    assert_eq!(texts(&timeline), ["two", "one"]);
}

#[test]
fn what_stands_before_a_known_message_was_said_before_it() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    timeline.reply(mine, message("a1", "assistant", "answer"));
    let page = vec![
        message("o0", "operator", "earlier"),
        message("u1", "visitor", "question"),
        message("a1", "assistant", "answer"),
        message("o2", "operator", "later"),
    ];
    let new = timeline.merge(page, None, &[], Sync::Resync);
    let sequences: Vec<i64> = new.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, [-1, 2]);
    let past = timeline.merge(vec![message("o3", "operator", "long ago")], None, &[], Sync::Backfill);
    assert_eq!(past[0].sequence, -2);
}

#[test]
fn the_next_read_begins_after_the_last_message_that_has_an_id_unless_the_service_says_otherwise() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("o1", "operator", "one"), message("", "operator", "two")]);
    assert_eq!(timeline.cursor(), Some(&"o1".into()));
    let page = vec![message("", "operator", "two"), message("o3", "operator", "three")];
    timeline.merge(page, Some("x".into()), &[], Sync::Live);
    assert_eq!(timeline.cursor(), Some(&"x".into()));
    read(&mut timeline, vec![]);
    assert_eq!(timeline.cursor(), Some(&"x".into()));
    assert_eq!(timeline.index_read_up_to(), Some(2));
    read(&mut timeline, vec![message("o4", "operator", "four")]);
    assert_eq!(texts(&timeline), ["one", "two", "three", "four"]);
}

#[test]
fn what_stands_before_a_message_of_the_visitor_alone_may_be_news() {
    let mut timeline = Timeline::default();
    delivered(&mut timeline, "question", "u1");
    let page = vec![message("o1", "operator", "I am here"), message("u1", "visitor", "question")];
    let new = timeline.merge(page, None, &[], Sync::Resync);
    assert_eq!(new.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [1]);
}

#[test]
fn reading_goes_on_behind_an_echo_that_turns_out_to_be_of_a_message_from_here() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("o1", "operator", "one"), message("u2", "visitor", "two")]);
    timeline.merge(vec![message("x3", "assistant", "")], Some("x3".into()), &[], Sync::Live);
    let key = timeline.write("m-2", "two", 1, Delivery::Sending);
    timeline.deliver(key, Some("u2".into()));
    read(&mut timeline, vec![message("o4", "operator", "four")]);
    assert_eq!(texts(&timeline), ["one", "two", "four"]);
}
