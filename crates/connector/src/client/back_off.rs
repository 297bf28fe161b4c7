//! How long to wait before the next attempt: a random share of a bound that doubles, so that many clients that failed
//! together do not come back together.

use std::time::Duration;

/// The pace of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackOff {
    /// How often to try, the first time included.
    pub attempts: u32,
    /// The bound of the first wait; it doubles with each further one.
    pub initial: Duration,
    /// The bound that it grows to.
    pub max: Duration,
    /// The longest `Retry-After` that is waited for. Who is told to wait longer gets the error, which says how long.
    pub max_retry_after: Duration,
}

impl Default for BackOff {
    /// 4 attempts; waits of up to 0.5 s, 1 s and 2 s, never over 20 s; a `Retry-After` of up to a minute.
    fn default() -> Self {
        Self {
            attempts: 4,
            initial: Duration::from_millis(500),
            max: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(60),
        }
    }
}

impl BackOff {
    /// The wait after so many failed attempts, from 1; none when it is time to give up.
    pub(crate) fn wait(&self, failed: u32, retry_after: Option<Duration>) -> Option<Duration> {
        if failed >= self.attempts {
            return None;
        }
        let jittered = self.jittered(failed);
        match retry_after {
            Some(told) if told > self.max_retry_after => None,
            // Not before the time that the service named, and not all at that time.
            Some(told) => Some(told.saturating_add(jittered.min(self.initial))),
            None => Some(jittered),
        }
    }

    /// A random share of the bound after so many failures, from 1.
    pub(crate) fn jittered(&self, failed: u32) -> Duration {
        let doubled = self.initial.saturating_mul(2_u32.saturating_pow(failed.saturating_sub(1)));
        doubled.min(self.max).mul_f64(fastrand::f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wait_is_within_a_bound_that_doubles_up_to_its_most() {
        let back_off = BackOff { attempts: 100, ..BackOff::default() };
        for (failed, bound_ms) in [(1, 500), (2, 1000), (3, 2000), (6, 16_000), (7, 20_000), (60, 20_000)] {
            let longest = (0..200).filter_map(|_| back_off.wait(failed, None)).max().expect("a wait");
            let bound = Duration::from_millis(bound_ms);
            assert!(longest <= bound && longest > bound / 2, "{failed}: {longest:?} of {bound:?}");
        }
    }

    #[test]
    fn what_the_service_asks_for_is_waited_for_unless_it_is_too_long() {
        let back_off = BackOff::default();
        let wait = back_off.wait(1, Some(Duration::from_secs(7))).expect("a wait");
        assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8));
        assert_eq!(back_off.wait(1, Some(Duration::from_secs(61))), None);
        assert_eq!(back_off.wait(4, None), None);
    }

    proptest! {
        #[test]
        fn no_wait_overflows(
            failed in 0..u32::MAX,
            initial in any::<Duration>(),
            max in any::<Duration>(),
            retry_after in proptest::option::of(any::<Duration>()),
        ) {
            let back_off = BackOff { attempts: u32::MAX, initial, max, max_retry_after: Duration::MAX };
            let wait = back_off.wait(failed, retry_after).expect("a wait");
            prop_assert!(retry_after.is_none_or(|told| wait >= told));
        }
    }
}
