//! The times of polls for presence and messages, and how their responses are applied.
//!
//! The pace follows the service's hints. Messages are also polled while something is awaited: a reply, the
//! fate of an attempt, or the rest of a history.

mod pace;

use chat_protocol::Presence;

use crate::back_off::{MAX_RETRY_AFTER_MS, wait_ms};
use crate::random::Random;
use crate::timeline::Sync;
use pace::Pace;

/// Maximum time to poll for a reply that did not come with the response. Milliseconds.
const REPLY_TIMEOUT_MS: u64 = 30_000;

/// The state of polling.
#[derive(Debug)]
pub(crate) struct Poller {
    pace: Pace,
    /// The last response of the presence endpoint. Its hints set the intervals.
    presence: Option<Presence>,
    /// The end of a `Retry-After`.
    hold_until_ms: u64,
    /// The reply to the last message is awaited until this time.
    reply_due_ms: Option<u64>,
    sync: Sync,
    /// Messages are polled at once until a poll brings nothing new.
    until_idle: bool,
    /// The poll in flight began before an event whose effect it may not show.
    is_stale: bool,
    /// The last poll brought messages: there may be more after them.
    has_more: bool,
}

impl Poller {
    /// Returns a poller that polls everything at once.
    pub(crate) fn new(now_ms: u64) -> Self {
        let mut pace = Pace::default();
        pace.poll_now(now_ms);
        Self {
            pace,
            presence: None,
            hold_until_ms: 0,
            reply_due_ms: None,
            sync: Sync::Live,
            until_idle: true,
            is_stale: false,
            has_more: false,
        }
    }

    /// Bounds all waits: values from storage and other tabs are untrusted, and a clock may be set back.
    pub(crate) fn limit_waits(&mut self, now_ms: u64) {
        self.hold_until_ms = self.hold_until_ms.min(now_ms + MAX_RETRY_AFTER_MS);
        self.reply_due_ms = self.reply_due_ms.map(|due| due.min(now_ms + REPLY_TIMEOUT_MS));
    }

    /// Returns the end of the last `Retry-After`, which may be in the past.
    pub(crate) fn hold_until_ms(&self) -> u64 {
        self.hold_until_ms
    }

    /// Holds all requests during a `Retry-After`, within bounds.
    pub(crate) fn hold(&mut self, now_ms: u64, retry_after_ms: u64) {
        self.apply_remote_hold(now_ms + retry_after_ms.min(MAX_RETRY_AFTER_MS));
    }

    /// Applies the `Retry-After` of another tab.
    pub(crate) fn apply_remote_hold(&mut self, until_ms: u64) {
        self.hold_until_ms = self.hold_until_ms.max(until_ms);
    }

    /// Returns the time until which a reply is awaited.
    pub(crate) fn reply_due_ms(&self) -> Option<u64> {
        self.reply_due_ms
    }

    /// Awaits the reply to a message that was just delivered.
    pub(crate) fn expect_reply(&mut self, now_ms: u64) {
        self.reply_due_ms = Some(now_ms + REPLY_TIMEOUT_MS);
    }

    /// Ends the wait for a reply. Returns whether there was one.
    pub(crate) fn end_reply_wait(&mut self) -> bool {
        self.reply_due_ms.take().is_some()
    }

    /// Applies another tab's wait for a reply.
    pub(crate) fn apply_remote_reply_wait(&mut self, due_ms: Option<u64>) {
        self.reply_due_ms = due_ms;
    }

    /// Returns how the next history is merged.
    pub(crate) fn sync(&self) -> Sync {
        self.sync
    }

    /// Polls the whole history of a conversation of which only the id is stored. Nothing in it is new.
    pub(crate) fn backfill(&mut self) {
        self.sync = Sync::Backfill;
    }

    /// Polls the conversation from its beginning once more.
    pub(crate) fn resync(&mut self) {
        if self.sync == Sync::Live {
            self.sync = Sync::Resync;
        }
    }

    /// Starts a conversation with the response to a message: there is no history to poll.
    pub(crate) fn begin_conversation(&mut self) {
        self.sync = Sync::Live;
        self.until_idle = false;
    }

    /// Resets the poller: the conversation is gone, or belongs to another visitor.
    pub(crate) fn end_conversation(&mut self) {
        self.presence = None;
        self.reply_due_ms = None;
    }

    /// Polls at once: the service may have something new. `in_flight` is whether a poll for messages is in
    /// flight, which began too early to show it.
    pub(crate) fn poll_now(&mut self, now_ms: u64, in_flight: bool) {
        self.pace.poll_now(now_ms);
        self.poll_until_idle(in_flight);
    }

    /// Polls messages until a poll brings nothing new, whatever the hints are.
    pub(crate) fn poll_until_idle(&mut self, in_flight: bool) {
        self.until_idle = true;
        self.is_stale = in_flight;
    }

    /// Polls messages after the usual pause, if not before: an attempt may have arrived.
    pub(crate) fn poll_soon(&mut self, now_ms: u64, random: &mut Random) {
        self.pace.poll_soon(now_ms, random);
    }

    /// Polls presence at once: an operator has just written.
    pub(crate) fn poll_presence_now(&mut self, now_ms: u64) {
        self.pace.poll_presence_now(now_ms);
    }

    /// Records activity: the intervals are short again.
    pub(crate) fn record_activity(&mut self, now_ms: u64) {
        self.pace.record_activity(now_ms);
    }

    /// Returns when presence is polled next.
    pub(crate) fn presence_due_ms(&self) -> u64 {
        self.pace.next_presence_ms().max(self.hold_until_ms)
    }

    /// Returns when messages are polled next, but for a message in flight that is looked for at `confirm_ms`.
    /// The service may say that there is nothing to poll. Awaited messages are polled nevertheless.
    pub(crate) fn messages_due_ms(&self, confirm_ms: Option<u64>, is_awaited: bool) -> Option<u64> {
        let hints = self.presence.as_ref();
        let is_wanted = self.until_idle
            || self.has_more
            || is_awaited
            || hints.is_none_or(|presence| presence.should_poll_messages);
        let due_ms = confirm_ms.unwrap_or(u64::MAX).min(self.pace.next_messages_ms());
        is_wanted.then(|| due_ms.max(self.hold_until_ms))
    }

    /// Records the start of a poll for messages.
    pub(crate) fn on_poll_started(&mut self) {
        self.is_stale = false;
    }

    /// Records a merged history. `is_new` is whether it had new messages, `has_more` whether there may be
    /// more after it.
    pub(crate) fn on_history(&mut self, is_new: bool, has_more: bool) {
        self.pace.reset_failures();
        self.has_more = has_more;
        self.until_idle &= is_new || std::mem::take(&mut self.is_stale);
    }

    /// Ends the synchronisation. Returns whether the whole history was merged: later messages are new.
    pub(crate) fn end_sync(&mut self) -> bool {
        if !self.until_idle {
            self.sync = Sync::Live;
        }
        !self.until_idle
    }

    /// Plans the next poll for messages.
    pub(crate) fn plan_messages(&mut self, now_ms: u64, is_awaited: bool, open: bool, random: &mut Random) {
        if self.until_idle {
            self.pace.poll_messages_now(now_ms);
        } else if is_awaited || self.has_more {
            self.pace.poll_later(now_ms, random);
        } else {
            self.pace.plan_messages(now_ms, self.presence.as_ref(), open, random);
        }
    }

    /// Applies the response of the presence endpoint.
    pub(crate) fn on_presence(
        &mut self,
        now_ms: u64,
        presence: Presence,
        is_awaited: bool,
        open: bool,
        random: &mut Random,
    ) {
        self.pace.plan_presence(now_ms, Some(&presence), open, random);
        let hint = presence.message_interval_ms;
        let is_other_hint = self.presence.as_ref().is_none_or(|before| before.message_interval_ms != hint);
        self.presence = Some(presence);
        // Polls for awaited messages have their own interval.
        if is_other_hint && !is_awaited && !self.until_idle {
            self.pace.replan_messages(now_ms, self.presence.as_ref(), open, random);
        }
    }

    /// Plans the next poll after a failed one, with back-off.
    pub(crate) fn on_error(&mut self, now_ms: u64, retry_after_ms: Option<u64>, random: &mut Random) {
        let failures = self.pace.count_failure();
        let wait_ms = wait_ms(failures + 2, retry_after_ms, random);
        self.pace.hold(now_ms, wait_ms, random);
    }
}

#[cfg(test)]
mod tests {
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
        poller.on_poll_started();
        poller.on_history(false, false);
        assert!(poller.end_sync());
        poller.poll_until_idle(true);
        poller.on_poll_started();
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
        assert!(
            poller.messages_due_ms(None, false).is_some(),
            "no hint says that there is nothing to poll for"
        );
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
}
