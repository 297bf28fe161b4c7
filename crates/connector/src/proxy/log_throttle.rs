//! Keeps a line out of the log that was there a moment ago: what a service or a client repeats is counted.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The least time between two lines of one kind.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct LogThrottle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    suppressed: u64,
}

impl LogThrottle {
    /// Counts an occurrence. Returns the number of those since the last line, this one included, when it is time for a
    /// line, and `None` otherwise.
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
    async fn one_line_a_minute_counts_what_came_since_the_last() {
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
