//! When to ask the service for presence and messages.

use chat_protocol::Presence;

use crate::random::Random;

/// A hint outside of these is pulled to the nearer bound. Milliseconds.
const MESSAGES_MS: (u64, u64) = (1_000, 60_000);
const PRESENCE_MS: (u64, u64) = (3_000, 300_000);
/// Without a hint.
const DEFAULT_MESSAGES_MS: u64 = 5_000;
const DEFAULT_PRESENCE_MS: u64 = 20_000;
/// While something is awaited, messages are read so often, whatever the service suggests.
const AWAITED_MS: u64 = 2_000;
/// While nothing happens, the wait doubles after each of these.
const QUIET_MS: [u64; 3] = [60_000, 5 * 60_000, 20 * 60_000];
/// A closed window is not looked at: what comes is only counted.
const CLOSED_FACTOR: u64 = 2;
/// However quiet it is: a person may write. Milliseconds.
const MOST_MS: u64 = 300_000;

fn bounded(hint_ms: Option<i64>, default_ms: u64, (least, most): (u64, u64)) -> u64 {
    hint_ms.map_or(default_ms, |hint| u64::try_from(hint).unwrap_or(0)).clamp(least, most)
}

/// The times of the next presence and message reads.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// When something last happened: a message either way, the window opened, the tab came back.
    active_ms: u64,
    pub(crate) next_messages_ms: u64,
    pub(crate) next_presence_ms: u64,
    pub(crate) failures: u64,
}

impl Pace {
    /// Something happened: what follows is asked for quickly, and messages at once.
    pub(crate) fn poll_now(&mut self, now_ms: u64) {
        self.active_ms = now_ms;
        self.next_messages_ms = now_ms;
        self.next_presence_ms = self.next_presence_ms.min(now_ms);
    }

    /// Something happened, but there is nothing to ask for at once.
    pub(crate) fn touch(&mut self, now_ms: u64) {
        self.active_ms = now_ms;
    }

    pub(crate) fn messages_read(
        &mut self,
        now_ms: u64,
        hints: Option<&Presence>,
        open: bool,
        random: &mut Random,
    ) {
        let hint = hints.and_then(|presence| presence.message_interval_ms);
        let every = bounded(hint, DEFAULT_MESSAGES_MS, MESSAGES_MS);
        self.next_messages_ms = now_ms + random.jitter(self.slowed(every, now_ms, open));
    }

    pub(crate) fn presence_read(
        &mut self,
        now_ms: u64,
        hints: Option<&Presence>,
        open: bool,
        random: &mut Random,
    ) {
        let hint = hints.and_then(|presence| presence.presence_interval_ms);
        let every = bounded(hint, DEFAULT_PRESENCE_MS, PRESENCE_MS);
        self.next_presence_ms = now_ms + random.jitter(self.slowed(every, now_ms, open));
    }

    /// Something is awaited: messages are read after the usual pause, if not before.
    pub(crate) fn read_soon(&mut self, now_ms: u64, random: &mut Random) {
        self.next_messages_ms = self.next_messages_ms.min(now_ms + random.jitter(AWAITED_MS));
    }

    /// Something is still awaited: messages are read after the usual pause.
    pub(crate) fn read_later(&mut self, now_ms: u64, random: &mut Random) {
        self.next_messages_ms = now_ms + random.jitter(AWAITED_MS);
    }

    /// A read failed: nothing is asked for during `wait_ms`, and not at once in any case.
    pub(crate) fn hold(&mut self, now_ms: u64, wait_ms: u64, random: &mut Random) {
        let until_ms = now_ms + wait_ms.max(random.jitter(AWAITED_MS));
        self.next_messages_ms = self.next_messages_ms.max(until_ms);
        self.next_presence_ms = self.next_presence_ms.max(until_ms);
    }

    fn slowed(&self, every_ms: u64, now_ms: u64, open: bool) -> u64 {
        let quiet_ms = now_ms.saturating_sub(self.active_ms);
        let doublings = QUIET_MS.iter().filter(|step| quiet_ms > **step).count();
        let slowed = (every_ms << doublings) * if open { 1 } else { CLOSED_FACTOR };
        slowed.min(MOST_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(hint: Option<i64>, quiet_ms: u64, open: bool) -> u64 {
        let mut pace = Pace::default();
        let now = 10_000_000;
        pace.touch(now - quiet_ms);
        let presence = Presence { message_interval_ms: hint, ..Presence::default() };
        pace.messages_read(now, Some(&presence), open, &mut Random::new(5));
        pace.next_messages_ms - now
    }

    #[test]
    fn hints_are_obeyed_within_sane_bounds() {
        assert!((1600..=2400).contains(&wait(Some(2000), 0, true)));
        for absurd in [0, -1, i64::MIN, 1] {
            assert!((800..=1200).contains(&wait(Some(absurd), 0, true)), "{absurd} is pulled up to a second");
        }
        assert!((48_000..=72_000).contains(&wait(Some(i64::MAX), 0, true)));
        assert!((4000..=6000).contains(&wait(None, 0, true)));
    }

    #[test]
    fn what_is_awaited_is_read_every_two_seconds_and_not_later_than_it_was_due() {
        let mut pace = Pace { next_messages_ms: 90_000, ..Pace::default() };
        pace.read_soon(50_000, &mut Random::new(1));
        assert!((51_600..=52_400).contains(&pace.next_messages_ms));
        pace.next_messages_ms = 50_100;
        pace.read_soon(50_000, &mut Random::new(1));
        assert_eq!(pace.next_messages_ms, 50_100);
        pace.read_later(50_000, &mut Random::new(1));
        assert!((51_600..=52_400).contains(&pace.next_messages_ms));
    }

    #[test]
    fn after_a_failure_nothing_is_read_for_two_seconds_or_as_long_as_it_takes() {
        let mut pace = Pace::default();
        pace.hold(50_000, 0, &mut Random::new(1));
        assert!((51_600..=52_400).contains(&pace.next_messages_ms));
        pace.hold(50_000, 20_000, &mut Random::new(1));
        assert_eq!((pace.next_messages_ms, pace.next_presence_ms), (70_000, 70_000));
        pace.poll_now(60_000);
        assert_eq!((pace.next_messages_ms, pace.next_presence_ms), (60_000, 60_000));
    }

    #[test]
    fn each_step_of_quiet_doubles_the_wait_when_it_is_over() {
        for (over_ms, most) in [(60_000, 6_000), (300_000, 12_000), (1_200_000, 24_000)] {
            for (quiet_ms, most) in [(over_ms, most), (over_ms + 1, 2 * most)] {
                let waited = wait(None, quiet_ms, true);
                assert!(waited <= most && waited >= most * 2 / 3, "{quiet_ms}: {waited}");
            }
        }
    }

    #[test]
    fn the_longer_nothing_happens_the_longer_is_waited() {
        assert!(wait(None, 2 * 60_000, true) >= 8000);
        assert!(wait(None, 60 * 60_000, true) >= 32_000);
        assert!(wait(None, 0, false) >= 8000);
    }

    #[test]
    fn a_person_who_writes_is_read_within_five_minutes_however_quiet_it_was() {
        assert!((240_000..=360_000).contains(&wait(Some(i64::MAX), 60 * 60_000, false)));
    }
}
