use super::*;

fn message(id: &str, role: &str, content: &str) -> ChatMessage {
    ChatMessage {
        id: (!id.is_empty()).then(|| id.into()),
        role: Role::from(role),
        content: content.into(),
        created_at: None,
    }
}

fn texts(timeline: &Timeline) -> Vec<&str> {
    timeline.entries().iter().map(|entry| &*entry.text).collect()
}

#[test]
fn a_message_its_echo_its_reply_and_the_reply_read_again_are_two_bubbles() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-hello", "hello", 1, Delivery::Sending);
    timeline.deliver(mine, Some("u1".into()));
    assert!(timeline.reply(mine, message("a1", "assistant", "hi")).is_some());
    let new = timeline.merge(
        vec![message("u1", "user", "hello"), message("a1", "assistant", "hi")],
        None,
        &[],
        Reading::Live,
    );
    assert_eq!((texts(&timeline), new.len()), (vec!["hello", "hi"], 0));
}

#[test]
fn an_echo_that_is_quicker_than_its_answer_is_the_same_message() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-hello", "hello", 1, Delivery::Sending);
    timeline.merge(
        vec![message("u1", "visitor", "hello"), message("a1", "assistant", "hi")],
        None,
        &[mine],
        Reading::Live,
    );
    assert_eq!(texts(&timeline), ["hello", "hi"]);
    timeline.deliver(mine, Some("u1".into()));
    assert!(timeline.reply(mine, message("a1", "assistant", "hi")).is_none());
    assert_eq!(texts(&timeline), ["hello", "hi"]);
}

#[test]
fn an_echo_of_an_unknown_role_is_recognised_by_the_id_in_the_answer() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-hello", "hello", 1, Delivery::Sending);
    timeline.merge(
        vec![message("u1", "person", "hello"), message("a1", "assistant", "hi")],
        None,
        &[mine],
        Reading::Live,
    );
    timeline.deliver(mine, Some("u1".into()));
    assert_eq!(texts(&timeline), ["hello", "hi"]);
    assert_eq!(timeline.entries()[0].author, Role::Visitor);
}

#[test]
fn an_older_message_that_says_the_same_is_not_taken_for_one_that_was_never_sent() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Waiting);
    timeline.merge(vec![message("u1", "visitor", "ok")], None, &[], Reading::Live);
    assert_eq!(texts(&timeline), ["ok", "ok"]);
    assert_eq!(timeline.entries()[1].key, mine);
}

#[test]
fn history_comes_before_what_is_not_yet_delivered() {
    let mut timeline = Timeline::default();
    timeline.write("m-new", "new", 1, Delivery::Waiting);
    timeline.merge(
        vec![message("u1", "visitor", "old"), message("a1", "assistant", "answer")],
        None,
        &[],
        Reading::Live,
    );
    assert_eq!(texts(&timeline), ["old", "answer", "new"]);
}

#[test]
fn the_services_order_wins_over_the_order_of_arrival() {
    let mut timeline = Timeline::default();
    timeline.merge(vec![message("a0", "assistant", "welcome")], None, &[], Reading::Live);
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
        Reading::Live,
    );
    assert_eq!(texts(&timeline), ["welcome", "I am here", "question", "answer"]);
    assert_eq!(new.len(), 1);
}

#[test]
fn a_service_that_does_not_list_the_visitors_messages_does_not_disorder_them() {
    let mut timeline = Timeline::default();
    timeline.merge(vec![message("a0", "assistant", "welcome")], None, &[], Reading::Live);
    let mine = timeline.write("m-question", "question", 1, Delivery::Sending);
    timeline.deliver(mine, Some("u1".into()));
    timeline.merge(vec![message("o1", "operator", "answer")], None, &[], Reading::Live);
    assert_eq!(texts(&timeline), ["welcome", "question", "answer"]);
}

#[test]
fn messages_without_ids_are_shown_once_and_in_order() {
    let mut timeline = Timeline::default();
    let page =
        || vec![message("", "assistant", "a"), message("", "assistant", "b"), message("", "operator", "a")];
    timeline.merge(page(), None, &[], Reading::Live);
    let new = timeline.merge(page(), None, &[], Reading::Live);
    assert_eq!((texts(&timeline), new.len()), (vec!["a", "b", "a"], 0));
}

#[test]
fn a_cursor_that_repeats_or_goes_back_shows_nothing_twice() {
    let mut timeline = Timeline::default();
    let (a, b, c) =
        (message("1", "operator", "a"), message("2", "operator", "b"), message("3", "operator", "c"));
    timeline.merge(vec![a.clone(), b.clone()], Some("2".into()), &[], Reading::Live);
    timeline.merge(vec![b.clone(), c.clone()], Some("1".into()), &[], Reading::Live);
    timeline.merge(vec![a, b, c], Some("3".into()), &[], Reading::Live);
    assert_eq!(texts(&timeline), ["a", "b", "c"]);
    assert_eq!(timeline.cursor(), Some(&"3".into()));
}

#[test]
fn a_message_tried_again_goes_behind_what_came_since() {
    let mut timeline = Timeline::default();
    let failed = timeline.write("m-first", "first", 1, Delivery::Failed);
    timeline.merge(vec![message("o1", "operator", "hello?")], None, &[], Reading::Live);
    timeline.move_to_end(failed);
    assert_eq!(texts(&timeline), ["hello?", "first"]);
}
