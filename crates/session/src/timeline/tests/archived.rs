//! Archived conversations: they stand before the next one.

use super::*;

#[test]
fn archives_delivered_entries_and_moves_pending_ones_to_the_next_conversation() {
    let mut timeline = Timeline::default();
    timeline.write("m-waits", "waits", 1, Delivery::Waiting);
    let failed = timeline.write("m-failed", "failed", 1, Delivery::Failed);
    timeline.write("m-sending", "sending", 1, Delivery::Sending);
    delivered(&mut timeline, "said", "u1");
    timeline.close();
    assert_eq!(texts(&timeline), ["failed", "said", "waits", "sending"]);
    assert_eq!(timeline.archived_len(), 2);
    read(&mut timeline, vec![message("b1", "assistant", "hello again")]);
    assert_eq!(texts(&timeline), ["failed", "said", "hello again", "waits", "sending"]);
    timeline.move_to_end(failed);
    assert_eq!((texts(&timeline)[0], timeline.archived_len()), ("said", 1));
    timeline.move_to_end(failed);
    assert_eq!(timeline.archived_len(), 1, "the message was no longer archived");
}

#[test]
fn accepts_an_id_that_an_archived_conversation_used() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    timeline.reply(mine, message("a1", "assistant", "answer"));
    timeline.close();
    let next = delivered(&mut timeline, "question two", "u1");
    assert_eq!(texts(&timeline), ["question", "answer", "question two"]);
    assert!(timeline.reply(next, message("a1", "assistant", "answer")).is_none(), "the same message, late");
    assert!(timeline.reply(next, message("a1", "assistant", "another")).is_some());
    assert_eq!(texts(&timeline), ["question", "answer", "question two", "another"]);
}

#[test]
fn shows_a_resumed_conversation_once() {
    let mut timeline = Timeline::default();
    let page = || messages(&["o1 operator one", "o2 operator two"]);
    read(&mut timeline, page());
    timeline.close();
    assert!(read(&mut timeline, page()).is_empty());
    assert_eq!((texts(&timeline), timeline.archived_len()), (vec!["one", "two"], 0));
    timeline.close();
    let other = read(&mut timeline, vec![message("o1", "operator", "other")]);
    assert_eq!(other.len(), 1, "the id is used again");
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("", "operator", "one")]);
    timeline.close();
    assert_eq!(
        read(&mut timeline, vec![message("", "operator", "one")]).len(),
        1,
        "without an id, it is a new message"
    );
}

#[test]
fn shows_visitor_messages_of_a_resumed_conversation_once() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "mine", "u1");
    timeline.close();
    assert!(read(&mut timeline, vec![message("u1", "person", "mine")]).is_empty());
    assert_eq!((timeline.entries()[0].key, timeline.archived_len()), (mine, 0));
    timeline.close();
    assert_eq!(read(&mut timeline, vec![message("u1", "person", "another")]).len(), 1);
    timeline.close();
    assert_eq!(
        read(&mut timeline, vec![message("u9", "visitor", "mine")]).len(),
        1,
        "the visitor wrote it again"
    );
}

#[test]
fn a_retried_message_leaves_the_archived_part() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    let key = here.write("m-1", "mine", 1, Delivery::Waiting);
    there.write("m-1", "mine", 1, Delivery::Waiting);
    read(&mut there, messages(&["o1 operator gone", "o2 operator one"]));
    let mut entries = snapshot(&there);
    entries.rotate_right(1);
    assert_eq!(entries.iter().map(|entry| &*entry.text).collect::<Vec<_>>(), ["mine", "gone", "one"]);
    here.adopt(entries, None, None, 2, false);
    here.move_behind_settled(key);
    assert_eq!((texts(&here), here.archived_len()), (vec!["gone", "one", "mine"], 1));
}
