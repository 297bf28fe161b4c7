//! The outbox by itself: no session, no network.

use chat_protocol::VisitorProfile;

use super::*;
use crate::timeline::Timeline;

fn compose(pending: &PendingMessage) -> SendMessage {
    SendMessage {
        conversation_id: None,
        message: pending.text().to_owned(),
        locale: None,
        source_page: None,
        visitor: VisitorProfile::default(),
    }
}

/// An outbox with a message for each text, written at 0 ms, and their entries.
fn outbox<const N: usize>(texts: [&str; N]) -> (Outbox, Timeline, [EntryKey; N]) {
    let (mut outbox, mut timeline) = (Outbox::default(), Timeline::default());
    let mut index = 0;
    let entries = texts.map(|text| {
        index += 1;
        let id = format!("m{index}");
        let entry = timeline.write(&id, text, 0, Delivery::Waiting);
        outbox.push(PendingMessage::new(id, entry, text.into(), "/".into(), 0));
        entry
    });
    (outbox, timeline, entries)
}

fn start(outbox: &mut Outbox, now_ms: u64) -> SendRequest {
    outbox.start_next(now_ms, &VisitorId::from("v1"), compose).expect("a message to send")
}

fn back_off(outbox: &mut Outbox, now_ms: u64, entry: EntryKey) -> AfterFailure {
    outbox.back_off(now_ms, entry, Some(5_000), &mut Random::new(1))
}

fn attempted(outbox: &Outbox, backfill: bool) -> Vec<EntryKey> {
    let mut attempted = Vec::new();
    outbox.extend_attempted(&mut attempted, backfill);
    attempted
}

fn ids(outbox: &Outbox) -> Vec<&str> {
    outbox.iter().map(PendingMessage::id).collect()
}

/// The first message as another tab stored it.
fn stored(outbox: &Outbox) -> PendingMessage {
    let first = outbox.iter().next().expect("a message");
    PendingMessage::from_stored(first.id(), &first.to_stored(&VisitorId::from("v1"))).expect("usable")
}

#[test]
fn one_message_is_in_flight_at_a_time() {
    let (mut outbox, _, [first, second]) = outbox(["one", "two"]);
    assert_eq!(outbox.next_attempt_ms(0), Some(0));
    start(&mut outbox, 10);
    assert_eq!(outbox.next_attempt_ms(0), None, "the second message waits");
    assert_eq!(outbox.delivery(first), Some(Delivery::Sending));
    assert_eq!(outbox.delivery(second), Some(Delivery::Waiting));
    assert!(outbox.remove(first).is_some());
    assert_eq!(outbox.next_attempt_ms(0), Some(0));
    assert!(outbox.remove(first).is_none());
}

#[test]
fn a_retry_after_delays_the_next_attempt_unless_the_visitor_skips_it() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    start(&mut outbox, 0);
    assert_eq!(back_off(&mut outbox, 1_000, entry), AfterFailure::BacksOff);
    let due_ms = outbox.next_attempt_ms(0).expect("another attempt");
    assert!((6_000..=6_500).contains(&due_ms), "{due_ms}");
    assert_eq!(outbox.next_attempt_ms(9_000), Some(9_000), "all messages are held");
    outbox.send_now();
    assert_eq!(outbox.next_attempt_ms(9_000), Some(0));
    outbox.end_urgency();
    assert_eq!(outbox.next_attempt_ms(9_000), Some(9_000));
}

#[test]
fn the_next_failure_ends_the_urgency() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    outbox.send_now();
    start(&mut outbox, 0);
    back_off(&mut outbox, 0, entry);
    assert_eq!(outbox.next_attempt_ms(9_000), Some(9_000));
}

#[test]
fn attempts_a_message_six_times_and_again_after_a_retry() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    for is_retry in [false, true] {
        for attempt in 1..=6 {
            assert!(!outbox.is_next_expired(0));
            start(&mut outbox, 0);
            assert_eq!(outbox.is_repeated(entry), is_retry || attempt > 1);
            let after = back_off(&mut outbox, 0, entry);
            let is_last = attempt == 6;
            assert_eq!(after == AfterFailure::Exhausted, is_last, "attempt {attempt}");
        }
        outbox.fail(entry);
        assert!(outbox.retry(10, entry));
    }
    assert!(!outbox.retry(10, entry), "the message is not failed");
}

#[test]
fn a_message_older_than_a_day_is_not_sent_automatically() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    let day_ms = 24 * 60 * 60 * 1000;
    assert!(!outbox.is_next_expired(day_ms) && outbox.is_next_expired(day_ms + 1));
    outbox.fail(entry);
    assert!(outbox.next().is_none());
    outbox.retry(day_ms + 1, entry);
    assert!(!outbox.is_next_expired(day_ms + 1), "the visitor asked just now");
}

#[test]
fn a_failed_message_that_is_retried_is_sent_last_with_the_same_request() {
    let (mut outbox, _, [first, second]) = outbox(["one", "two"]);
    let request = start(&mut outbox, 0);
    outbox.fail(first);
    assert_eq!(outbox.next().map(PendingMessage::entry), Some(second), "failed messages are skipped");
    outbox.retry(10, first);
    assert_eq!(ids(&outbox), ["m2", "m1"]);
    assert_eq!(outbox.delivery(first), Some(Delivery::Waiting));
    outbox.remove(second);
    let again = start(&mut outbox, 20);
    assert_eq!((again.key, again.body), (request.key, request.body));
}

#[test]
fn nothing_is_sent_while_a_message_is_in_doubt() {
    let (mut outbox, _, [first, _]) = outbox(["one", "two"]);
    start(&mut outbox, 0);
    outbox.doubt(first);
    assert_eq!((outbox.in_doubt(), outbox.next_attempt_ms(0)), (Some(first), None));
    assert_eq!(attempted(&outbox, true), [first], "also in a history that is read first");
    outbox.interrupt();
    assert_eq!((outbox.in_doubt(), outbox.next_attempt_ms(0)), (None, Some(0)));
    assert!(attempted(&outbox, true).is_empty());
    assert_eq!(attempted(&outbox, false), [first]);
}

#[test]
fn a_tab_that_loses_the_lead_repeats_its_attempts_later_with_the_same_request() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    let request = start(&mut outbox, 0);
    assert!(attempted(&outbox, false).is_empty(), "the message is in flight");
    outbox.interrupt();
    assert_eq!(outbox.delivery(entry), Some(Delivery::Sending));
    let again = start(&mut outbox, 50);
    assert_eq!((again.key, again.body), (request.key, request.body));
}

#[test]
fn messages_between_two_attempts_wait_while_offline() {
    let (mut outbox, _, [first, second]) = outbox(["one", "two"]);
    start(&mut outbox, 0);
    outbox.wait_for_network();
    assert_eq!(outbox.delivery(first), Some(Delivery::Sending), "the attempt in flight may still arrive");
    back_off(&mut outbox, 0, first);
    outbox.fail(second);
    outbox.wait_for_network();
    assert_eq!(outbox.delivery(first), Some(Delivery::Waiting));
    assert_eq!(outbox.delivery(second), Some(Delivery::Failed));
    assert_eq!(outbox.next_attempt_ms(0), Some(0));
}

#[test]
fn going_online_ends_every_back_off() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    start(&mut outbox, 0);
    back_off(&mut outbox, 0, entry);
    outbox.end_back_off();
    assert_eq!((outbox.next_attempt_ms(0), outbox.delivery(entry)), (Some(0), Some(Delivery::Sending)));
    assert!(!outbox.is_repeated(entry), "the attempts still count");
}

#[test]
fn polls_for_a_message_in_flight_after_two_seconds() {
    let (mut outbox, _, [_]) = outbox(["one"]);
    assert_eq!(outbox.confirm_ms(), None);
    start(&mut outbox, 1_000);
    assert_eq!(outbox.confirm_ms(), Some(3_000));
    outbox.mark_polled();
    assert_eq!(outbox.confirm_ms(), None);
}

#[test]
fn a_response_is_awaited_for_attempted_messages_that_are_not_failed() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    assert!(!outbox.awaits_response());
    start(&mut outbox, 0);
    assert!(outbox.awaits_response());
    outbox.fail(entry);
    assert!(!outbox.awaits_response());
}

#[test]
fn a_message_whose_conversation_is_gone_becomes_another_request() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    let first = start(&mut outbox, 0);
    assert!(!outbox.names_conversation(entry), "the request begins a conversation");
    outbox.start_over(entry);
    assert!(!outbox.awaits_response());
    assert_ne!(start(&mut outbox, 10).key, first.key);
}

#[test]
fn messages_with_the_same_text_are_counted_if_they_were_attempted() {
    let (mut outbox, _, [first, _]) = outbox(["yes", "yes"]);
    start(&mut outbox, 0);
    assert_eq!(outbox.attempted_with("yes"), 1);
    back_off(&mut outbox, 0, first);
    outbox.fail(first);
    start(&mut outbox, 0);
    assert_eq!((outbox.attempted_with("yes"), outbox.attempted_with("no")), (2, 0));
}

#[test]
fn a_message_that_was_never_sent_matches_no_echo() {
    let (mut outbox, mut timeline, [expired, lost]) = outbox(["hello", "hello"]);
    outbox.fail(expired);
    assert!(attempted(&outbox, false).is_empty());
    assert_eq!(outbox.attempted_with("hello"), 0);
    timeline.set_delivery(lost, Delivery::Failed);
    outbox.reconcile(&timeline);
    assert_eq!(attempted(&outbox, false), [lost], "another tab may have attempted it");
    outbox.remove(lost);
    outbox.restore_missing(timeline.entries(), &[]);
    assert_eq!(attempted(&outbox, false), [lost], "storage has lost its request");
}

#[test]
fn a_message_of_another_tab_is_taken_unless_this_tab_sends_it() {
    let (mut known, _, [entry]) = outbox(["one"]);
    let unsent = stored(&known);
    start(&mut known, 0);
    let sent = stored(&known);
    assert_eq!(known.apply_remote(0, entry, unsent, true), RemoteMessage::Ignored);
    assert_eq!(known.next_attempt_ms(0), None, "the attempt is still in flight");

    let (mut other, mut timeline, []) = outbox([]);
    let entry = timeline.write("m1", "one", 0, Delivery::Waiting);
    assert_eq!(other.apply_remote(0, entry, sent, true), RemoteMessage::Taken);
    assert_eq!((ids(&other), other.awaits_response()), (vec!["m1"], true));
    let sent = stored(&other);
    let (mut third, _, [entry]) = outbox(["one"]);
    assert_eq!(
        third.apply_remote(0, entry, sent, true),
        RemoteMessage::Taken,
        "another tab led for a moment"
    );
    assert!(third.awaits_response());
    let unsent = PendingMessage::new("m1".into(), entry, "one".into(), "/".into(), 0);
    assert_eq!(third.apply_remote(0, entry, unsent, false), RemoteMessage::Taken, "this tab does not send");
}

#[test]
fn bounds_a_back_off_stored_with_a_wrong_clock_to_five_minutes() {
    let (mut sender, _, [entry]) = outbox(["one"]);
    start(&mut sender, 0);
    sender.back_off(9_000_000, entry, Some(1_000), &mut Random::new(1));
    let remote = stored(&sender);
    let (mut outbox, _, []) = outbox([]);
    outbox.apply_remote(1_000, entry, remote, false);
    assert_eq!(outbox.next_attempt_ms(0), Some(301_000));
}

#[test]
fn a_failed_message_that_another_tab_retried_is_sent_last() {
    let (mut outbox, _, [first, _]) = outbox(["one", "two"]);
    start(&mut outbox, 0);
    let retried = stored(&outbox);
    outbox.fail(first);
    assert_eq!(outbox.apply_remote(0, first, retried, true), RemoteMessage::Requeued);
    assert_eq!(ids(&outbox), ["m2", "m1"]);
    assert_eq!(outbox.delivery(first), Some(Delivery::Waiting));
}

#[test]
fn a_snapshot_of_another_tab_delivers_fails_and_revives_messages() {
    let (mut outbox, mut timeline, [delivered, failed, revived]) = outbox(["a", "b", "c"]);
    outbox.push(PendingMessage::new("m9".into(), EntryKey::default(), "not shown".into(), "/".into(), 0));
    outbox.fail(revived);
    timeline.set_delivery(delivered, Delivery::Delivered);
    timeline.set_delivery(failed, Delivery::Failed);
    outbox.reconcile(&timeline);
    assert_eq!(ids(&outbox), ["m2", "m3"]);
    assert_eq!(outbox.delivery(failed), Some(Delivery::Failed));
    assert_eq!(outbox.delivery(revived), Some(Delivery::Waiting));
}

#[test]
fn a_snapshot_does_not_fail_an_attempt_in_flight() {
    let (mut outbox, mut timeline, [entry]) = outbox(["one"]);
    start(&mut outbox, 0);
    timeline.set_delivery(entry, Delivery::Failed);
    outbox.reconcile(&timeline);
    assert_eq!(outbox.delivery(entry), Some(Delivery::Sending));
}

#[test]
fn a_message_with_an_attempt_in_flight_is_not_removed_by_another_tab() {
    let (mut outbox, _, [first, second]) = outbox(["one", "two"]);
    start(&mut outbox, 0);
    assert_eq!((outbox.idle_entry("m1"), outbox.idle_entry("m2")), (None, Some(second)));
    outbox.interrupt();
    assert_eq!((outbox.idle_entry("m1"), outbox.idle_entry("m9")), (Some(first), None));
}

#[test]
fn lost_messages_are_restored_in_their_places() {
    let (mut outbox, mut timeline, [first, second, third, fourth]) = outbox(["a", "b", "c", "d"]);
    timeline.set_delivery(second, Delivery::Failed);
    timeline.set_delivery(fourth, Delivery::Delivered);
    for entry in [first, second, fourth] {
        outbox.remove(entry);
    }
    let remote: [Rc<str>; 1] = ["m1".into()];
    assert_eq!(outbox.restore_missing(timeline.entries(), &remote), [second], "m1 is another tab's to send");
    assert_eq!(outbox.restore_missing(timeline.entries(), &[]), [first], "a delivered message is not lost");
    assert_eq!(ids(&outbox), ["m1", "m2", "m3"]);
    assert_eq!(outbox.delivery(second), Some(Delivery::Failed));
    assert_eq!(outbox.next().map(PendingMessage::entry), Some(first));
    outbox.remove(third);
    assert_eq!(outbox.restore_missing(timeline.entries(), &[]), [third]);
    assert_eq!(ids(&outbox), ["m1", "m2", "m3"]);
}

#[test]
fn checks_a_text_by_the_strictest_count_of_characters() {
    assert_eq!(check_message(" \n\u{a0}"), Err(Refusal::Empty));
    assert_eq!(check_message(&"a".repeat(4000)), Ok(()));
    assert_eq!(check_message(&"a".repeat(4001)), Err(Refusal::TooLong));
    assert_eq!(check_message(&"\u{1F600}".repeat(2001)), Err(Refusal::TooLong));
}

#[test]
fn a_person_who_asks_gives_all_messages_but_the_one_in_flight_new_attempts() {
    let (mut outbox, _, [entry]) = outbox(["one"]);
    for _ in 0..5 {
        start(&mut outbox, 0);
        back_off(&mut outbox, 0, entry);
    }
    start(&mut outbox, 0);
    outbox.send_now();
    assert_eq!(back_off(&mut outbox, 0, entry), AfterFailure::Exhausted, "this attempt counts as the sixth");
    outbox.interrupt();
    outbox.send_now();
    assert!(!outbox.is_next_expired(0));
}
