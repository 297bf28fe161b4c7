//! The poller by itself: hints, pauses, awaited replies and histories.

use super::*;

const NOW: u64 = 1_000_000;

fn presence(should_poll_messages: bool, message_interval_ms: Option<i64>) -> Presence {
    Presence { should_poll_messages, message_interval_ms, ..Presence::default() }
}

/// Returns a poller with a synchronised conversation and this presence.
fn idle(presence: Presence) -> Poller {
    let mut poller = Poller::new(NOW);
    let mut random = Random::new(1);
    poller.on_presence(NOW, presence, false, true, &mut random);
    poller.on_history(false, false);
    assert!(poller.end_sync());
    poller.plan_messages(NOW, false, true, &mut random);
    poller
}

#[test]
fn a_new_poller_polls_everything_at_once() {
    let poller = Poller::new(NOW);
    assert_eq!((poller.presence_due_ms(), poller.messages_due_ms(None, false)), (0, Some(NOW)));
}

#[test]
fn polls_only_awaited_messages_if_the_service_has_none() {
    let mut poller = idle(presence(false, None));
    assert_eq!(poller.messages_due_ms(None, false), None);
    assert!(poller.messages_due_ms(None, true).is_some());
    poller.poll_now(NOW + 5, false);
    assert_eq!(poller.messages_due_ms(None, false), Some(NOW + 5));
}

#[test]
fn a_retry_after_holds_all_polls_for_five_minutes_at_most() {
    let mut poller = idle(presence(true, None));
    poller.hold(NOW, 60_000);
    assert_eq!(poller.messages_due_ms(None, true), Some(NOW + 60_000));
    assert_eq!(poller.presence_due_ms(), NOW + 60_000);
    poller.apply_remote_hold(NOW + 1_000);
    assert_eq!(poller.hold_until_ms(), NOW + 60_000, "a shorter one changes nothing");
    poller.hold(NOW, u64::MAX);
    assert_eq!(poller.hold_until_ms(), NOW + 300_000);
    poller.limit_waits(0);
    assert_eq!(poller.hold_until_ms(), 300_000, "the clock was set back");
}

#[test]
fn a_reply_is_awaited_for_thirty_seconds() {
    let mut poller = idle(presence(true, None));
    poller.expect_reply(NOW);
    assert_eq!(poller.reply_due_ms(), Some(NOW + 30_000));
    poller.apply_remote_reply_wait(Some(u64::MAX));
    poller.limit_waits(NOW);
    assert_eq!(poller.reply_due_ms(), Some(NOW + 30_000));
    assert!(poller.end_reply_wait() && !poller.end_reply_wait());
}

#[test]
fn messages_are_polled_at_once_until_nothing_new_comes() {
    let mut poller = Poller::new(NOW);
    poller.resync();
    for is_new in [true, false] {
        poller.on_history(is_new, is_new);
        assert_eq!(poller.end_sync(), !is_new);
        assert_eq!(poller.sync() == Sync::Live, !is_new);
        poller.plan_messages(NOW, false, true, &mut Random::new(1));
        assert_eq!(poller.messages_due_ms(None, false) == Some(NOW), is_new);
    }
}

#[test]
fn repeats_a_poll_that_began_too_early() {
    let mut poller = idle(presence(true, None));
    poller.poll_until_idle(true);
    poller.on_history(false, false);
    assert!(!poller.end_sync(), "what happened since may be missing");
    poller.on_poll_started(None);
    poller.on_history(false, false);
    assert!(poller.end_sync());
    poller.poll_until_idle(true);
    poller.on_poll_started(None);
    poller.on_history(false, false);
    assert!(poller.end_sync(), "the poll began late enough");
}

#[test]
fn polls_the_rest_of_a_history_after_the_usual_interval() {
    let mut poller = idle(presence(false, None));
    poller.on_history(true, true);
    poller.plan_messages(NOW, false, true, &mut Random::new(1));
    let due_ms = poller.messages_due_ms(None, false).expect("more to poll");
    assert!((NOW + 1_600..=NOW + 2_400).contains(&due_ms), "{due_ms}");
}

#[test]
fn polls_early_to_confirm_a_message_in_flight() {
    let poller = idle(presence(true, Some(60_000)));
    assert_eq!(poller.messages_due_ms(Some(NOW + 2_000), false), Some(NOW + 2_000));
    assert!(poller.messages_due_ms(None, false) > Some(NOW + 40_000));
}

#[test]
fn a_changed_hint_applies_unless_something_is_awaited() {
    for (is_awaited, is_quick) in [(false, true), (true, false)] {
        let mut poller = idle(presence(true, Some(60_000)));
        let quick = presence(true, Some(2_000));
        poller.on_presence(NOW, quick, is_awaited, true, &mut Random::new(1));
        let due_ms = poller.messages_due_ms(None, false).expect("polled");
        assert_eq!(due_ms < NOW + 3_000, is_quick, "{due_ms}");
    }
}

#[test]
fn a_repeated_hint_does_not_postpone_the_next_poll() {
    let mut poller = idle(presence(true, Some(10_000)));
    let before = poller.messages_due_ms(None, false);
    poller.on_presence(NOW + 5_000, presence(true, Some(10_000)), false, true, &mut Random::new(9));
    assert_eq!(poller.messages_due_ms(None, false), before);
}

#[test]
fn a_hint_does_not_shorten_the_back_off() {
    let mut poller = idle(presence(true, Some(60_000)));
    poller.on_error(NOW, Some(30_000), &mut Random::new(1));
    let held_ms = poller.messages_due_ms(None, false).expect("polled");
    assert!(held_ms >= NOW + 30_000);
    poller.on_presence(NOW, presence(true, Some(1_000)), false, true, &mut Random::new(1));
    assert_eq!(poller.messages_due_ms(None, false), Some(held_ms));
}

#[test]
fn a_new_conversation_has_no_history_to_poll() {
    let mut poller = Poller::new(NOW);
    poller.backfill();
    poller.resync();
    assert_eq!(poller.sync(), Sync::Backfill, "the first history is still not new");
    poller.begin_conversation();
    assert_eq!(poller.sync(), Sync::Live);
    assert!(poller.end_sync());
}

#[test]
fn a_conversation_that_ends_takes_its_hints_and_its_awaited_reply_along() {
    let mut poller = idle(presence(false, None));
    poller.expect_reply(NOW);
    poller.end_conversation();
    assert_eq!(poller.reply_due_ms(), None);
    assert!(poller.messages_due_ms(None, false).is_some(), "no hint says that there is nothing to poll for");
}

#[test]
fn a_failed_attempt_and_activity_bring_the_next_poll_forward() {
    let mut poller = idle(presence(true, Some(60_000)));
    poller.poll_soon(NOW, &mut Random::new(1));
    let due_ms = poller.messages_due_ms(None, false).expect("polled");
    assert!((NOW + 1_600..=NOW + 2_400).contains(&due_ms), "{due_ms}");

    let later = NOW + 60 * 60_000;
    let interval_ms = |poller: &mut Poller| {
        poller.plan_messages(later, false, true, &mut Random::new(1));
        poller.messages_due_ms(None, false).expect("polled") - later
    };
    let mut poller = idle(presence(true, Some(2_000)));
    assert!(interval_ms(&mut poller) > 10_000, "nothing happened for an hour");
    poller.record_activity(later);
    assert!(interval_ms(&mut poller) < 3_000);
}

#[test]
fn the_next_poll_of_a_history_that_brings_something_new_is_at_once() {
    let mut poller = idle(presence(true, Some(60_000)));
    poller.poll_until_idle(false);
    poller.on_history(true, true);
    poller.plan_messages(NOW + 9, false, true, &mut Random::new(1));
    assert_eq!(poller.messages_due_ms(None, false), Some(NOW + 9));
}

#[test]
fn a_history_ends_the_count_of_failures() {
    let mut poller = idle(presence(true, Some(60_000)));
    poller.on_error(NOW, Some(300_000), &mut Random::new(1));
    poller.on_history(false, false);
    poller.on_presence(NOW, presence(true, Some(1_000)), false, true, &mut Random::new(1));
    assert!(poller.messages_due_ms(None, false) < Some(NOW + 3_000), "the hint sets the pace again");
}

#[test]
fn a_response_in_parts_is_one_poll() {
    let mut poller = idle(presence(true, Some(60_000)));
    let (token, last_of_part) = (MessageId::from("token"), MessageId::from("m400"));
    poller.on_poll_started(Some(&token));
    poller.on_part();
    assert!(!poller.end_sync(), "the rest may have the echo of a message in doubt");
    poller.plan_messages(NOW + 9, false, true, &mut Random::new(1));
    assert_eq!(poller.messages_due_ms(None, false), Some(NOW + 9), "the next part is taken at once");
    poller.on_poll_started(Some(&last_of_part));
    assert!(!poller.has_moved(Some(&token)), "the response ends where the poll began");
    poller.on_history(false, false);
    assert!(poller.end_sync());
    poller.on_poll_started(Some(&last_of_part));
    assert!(poller.has_moved(Some(&token)), "this is another poll");
}

#[test]
fn polls_again_after_a_response_in_parts_that_began_too_early() {
    for in_flight in [true, false] {
        let mut poller = idle(presence(true, Some(60_000)));
        poller.on_poll_started(None);
        poller.on_part();
        poller.poll_until_idle(in_flight);
        poller.on_poll_started(None);
        poller.on_history(false, false);
        assert!(!poller.end_sync(), "what happened since may be missing");
    }
}
