//! The clock for stored times.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// The wall clock, shifted by the amount that a test has advanced tokio's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: std::time::Instant,
    started_for_tokio: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { started: std::time::Instant::now(), started_for_tokio: Instant::now() }
    }

    /// Returns the time in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        // Outside of tests both clocks have run for the same time, so the shift is zero.
        let shift = self.started_for_tokio.elapsed().saturating_sub(self.started.elapsed());
        Timestamp::now().as_millisecond().saturating_add(millis(shift))
    }
}

/// Formats a time in milliseconds since 1970 as ISO 8601.
pub(crate) fn iso(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map(|time| format!("{time:.3}")).unwrap_or_default()
}

pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
