//! The intervals of polls: the service's hints within bounds, longer while nothing happens.

use chat_protocol::Presence;

use crate::random::Random;

/// Bounds of the service's hints. Milliseconds.
const MESSAGES_BOUNDS_MS: (u64, u64) = (1_000, 60_000);
const PRESENCE_BOUNDS_MS: (u64, u64) = (3_000, 300_000);
/// Intervals without a hint. Milliseconds.
const DEFAULT_MESSAGES_MS: u64 = 5_000;
const DEFAULT_PRESENCE_MS: u64 = 20_000;
/// Interval of polls for messages while a reply or the rest of a history is awaited, and after a failed
/// attempt. Also the minimum pause after a failed poll. Milliseconds.
const AWAITED_INTERVAL_MS: u64 = 2_000;
/// Interval lengths double after each of these times without activity. Milliseconds.
const QUIET_STEPS_MS: [u64; 3] = [60_000, 5 * 60_000, 20 * 60_000];
/// Factor of the intervals while the window is closed: messages are only counted.
const CLOSED_FACTOR: u64 = 2;
/// Maximum interval: a person may write at any time. Milliseconds.
const MAX_INTERVAL_MS: u64 = 300_000;

fn bounded(hint_ms: Option<i64>, default_ms: u64, (min, max): (u64, u64)) -> u64 {
    hint_ms.map_or(default_ms, |hint| u64::try_from(hint).unwrap_or(0)).clamp(min, max)
}

/// The times of the next polls.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The time of the last activity: a message in either direction, an opened window, a visible tab.
    active_ms: u64,
    next_messages_ms: u64,
    next_presence_ms: u64,
    /// Failed polls in a row.
    failures: u64,
}

impl Pace {
    /// Polls at once.
    pub(super) fn poll_now(&mut self, now_ms: u64) {
        self.active_ms = now_ms;
        self.next_messages_ms = now_ms;
        self.next_presence_ms = self.next_presence_ms.min(now_ms);
    }

    /// Records activity: the intervals are short again.
    pub(super) fn record_activity(&mut self, now_ms: u64) {
        self.active_ms = now_ms;
    }

    pub(super) fn next_messages_ms(&self) -> u64 {
        self.next_messages_ms
    }

    pub(super) fn next_presence_ms(&self) -> u64 {
        self.next_presence_ms
    }

    pub(super) fn poll_messages_now(&mut self, now_ms: u64) {
        self.next_messages_ms = now_ms;
    }

    pub(super) fn poll_presence_now(&mut self, now_ms: u64) {
        self.next_presence_ms = now_ms;
    }

    pub(super) fn reset_failures(&mut self) {
        self.failures = 0;
    }

    /// Counts a failed poll. Returns the number of failures in a row.
    pub(super) fn count_failure(&mut self) -> u64 {
        self.failures += 1;
        self.failures
    }

    /// Plans the next poll for messages again, with a changed hint. A back-off is not shortened.
    pub(super) fn replan_messages(
        &mut self,
        now_ms: u64,
        hints: Option<&Presence>,
        open: bool,
        random: &mut Random,
    ) {
        let held_ms = if self.failures > 0 { self.next_messages_ms } else { 0 };
        self.plan_messages(now_ms, hints, open, random);
        self.next_messages_ms = self.next_messages_ms.max(held_ms);
    }

    /// Plans the next poll for messages by the hint.
    pub(super) fn plan_messages(
        &mut self,
        now_ms: u64,
        hints: Option<&Presence>,
        open: bool,
        random: &mut Random,
    ) {
        let hint = hints.and_then(|presence| presence.message_interval_ms);
        let every = bounded(hint, DEFAULT_MESSAGES_MS, MESSAGES_BOUNDS_MS);
        self.next_messages_ms = now_ms + random.jitter(self.slowed(every, now_ms, open));
    }

    /// Plans the next poll of presence by the hint.
    pub(super) fn plan_presence(
        &mut self,
        now_ms: u64,
        hints: Option<&Presence>,
        open: bool,
        random: &mut Random,
    ) {
        let hint = hints.and_then(|presence| presence.presence_interval_ms);
        let every = bounded(hint, DEFAULT_PRESENCE_MS, PRESENCE_BOUNDS_MS);
        self.next_presence_ms = now_ms + random.jitter(self.slowed(every, now_ms, open));
    }

    /// Polls messages after the interval for what is awaited, if not before.
    pub(super) fn poll_soon(&mut self, now_ms: u64, random: &mut Random) {
        self.next_messages_ms = self.next_messages_ms.min(now_ms + random.jitter(AWAITED_INTERVAL_MS));
    }

    /// Polls messages after the interval for what is awaited.
    pub(super) fn poll_later(&mut self, now_ms: u64, random: &mut Random) {
        self.next_messages_ms = now_ms + random.jitter(AWAITED_INTERVAL_MS);
    }

    /// Polls nothing during `wait_ms`, and at least during the interval for what is awaited.
    pub(super) fn hold(&mut self, now_ms: u64, wait_ms: u64, random: &mut Random) {
        let until_ms = now_ms + wait_ms.max(random.jitter(AWAITED_INTERVAL_MS));
        self.next_messages_ms = self.next_messages_ms.max(until_ms);
        self.next_presence_ms = self.next_presence_ms.max(until_ms);
    }

    fn slowed(&self, every_ms: u64, now_ms: u64, open: bool) -> u64 {
        let quiet_ms = now_ms.saturating_sub(self.active_ms);
        let doublings = QUIET_STEPS_MS.iter().filter(|step| quiet_ms > **step).count();
        let slowed = (every_ms << doublings) * if open { 1 } else { CLOSED_FACTOR };
        slowed.min(MAX_INTERVAL_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(hint: Option<i64>, quiet_ms: u64, open: bool) -> u64 {
        let mut pace = Pace::default();
        let now = 10_000_000;
        pace.record_activity(now - quiet_ms);
        let presence = Presence { message_interval_ms: hint, ..Presence::default() };
        pace.plan_messages(now, Some(&presence), open, &mut Random::new(5));
        pace.next_messages_ms - now
    }

    #[test]
    fn hints_are_obeyed_within_sane_bounds() {
        assert!((1600..=2400).contains(&wait(Some(2000), 0, true)));
        for absurd in [0, -1, i64::MIN, 1] {
            assert!((800..=1200).contains(&wait(Some(absurd), 0, true)), "{absurd} becomes a second");
        }
        assert!((48_000..=72_000).contains(&wait(Some(i64::MAX), 0, true)));
        assert!((4000..=6000).contains(&wait(None, 0, true)));
    }

    #[test]
    fn polls_awaited_messages_every_two_seconds() {
        let mut pace = Pace { next_messages_ms: 90_000, ..Pace::default() };
        pace.poll_soon(50_000, &mut Random::new(1));
        assert!((51_600..=52_400).contains(&pace.next_messages_ms));
        pace.next_messages_ms = 50_100;
        pace.poll_soon(50_000, &mut Random::new(1));
        assert_eq!(pace.next_messages_ms, 50_100);
        pace.poll_later(50_000, &mut Random::new(1));
        assert!((51_600..=52_400).contains(&pace.next_messages_ms));
    }

    #[test]
    fn waits_at_least_two_seconds_after_a_failed_poll() {
        let mut pace = Pace::default();
        pace.hold(50_000, 0, &mut Random::new(1));
        assert!((51_600..=52_400).contains(&pace.next_messages_ms));
        pace.hold(50_000, 20_000, &mut Random::new(1));
        assert_eq!((pace.next_messages_ms, pace.next_presence_ms), (70_000, 70_000));
        pace.poll_now(60_000);
        assert_eq!((pace.next_messages_ms, pace.next_presence_ms), (60_000, 60_000));
    }

    #[test]
    fn each_quiet_step_doubles_the_interval() {
        for (over_ms, most) in [(60_000, 6_000), (300_000, 12_000), (1_200_000, 24_000)] {
            for (quiet_ms, most) in [(over_ms, most), (over_ms + 1, 2 * most)] {
                let waited = wait(None, quiet_ms, true);
                assert!(waited <= most && waited >= most * 2 / 3, "{quiet_ms}: {waited}");
            }
        }
    }

    #[test]
    fn the_interval_grows_while_nothing_happens_or_the_window_is_closed() {
        assert!(wait(None, 2 * 60_000, true) >= 8000);
        assert!(wait(None, 60 * 60_000, true) >= 32_000);
        assert!(wait(None, 0, false) >= 8000);
    }

    #[test]
    fn the_interval_is_at_most_five_minutes() {
        assert!((240_000..=360_000).contains(&wait(Some(i64::MAX), 60 * 60_000, false)));
    }
}
