//! Snapshots of other tabs: adopted in their order.

use super::*;

#[test]
fn adopts_the_order_of_another_tab_and_keeps_the_keys() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        read(timeline, vec![message("o1", "operator", "one"), message("", "operator", "two")]);
    }
    let keys =
        |timeline: &Timeline| -> Vec<EntryKey> { timeline.entries().iter().map(|entry| entry.key).collect() };
    let before = keys(&here);
    here.write("m-mine", "mine", 1, Delivery::Waiting);
    read(&mut there, vec![message("", "operator", "two"), message("o3", "operator", "three")]);
    let new = here.adopt(snapshot(&there), Some("o3".into()), Some(2), 0, false);
    assert_eq!(new.iter().map(|entry| &*entry.text).collect::<Vec<_>>(), ["three"]);
    assert_eq!(texts(&here), ["one", "two", "three", "mine"]);
    assert_eq!(keys(&here)[..2], before);
    assert_eq!((here.cursor(), here.index_polled_up_to(), here.newest()), (Some(&"o3".into()), Some(2), 3));
    assert!(read(&mut here, vec![message("o3", "operator", "three")]).is_empty());
}

#[test]
fn keeps_entries_before_a_truncated_snapshot() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        let pages = ["one", "two", "three"].map(|text| message(text, "operator", text));
        read(timeline, pages.to_vec());
    }
    read(&mut there, vec![message("four", "operator", "four")]);
    for (cut, shown) in [(true, vec!["one", "two", "three", "four"]), (false, vec!["three", "four"])] {
        let part = snapshot(&there).split_off(2);
        here.adopt(part, Some("four".into()), Some(1), 1, cut);
        assert_eq!(texts(&here), shown);
        assert_eq!(
            (here.index_polled_up_to(), here.archived_len()),
            (Some(shown.len() - 1), shown.len() - 1)
        );
    }
}

#[test]
fn keeps_a_delivery_and_reports_one_that_another_tab_knows() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        timeline.write("m-1", "one", 1, Delivery::Sending);
        timeline.write("m-2", "two", 1, Delivery::Sending);
    }
    let (first, second) = (here.entries()[0].key, there.entries()[1].key);
    here.deliver(first, Some("u1".into()));
    there.deliver(second, Some("u2".into()));
    let new = here.adopt(snapshot(&there), None, None, 0, false);
    assert_eq!(new.iter().map(|entry| &*entry.text).collect::<Vec<_>>(), ["two"]);
    assert!(here.entries().iter().all(Entry::is_settled));
    assert_eq!(here.entries()[0].id, Some("u1".into()));
}

#[test]
fn resets_a_delivery_that_another_tab_has_corrected() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    for timeline in [&mut here, &mut there] {
        timeline.write("m-1", "ok", 1, Delivery::Sending);
        timeline.write("m-2", "ok", 1, Delivery::Sending);
    }
    let (first, second) = (here.entries()[0].key, there.entries()[1].key);
    here.deliver(first, Some("u1".into()));
    there.deliver(second, Some("u1".into()));
    here.adopt(snapshot(&there), None, None, 0, false);
    assert_eq!(here.entries().iter().map(Entry::is_settled).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn matches_entries_without_ids_by_sequence() {
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
    other.sequence = 7;
    assert!(!one.is(&other));
    other = one.clone();
    other.local_id = Some("m-1".into());
    assert!(!one.is(&other) && !other.is(&one));
}

#[test]
fn matches_a_local_message_with_the_echo_of_another_tab() {
    let (mut here, mut there) = (Timeline::default(), Timeline::default());
    let key = delivered(&mut here, "one", "u1");
    read(&mut here, messages(&["o2 operator two", "o3 operator three"]));
    read(&mut there, messages(&["o3 operator three", "u1 visitor one"]));
    let new = here.adopt(snapshot(&there), None, None, 0, true);
    assert_eq!((texts(&here), new.len()), (vec!["two", "three", "one"], 0));
    assert_eq!(here.entries()[2].key, key);
}

#[test]
fn does_not_show_an_echo_that_another_tab_has_matched() {
    for from in [2, 3] {
        let mut here = Timeline::default();
        read(&mut here, messages(&["u1 visitor one", "o2 operator two"]));
        read(&mut here, vec![message("o3", "operator", "three")]);
        let key = here.write("m-1", "one", 1, Delivery::Sending);
        let mut part = snapshot(&here).split_off(from);
        if let Some(last) = part.last_mut() {
            (last.id, last.delivery) = (Some("u1".into()), Delivery::Delivered);
        }
        here.adopt(part, None, None, 0, true);
        assert_eq!(texts(&here), ["two", "three", "one"]);
        assert_eq!(here.entries()[2].key, key);
    }
}

#[test]
fn shows_a_moved_message_once_if_the_snapshot_is_truncated() {
    for (archived_len, gone) in [(0, 1), (1, 3)] {
        let mut here = Timeline::default();
        read(&mut here, vec![message("o1", "operator", "gone")]);
        here.close();
        let pages = ["one", "two", "three"].map(|text| message(text, "operator", text));
        read(&mut here, pages.to_vec());
        let key = here.entries()[1].key;
        let mut part = snapshot(&here).split_off(1);
        part.rotate_left(2);
        let new = here.adopt(vec![part.remove(0), part.remove(0)], None, Some(0), archived_len, true);
        assert_eq!((texts(&here), new.len()), (vec!["gone", "two", "three", "one"], 0));
        assert_eq!(
            (here.entries()[3].key, here.archived_len(), here.index_polled_up_to()),
            (key, gone, Some(2))
        );
    }
}

#[test]
fn keeps_the_archived_length_if_the_snapshot_is_truncated() {
    for (archived_len, gone) in [(0, 1), (1, 3)] {
        let mut here = Timeline::default();
        read(&mut here, vec![message("o1", "operator", "gone")]);
        here.close();
        read(&mut here, messages(&["o2 operator two", "o3 operator three"]));
        let part = snapshot(&here).split_off(2);
        here.adopt(part, None, None, archived_len, true);
        assert_eq!((texts(&here), here.archived_len()), (vec!["gone", "two", "three"], gone));
    }
}

#[test]
fn detects_a_missing_beginning_of_a_truncated_snapshot() {
    let mut there = Timeline::default();
    there.write("m-1", "mine", 1, Delivery::Waiting);
    read(&mut there, messages(&["o1 operator one", "o2 operator two"]));
    let end = |from: usize| snapshot(&there).split_off(from);
    let mut here = Timeline::default();
    for (from, cut, lacks) in [(1, true, true), (2, true, true), (0, false, false), (1, true, false)] {
        here.adopt(end(from), None, None, 0, cut);
        assert_eq!(here.is_truncated, lacks, "from {from}, cut: {cut}");
    }
    // A pending entry does not show whether the entries before it are complete.
    let mut here = Timeline::default();
    read(&mut here, vec![message("o0", "operator", "zero")]);
    here.write("m-1", "mine", 1, Delivery::Waiting);
    let mine = there.entries().iter().filter(|entry| !entry.is_settled()).cloned().collect();
    here.adopt(mine, None, None, 0, true);
    assert!(here.is_truncated);
}
