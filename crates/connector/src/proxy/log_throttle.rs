//! Limits how often a repeated event is logged, and counts the suppressed occurrences.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Minimum time between two log lines of the same kind.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
pub(super) struct LogThrottle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    suppressed: u64,
}

impl LogThrottle {
    /// Counts an occurrence. Returns the number of occurrences since the last line, including this one, if a
    /// line is due.
    pub(super) fn occurrences(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.suppressed += 1;
        if state.last.is_some_and(|last| last.elapsed() < LOG_INTERVAL) {
            return None;
        }
        state.last = Some(Instant::now());
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn logs_one_line_a_minute_with_the_number_of_occurrences() {
        let throttle = LogThrottle::default();
        assert_eq!(throttle.occurrences(), Some(1));
        for _ in 0..1000 {
            assert_eq!(throttle.occurrences(), None);
        }
        tokio::time::advance(LOG_INTERVAL).await;
        assert_eq!(throttle.occurrences(), Some(1001));
        assert_eq!(throttle.occurrences(), None);
    }
}
