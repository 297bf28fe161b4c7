//! Visitor messages: their position, their delivery and the replies to them.

use super::*;

#[test]
fn a_retried_message_moves_after_later_messages() {
    let mut timeline = Timeline::default();
    let failed = timeline.write("m-first", "first", 1, Delivery::Failed);
    read(&mut timeline, vec![message("o1", "operator", "hello?")]);
    timeline.move_to_end(failed);
    assert_eq!(texts(&timeline), ["hello?", "first"]);
}

#[test]
fn a_first_attempt_moves_the_message_after_polled_ones() {
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
fn each_entry_has_a_unique_key() {
    let mut timeline = Timeline::default();
    let keys = ["a", "b", "c"].map(|text| timeline.write(text, text, 1, Delivery::Waiting).get());
    assert_eq!(keys, [1, 2, 3]);
}

#[test]
fn recognises_a_reply_without_an_id_by_position_or_date() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    read(&mut timeline, vec![message("", "assistant", "answer")]);
    assert!(timeline.reply(mine, message("", "assistant", "answer")).is_none());
    let again = delivered(&mut timeline, "question again", "u2");
    assert!(
        timeline.reply(again, message("", "assistant", "answer")).is_some(),
        "it stands after another message"
    );
    assert!(timeline.reply(again, message("", "assistant", "answer")).is_none());

    let mut timeline = Timeline::default();
    read(&mut timeline, vec![dated("", "answer", "10:00")]);
    let mine = delivered(&mut timeline, "question", "u1");
    assert!(timeline.reply(mine, dated("", "answer", "10:00")).is_none(), "the same date");
    assert!(timeline.reply(mine, dated("", "answer", "10:01")).is_some());
    assert!(
        timeline.reply(mine, dated("", "another", "10:01")).is_some(),
        "the date alone does not identify it"
    );
}

#[test]
fn a_reply_stands_after_delivered_and_before_pending_messages() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    read(&mut timeline, messages(&["u1 visitor question", "o1 operator I am here"]));
    timeline.write("m-next", "next", 1, Delivery::Waiting);
    timeline.reply(mine, message("a1", "assistant", "answer"));
    assert_eq!(texts(&timeline), ["question", "I am here", "answer", "next"]);
}

#[test]
fn later_messages_of_others_are_unread_and_count_as_replies() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    assert!(!timeline.is_answered(mine));
    read(&mut timeline, messages(&["u1 visitor question", "u2 visitor by phone"]));
    assert!(!timeline.is_answered(mine));
    read(&mut timeline, messages(&["a1 assistant answer", "a2 assistant more"]));
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
fn reports_a_corrected_id_when_a_message_is_delivered() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    let mistaken = ["u1", "u1", "u2"].map(|id| timeline.deliver(mine, Some(id.into())));
    assert_eq!(mistaken, [false, false, true]);
    assert!(!timeline.deliver(mine, None));
}

#[test]
fn set_delivery_returns_whether_it_changed() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-1", "one", 1, Delivery::Sending);
    let changed =
        [Delivery::Waiting, Delivery::Waiting].map(|delivery| timeline.set_delivery(mine, delivery));
    assert_eq!(changed, [true, false]);
}
