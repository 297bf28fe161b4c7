use super::*;

fn message(id: &str, role: &str, content: &str) -> ChatMessage {
    ChatMessage {
        id: (!id.is_empty()).then(|| id.into()),
        role: Role::from(role),
        content: content.into(),
        created_at: None,
    }
}

fn dated(id: &str, content: &str, date: &str) -> ChatMessage {
    ChatMessage { created_at: Some(date.into()), ..message(id, "operator", content) }
}

fn read(timeline: &mut Timeline, messages: Vec<ChatMessage>) -> Vec<Entry> {
    timeline.merge(messages, None, &[], Reading::Live)
}

fn delivered(timeline: &mut Timeline, text: &str, id: &str) -> EntryKey {
    let key = timeline.write(&format!("m-{text}"), text, 1, Delivery::Sending);
    timeline.deliver(key, Some(id.into()));
    key
}

/// Another tab's timeline, as it is told: without what only its own tab knows.
fn told(timeline: &Timeline) -> Vec<Entry> {
    timeline.entries().iter().map(|entry| Entry { key: EntryKey::default(), ..entry.clone() }).collect()
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
fn what_a_read_brings_late_stands_before_a_message_that_it_does_not_list_yet() {
    let mut timeline = Timeline::default();
    delivered(&mut timeline, "one", "u1");
    delivered(&mut timeline, "two", "u2");
    read(&mut timeline, vec![message("u1", "visitor", "one"), message("o1", "operator", "between")]);
    assert_eq!(texts(&timeline), ["one", "between", "two"]);
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
fn messages_without_ids_that_say_the_same_are_told_apart_by_their_dates() {
    let mut timeline = Timeline::default();
    let page = || vec![dated("", "ok", "10:00"), dated("", "ok", "10:01")];
    read(&mut timeline, page());
    assert!(read(&mut timeline, page()).is_empty());
    assert_eq!(texts(&timeline), ["ok", "ok"]);
    assert_eq!(read(&mut timeline, vec![dated("", "ok", "10:02")]).len(), 1);
}

#[test]
fn a_message_without_an_id_takes_the_date_of_its_echo() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    let echo = ChatMessage { role: Role::Visitor, ..dated("", "ok", "10:00") };
    timeline.merge(vec![echo], None, &[mine], Reading::Live);
    let [entry] = timeline.entries() else { panic!("one message") };
    assert_eq!((entry.key, &entry.created), (mine, &Some(Created::There("10:00".into()))));
}

#[test]
fn an_echo_without_an_id_is_a_change_once() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    for changed in [true, false] {
        timeline.merge(vec![message("", "visitor", "ok")], None, &[mine], Reading::Live);
        timeline.rewind();
        assert_eq!((timeline.take_rearranged(), timeline.entries().len()), (changed, 1));
    }
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
fn what_others_wrote_later_is_unread_and_answers() {
    let mut timeline = Timeline::default();
    let mine = delivered(&mut timeline, "question", "u1");
    assert!(!timeline.is_answered(mine));
    read(&mut timeline, vec![message("u1", "visitor", "question"), message("u2", "visitor", "by phone")]);
    assert!(!timeline.is_answered(mine));
    read(&mut timeline, vec![message("a1", "assistant", "answer"), message("a2", "assistant", "more")]);
    assert!(timeline.is_answered(mine));
    let [.., first, last] = timeline.entries() else { panic!("four messages") };
    let (first, last) = (first.serial, last.serial);
    assert_eq!([first - 1, first, last].map(|seen| timeline.unread(seen)), [2, 1, 0]);
    assert_eq!(timeline.newest(), last);
    timeline.count_from(last - 1);
    assert_eq!(timeline.newest(), last);
    timeline.count_from(last + 1);
    assert_eq!(timeline.newest(), last + 1);
}

#[test]
fn a_conversation_that_is_gone_keeps_what_was_said_and_leaves_what_is_to_be_sent_to_the_next() {
    let mut timeline = Timeline::default();
    timeline.write("m-waits", "waits", 1, Delivery::Waiting);
    let failed = timeline.write("m-failed", "failed", 1, Delivery::Failed);
    timeline.write("m-sending", "sending", 1, Delivery::Sending);
    delivered(&mut timeline, "said", "u1");
    timeline.close();
    assert_eq!(texts(&timeline), ["failed", "said", "waits", "sending"]);
    assert_eq!(timeline.floor(), 2);
    read(&mut timeline, vec![message("b1", "assistant", "hello again")]);
    assert_eq!(texts(&timeline), ["failed", "said", "hello again", "waits", "sending"]);
    timeline.move_to_end(failed);
    assert_eq!((texts(&timeline)[0], timeline.floor()), ("said", 1));
    timeline.move_to_end(failed);
    assert_eq!(timeline.floor(), 1, "it had left the old conversation");
}

#[test]
fn an_id_of_a_conversation_that_is_gone_may_be_given_again() {
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
fn a_message_that_was_given_the_echo_of_another_gives_it_back() {
    let mut timeline = Timeline::default();
    let first = timeline.write("m-1", "ok", 1, Delivery::Sending);
    let second = timeline.write("m-2", "ok", 2, Delivery::Sending);
    timeline.merge(vec![message("u1", "visitor", "ok")], None, &[first, second], Reading::Live);
    timeline.deliver(second, Some("u1".into()));
    let shown: Vec<_> =
        timeline.entries().iter().map(|entry| (entry.key, entry.delivery, entry.id.clone())).collect();
    assert_eq!(shown, [(second, Delivery::Delivered, Some("u1".into())), (first, Delivery::Waiting, None)]);
}

#[test]
fn an_answer_that_names_a_message_which_was_read_before_shows_it_once_and_where_it_was_read() {
    for written_first in [true, false] {
        let mut timeline = Timeline::default();
        let read_it = |timeline: &mut Timeline| {
            read(
                timeline,
                vec![
                    message("o1", "operator", "one"),
                    message("u1", "person", "mine"),
                    message("o2", "operator", "two"),
                ],
            )
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
        assert_eq!((timeline.entries()[1].key, timeline.entries()[1].settled()), (mine, true));
    }
}

#[test]
fn only_the_visitor_or_somebody_unknown_echoes_the_visitor() {
    for (role, echoes) in [("visitor", true), ("person", true), ("assistant", false), ("operator", false)] {
        let mut timeline = Timeline::default();
        let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
        timeline.merge(vec![message("x1", role, "ok")], None, &[mine], Reading::Live);
        assert_eq!(timeline.entries().len() == 1, echoes, "{role}");
        assert_eq!(timeline.take_rearranged(), echoes);
        assert!(!timeline.take_rearranged());
    }
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
    let new = timeline.merge(page, None, &[], Reading::Again);
    let serials: Vec<i64> = new.iter().map(|entry| entry.serial).collect();
    assert_eq!(serials, [-1, 2]);
    let past = timeline.merge(vec![message("o3", "operator", "long ago")], None, &[], Reading::Past);
    assert_eq!(past[0].serial, -2);
}

#[test]
fn the_next_read_begins_after_the_last_message_that_has_an_id_unless_the_service_says_otherwise() {
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("o1", "operator", "one"), message("", "operator", "two")]);
    assert_eq!(timeline.cursor(), Some(&"o1".into()));
    let page = vec![message("", "operator", "two"), message("o3", "operator", "three")];
    timeline.merge(page, Some("x".into()), &[], Reading::Live);
    assert_eq!(timeline.cursor(), Some(&"x".into()));
    read(&mut timeline, vec![]);
    assert_eq!(timeline.cursor(), Some(&"x".into()));
    assert_eq!(timeline.index_read_up_to(), Some(2));
    read(&mut timeline, vec![message("o4", "operator", "four")]);
    assert_eq!(texts(&timeline), ["one", "two", "three", "four"]);
}

#[test]
fn another_tabs_messages_are_taken_over_in_its_order_and_keep_their_keys() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        read(timeline, vec![message("o1", "operator", "one"), message("", "operator", "two")]);
    }
    let keys =
        |timeline: &Timeline| -> Vec<EntryKey> { timeline.entries().iter().map(|entry| entry.key).collect() };
    let before = keys(&here);
    here.write("m-mine", "mine", 1, Delivery::Waiting);
    read(&mut there, vec![message("", "operator", "two"), message("o3", "operator", "three")]);
    let new = here.adopt(told(&there), Some("o3".into()), Some(2), 0, false);
    assert_eq!(new.iter().map(|entry| &*entry.text).collect::<Vec<_>>(), ["three"]);
    assert_eq!(texts(&here), ["one", "two", "three", "mine"]);
    assert_eq!(keys(&here)[..2], before);
    assert_eq!((here.cursor(), here.index_read_up_to(), here.newest()), (Some(&"o3".into()), Some(2), 3));
    assert!(read(&mut here, vec![message("o3", "operator", "three")]).is_empty());
}

#[test]
fn of_a_part_of_another_tabs_messages_what_stands_before_it_stays() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        let pages = ["one", "two", "three"].map(|text| message(text, "operator", text));
        read(timeline, pages.to_vec());
    }
    read(&mut there, vec![message("four", "operator", "four")]);
    for (cut, shown) in [(true, vec!["one", "two", "three", "four"]), (false, vec!["three", "four"])] {
        let part = told(&there).split_off(2);
        here.adopt(part, Some("four".into()), Some(1), 1, cut);
        assert_eq!(texts(&here), shown);
        assert_eq!((here.index_read_up_to(), here.floor()), (Some(shown.len() - 1), shown.len() - 1));
    }
}

#[test]
fn a_message_that_is_known_to_have_arrived_stays_so_and_one_that_another_tab_knows_of_is_news() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        timeline.write("m-1", "one", 1, Delivery::Sending);
        timeline.write("m-2", "two", 1, Delivery::Sending);
    }
    let (first, second) = (here.entries()[0].key, there.entries()[1].key);
    here.deliver(first, Some("u1".into()));
    there.deliver(second, Some("u2".into()));
    let new = here.adopt(told(&there), None, None, 0, false);
    assert_eq!(new.iter().map(|entry| &*entry.text).collect::<Vec<_>>(), ["two"]);
    assert!(here.entries().iter().all(Entry::settled));
    assert_eq!(here.entries()[0].id, Some("u1".into()));
}

#[test]
fn a_message_that_was_mistaken_for_another_is_not_believed_to_have_arrived() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        timeline.write("m-1", "ok", 1, Delivery::Sending);
        timeline.write("m-2", "ok", 1, Delivery::Sending);
    }
    let (first, second) = (here.entries()[0].key, there.entries()[1].key);
    here.deliver(first, Some("u1".into()));
    there.deliver(second, Some("u1".into()));
    here.adopt(told(&there), None, None, 0, false);
    assert_eq!(here.entries().iter().map(Entry::settled).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn entries_without_ids_and_names_are_the_same_when_they_came_in_as_the_same() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        read(timeline, vec![message("", "operator", "one")]);
    }
    let one = here.entries()[0].clone();
    let mut other = there.entries()[0].clone();
    assert!(one.is(&other));
    other.id = Some("o1".into());
    assert!(!one.is(&other));
    let mut named = one.clone();
    named.id = Some("o1".into());
    assert!(named.is(&other));
    other.text = "two".into();
    assert!(!named.is(&other));
    other = one.clone();
    other.serial = 7;
    assert!(!one.is(&other));
    other = one.clone();
    other.letter = Some("m-1".into());
    assert!(!one.is(&other) && !other.is(&one));
}

#[test]
fn a_message_in_doubt_is_the_one_that_was_read_before_by_an_unknown_name() {
    let mut timeline = Timeline::default();
    let page = |role: &str| vec![message("a0", "assistant", "ok"), message("u1", role, "ok")];
    for (role, one) in [("visitor", true), ("person", true), ("operator", false)] {
        let mut timeline = Timeline::default();
        read(&mut timeline, page(role));
        let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
        timeline.deliver_in_doubt(mine);
        assert_eq!(timeline.entries().len(), if one { 2 } else { 3 }, "{role}");
        let entry = timeline.entry(mine).expect("the message");
        assert_eq!((entry.settled(), entry.id.is_some()), (true, one));
    }
    read(&mut timeline, page("visitor"));
    timeline.close();
    read(&mut timeline, vec![message("u2", "visitor", "ok, then")]);
    delivered(&mut timeline, "ok", "u3");
    let mine = timeline.write("m-ok-2", "ok", 1, Delivery::Sending);
    timeline.deliver_in_doubt(mine);
    assert_eq!(timeline.entry(mine).expect("the message").id, None, "none of these is its echo");
    assert_eq!(timeline.entries().len(), 5);
}

#[test]
fn a_conversation_that_seemed_to_be_gone_and_goes_on_is_shown_once() {
    let mut timeline = Timeline::default();
    let page = || vec![message("o1", "operator", "one"), message("o2", "operator", "two")];
    read(&mut timeline, page());
    timeline.close();
    assert!(read(&mut timeline, page()).is_empty());
    assert_eq!((texts(&timeline), timeline.floor()), (vec!["one", "two"], 0));
    timeline.close();
    let other = read(&mut timeline, vec![message("o1", "operator", "other")]);
    assert_eq!(other.len(), 1, "an id that is given again");
    let mut timeline = Timeline::default();
    read(&mut timeline, vec![message("", "operator", "one")]);
    timeline.close();
    assert_eq!(
        read(&mut timeline, vec![message("", "operator", "one")]).len(),
        1,
        "without an id, another one"
    );
}

#[test]
fn what_another_tab_shows_in_another_place_is_shown_once_where_its_beginning_is_cut_away() {
    for (floor, gone) in [(0, 1), (1, 3)] {
        let mut here = Timeline::default();
        read(&mut here, vec![message("o1", "operator", "gone")]);
        here.close();
        let pages = ["one", "two", "three"].map(|text| message(text, "operator", text));
        read(&mut here, pages.to_vec());
        let key = here.entries()[1].key;
        let mut part = told(&here).split_off(1);
        part.rotate_left(2);
        let new = here.adopt(vec![part.remove(0), part.remove(0)], None, Some(0), floor, true);
        assert_eq!((texts(&here), new.len()), (vec!["gone", "two", "three", "one"], 0));
        assert_eq!((here.entries()[3].key, here.floor(), here.index_read_up_to()), (key, gone, Some(2)));
    }
}

#[test]
fn where_the_end_of_a_conversation_is_told_alone_this_tab_knows_how_much_is_gone() {
    for (floor, gone) in [(0, 1), (1, 3)] {
        let mut here = Timeline::default();
        read(&mut here, vec![message("o1", "operator", "gone")]);
        here.close();
        read(&mut here, vec![message("o2", "operator", "two"), message("o3", "operator", "three")]);
        let part = told(&here).split_off(2);
        here.adopt(part, None, None, floor, true);
        assert_eq!((texts(&here), here.floor()), (vec!["gone", "two", "three"], gone));
    }
}

#[test]
fn an_echo_with_another_date_is_another_message() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-ok", "ok", 1, Delivery::Sending);
    let echo = |date: &str| ChatMessage { role: Role::Visitor, ..dated("", "ok", date) };
    timeline.merge(vec![echo("10:00")], None, &[mine], Reading::Live);
    timeline.merge(vec![echo("10:01")], None, &[mine], Reading::Live);
    assert_eq!(texts(&timeline), ["ok", "ok"]);
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
fn what_stands_before_a_message_of_the_visitor_alone_may_be_news() {
    let mut timeline = Timeline::default();
    delivered(&mut timeline, "question", "u1");
    let page = vec![message("o1", "operator", "I am here"), message("u1", "visitor", "question")];
    let new = timeline.merge(page, None, &[], Reading::Again);
    assert_eq!(new.iter().map(|entry| entry.serial).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_delivery_that_is_set_tells_whether_it_was_another_one() {
    let mut timeline = Timeline::default();
    let mine = timeline.write("m-1", "one", 1, Delivery::Sending);
    let changed =
        [Delivery::Waiting, Delivery::Waiting].map(|delivery| timeline.set_delivery(mine, delivery));
    assert_eq!(changed, [true, false]);
}
