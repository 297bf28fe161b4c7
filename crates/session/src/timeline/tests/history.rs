//! Polled messages: shown once, at the service's position.

use super::*;

#[test]
fn history_stands_before_undelivered_messages() {
    let mut timeline = Timeline::default();
    timeline.write("m-new", "new", 1, Delivery::Waiting);
    read(&mut timeline, messages(&["u1 visitor old", "a1 assistant answer"]));
    assert_eq!(texts(&timeline), ["old", "answer", "new"]);
}

#[test]
fn uses_the_services_order_instead_of_the_order_of_arrival() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("a0", "assistant", "welcome")]);
    let mine = timeline.write("m-question", "question", 1, Delivery::Sending);
    timeline.deliver(mine, Some("u1".into()));
    timeline.reply(mine, message("a1", "assistant", "answer"));
    let new = read(
        &mut timeline,
        messages(&["o1 operator I am here", "u1 visitor question", "a1 assistant answer"]),
    );
    assert_eq!(texts(&timeline), ["welcome", "I am here", "question", "answer"]);
    assert_eq!(new.len(), 1);
}

#[test]
fn keeps_the_order_if_the_service_lists_no_visitor_messages() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("a0", "assistant", "welcome")]);
    let mine = timeline.write("m-question", "question", 1, Delivery::Sending);
    timeline.deliver(mine, Some("u1".into()));
    read(&mut timeline, vec![message("o1", "operator", "answer")]);
    assert_eq!(texts(&timeline), ["welcome", "question", "answer"]);
}

#[test]
fn places_late_messages_before_a_message_not_listed_yet() {
    for visitor in ["visitor", "person"] {
        let mut timeline = Timeline::default();
        delivered(&mut timeline, "one", "u1");
        delivered(&mut timeline, "two", "u2");
        read(&mut timeline, vec![message("u1", visitor, "one"), message("o1", "operator", "between")]);
        assert_eq!(texts(&timeline), ["one", "between", "two"], "{visitor}");
    }
}

#[test]
fn shows_messages_without_ids_once_and_in_order() {
    let mut timeline = Timeline::default();
    let page =
        || vec![message("", "assistant", "a"), message("", "assistant", "b"), message("", "operator", "a")];
    read(&mut timeline, page());
    let new = read(&mut timeline, page());
    assert_eq!((texts(&timeline), new.len()), (vec!["a", "b", "a"], 0));
}

#[test]
fn shows_nothing_twice_if_the_cursor_repeats_or_goes_back() {
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
fn distinguishes_equal_messages_without_ids_by_date() {
    let mut timeline = Timeline::default();
    let page = || vec![dated("", "ok", "10:00"), dated("", "ok", "10:01")];
    read(&mut timeline, page());
    assert!(read(&mut timeline, page()).is_empty());
    assert_eq!(texts(&timeline), ["ok", "ok"]);
    assert_eq!(read(&mut timeline, vec![dated("", "ok", "10:02")]).len(), 1);
}

#[test]
fn a_history_in_known_order_rearranges_nothing() {
    let mut timeline = Timeline::default();
    let page = || messages(&["o1 operator one", "o2 operator two"]);
    read(&mut timeline, page());
    timeline.rewind();
    read(&mut timeline, page());
    assert!(!timeline.take_rearranged());
    timeline.rewind();
    read(&mut timeline, messages(&["o1 operator one", "o1 operator one"]));
    assert!(!timeline.take_rearranged(), "a repeated message rearranges nothing");
    timeline.rewind();
    read(&mut timeline, messages(&["o2 operator two", "o1 operator one"]));
    assert!(timeline.take_rearranged());
    assert_eq!(texts(&timeline), ["two", "one"]);
}

#[test]
fn a_resync_finds_nothing_new_before_a_known_message() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    timeline.reply(mine, message("a1", "assistant", "answer"));
    let page =
        messages(&["o0 operator earlier", "u1 visitor question", "a1 assistant answer", "o2 operator later"]);
    let new = timeline.merge(page, None, &[], Sync::Resync);
    let sequences: Vec<i64> = new.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, [-1, 2]);
    let past = timeline.merge(vec![message("o3", "operator", "long ago")], None, &[], Sync::Backfill);
    assert_eq!(past[0].sequence, -2);
}

#[test]
fn the_cursor_is_the_last_id_unless_the_service_names_one() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("o1", "operator", "one"), message("", "operator", "two")]);
    assert_eq!(timeline.cursor(), Some(&"o1".into()));
    let page = vec![message("", "operator", "two"), message("o3", "operator", "three")];
    timeline.merge(page, Some("x".into()), &[], Sync::Live);
    assert_eq!(timeline.cursor(), Some(&"x".into()));
    read(&mut timeline, vec![]);
    assert_eq!(timeline.cursor(), Some(&"x".into()));
    assert_eq!(timeline.index_polled_up_to(), Some(2));
    read(&mut timeline, vec![message("o4", "operator", "four")]);
    assert_eq!(texts(&timeline), ["one", "two", "three", "four"]);
}

#[test]
fn a_resync_may_find_new_messages_before_a_visitor_message() {
    let mut timeline = Timeline::default();
    delivered(&mut timeline, "question", "u1");
    let page = messages(&["o1 operator I am here", "u1 visitor question"]);
    let new = timeline.merge(page, None, &[], Sync::Resync);
    assert_eq!(new.iter().map(|entry| entry.sequence).collect::<Vec<_>>(), [1]);
}

#[test]
fn moves_the_cursor_after_an_echo_matched_by_a_response() {
    let mut timeline = Timeline::default();
    read(&mut timeline, messages(&["o1 operator one", "u2 visitor two"]));
    timeline.merge(vec![message("x3", "assistant", "")], Some("x3".into()), &[], Sync::Live);
    let key = timeline.write("m-2", "two", 1, Delivery::Sending);
    timeline.deliver(key, Some("u2".into()));
    read(&mut timeline, vec![message("o4", "operator", "four")]);
    assert_eq!(texts(&timeline), ["one", "two", "four"]);
}

#[test]
fn a_timeline_is_truncated_until_the_whole_conversation_is_read() {
    let mut timeline = Timeline::default();
    assert!(!timeline.is_truncated());
    timeline.mark_truncated();
    assert!(timeline.is_truncated());
    timeline.mark_complete();
    assert!(!timeline.is_truncated());
}

#[test]
fn a_timeline_is_identified_if_each_message_has_an_id_or_was_written_here() {
    let mut timeline = Timeline::default();
    timeline.write("m1", "question", 1, Delivery::Waiting);
    read(&mut timeline, vec![message("a1", "assistant", "answer")]);
    assert!(timeline.is_identified());
    read(&mut timeline, vec![message("", "assistant", "without an id")]);
    assert!(!timeline.is_identified());
}

#[test]
fn the_seen_position_is_limited_to_the_newest_message() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("a1", "assistant", "answer")]);
    timeline.apply_remote_seen(90);
    timeline.limit_seen();
    assert_eq!(timeline.seen(), timeline.newest());
    assert!(!timeline.mark_seen(), "everything was seen");
}

#[test]
fn an_emptied_timeline_reports_that_nothing_is_unread() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("a1", "assistant", "answer")]);
    assert_eq!(timeline.update_unread(), Some(1));
    timeline.clear();
    assert_eq!((timeline.unread(), timeline.entries().len()), (1, 0));
    assert_eq!(timeline.update_unread(), Some(0));
}
