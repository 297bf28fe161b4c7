//! Exponential back-off with full jitter, so that clients that failed together do not retry together.

use std::time::Duration;

/// The delays between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackOff {
    /// Maximum attempts, including the first.
    pub attempts: u32,
    /// The upper bound of the first delay; it doubles with each attempt.
    pub initial: Duration,
    /// Maximum upper bound of a delay.
    pub max: Duration,
    /// Maximum `Retry-After` to wait for. With a longer one the call fails, and the error says how long to
    /// wait.
    pub max_retry_after: Duration,
}

impl Default for BackOff {
    /// 4 attempts; delays of up to 0.5 s, 1 s and 2 s, never more than 20 s; a `Retry-After` of up to 60 s.
    fn default() -> Self {
        Self {
            attempts: 4,
            initial: Duration::from_millis(500),
            max: Duration::from_secs(20),
            max_retry_after: Duration::from_mins(1),
        }
    }
}

impl BackOff {
    /// Returns the delay after a number of failed attempts, from 1; `None` when the call has failed for good.
    pub(crate) fn wait(&self, failed: u32, retry_after: Option<Duration>) -> Option<Duration> {
        if failed >= self.attempts {
            return None;
        }
        let jittered = self.jittered(failed);
        match retry_after {
            Some(requested) if requested > self.max_retry_after => None,
            // Not before the requested time, and not all clients at that time.
            Some(requested) => Some(requested.saturating_add(jittered.min(self.initial))),
            None => Some(jittered),
        }
    }

    /// Returns a random share of the upper bound after a number of failed attempts, from 1.
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
    fn delays_double_up_to_the_maximum() {
        let back_off = BackOff { attempts: 100, ..BackOff::default() };
        for (failed, bound_ms) in [(1, 500), (2, 1000), (3, 2000), (6, 16_000), (7, 20_000), (60, 20_000)] {
            let longest = (0..200).filter_map(|_| back_off.wait(failed, None)).max().expect("a wait");
            let bound = Duration::from_millis(bound_ms);
            assert!(longest <= bound && longest > bound / 2, "{failed}: {longest:?} of {bound:?}");
        }
    }

    #[test]
    fn waits_for_retry_after_up_to_the_maximum() {
        let back_off = BackOff::default();
        let wait = back_off.wait(1, Some(Duration::from_secs(7))).expect("a wait");
        assert!(wait >= Duration::from_secs(7) && wait < Duration::from_secs(8));
        assert_eq!(back_off.wait(1, Some(Duration::from_secs(61))), None);
        assert_eq!(back_off.wait(4, None), None);
    }

    proptest! {
        #[test]
        fn delays_never_overflow(
            failed in 0..u32::MAX,
            initial in any::<Duration>(),
            max in any::<Duration>(),
            retry_after in proptest::option::of(any::<Duration>()),
        ) {
            let back_off = BackOff { attempts: u32::MAX, initial, max, max_retry_after: Duration::MAX };
            let wait = back_off.wait(failed, retry_after).expect("a wait");
            prop_assert!(retry_after.is_none_or(|requested| wait >= requested));
        }
    }
}
