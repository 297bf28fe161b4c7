//! What the visitor writes, how far it has come, and what is said to it.

use super::*;

#[test]
fn a_message_tried_again_goes_behind_what_came_since() {
    let mut timeline = Timeline::default();
    let failed = timeline.write("m-first", "first", 1, Delivery::Failed);
    timeline.merge(vec![message("o1", "operator", "hello?")], None, &[], Sync::Live);
    timeline.move_to_end(failed);
    assert_eq!(texts(&timeline), ["hello?", "first"]);
}

#[test]
fn a_message_tried_for_the_first_time_stands_behind_what_the_service_has() {
    let mut timeline = Timeline::default();
    let first = timeline.write("m-first", "first", 1, Delivery::Waiting);
    delivered(&mut timeline, "second", "u2");
    timeline.write("m-third", "third", 3, Delivery::Waiting);
    for _ in 0..2 {
        timeline.move_behind_settled(first);
        assert_eq!(texts(&timeline), ["second", "first", "third"]);
    }
}

#[test]
fn each_entry_has_a_number_of_its_own() {
    let mut timeline = Timeline::default();
    let keys = ["a", "b", "c"].map(|text| timeline.write(text, text, 1, Delivery::Waiting).get());
    assert_eq!(keys, [1, 2, 3]);
}

#[test]
fn a_reply_without_an_id_is_known_by_its_place_or_its_date() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    read(&mut timeline, vec![message("", "assistant", "answer")]);
    assert!(timeline.reply(mine, message("", "assistant", "answer")).is_none());
    let again = delivered(&mut timeline, "question again", "u2");
    assert!(
        timeline.reply(again, message("", "assistant", "answer")).is_some(),
        "it stands behind another message"
    );
    assert!(timeline.reply(again, message("", "assistant", "answer")).is_none());

    let mut timeline = Timeline::default();
    read(&mut timeline, vec![dated("", "answer", "10:00")]);
    let mine = delivered(&mut timeline, "question", "u1");
    assert!(timeline.reply(mine, dated("", "answer", "10:00")).is_none(), "the same date");
    assert!(timeline.reply(mine, dated("", "answer", "10:01")).is_some());
    assert!(timeline.reply(mine, dated("", "another", "10:01")).is_some(), "the date alone does not tell");
}

#[test]
fn a_reply_stands_behind_what_is_delivered_and_before_what_is_not() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    read(&mut timeline, vec![message("u1", "visitor", "question"), message("o1", "operator", "I am here")]);
    timeline.write("m-next", "next", 1, Delivery::Waiting);
    timeline.reply(mine, message("a1", "assistant", "answer"));
    assert_eq!(texts(&timeline), ["question", "I am here", "answer", "next"]);
}

#[test]
fn later_messages_of_others_are_unread_and_answer_the_visitors() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    assert!(!timeline.is_answered(mine));
    read(&mut timeline, vec![message("u1", "visitor", "question"), message("u2", "visitor", "by phone")]);
    assert!(!timeline.is_answered(mine));
    read(&mut timeline, vec![message("a1", "assistant", "answer"), message("a2", "assistant", "more")]);
    assert!(timeline.is_answered(mine));
    let [.., first, last] = timeline.entries() else { panic!("four messages") };
    let (first, last) = (first.sequence, last.sequence);
    for (seen, unread) in [(first - 1, Some(2)), (first, Some(1)), (last, Some(0)), (first, None)] {
        timeline.apply_remote_seen(seen);
        assert_eq!(timeline.update_unread(), unread, "{seen}");
    }
    assert_eq!(timeline.newest(), last);
    timeline.count_from(last - 1);
    assert_eq!(timeline.newest(), last);
    timeline.count_from(last + 1);
    assert_eq!(timeline.newest(), last + 1);
}

#[test]
fn a_message_that_had_another_id_was_taken_for_another_one() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    let mistaken = ["u1", "u1", "u2"].map(|id| timeline.deliver(mine, Some(id.into())));
    assert_eq!(mistaken, [false, false, true]);
    assert!(!timeline.deliver(mine, None));
}

#[test]
fn a_delivery_that_is_set_tells_whether_it_was_another_one() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-1", "one", 1, Delivery::Sending);
    let changed =
        [Delivery::Waiting, Delivery::Waiting].map(|delivery| timeline.set_delivery(mine, delivery));
    assert_eq!(changed, [true, false]);
}
