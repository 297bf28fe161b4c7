//! The clock for stored times.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use tokio::time::Instant;

/// The length of a month such as 2026-11.
const MONTH_LENGTH: usize = 7;

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

/// Returns the time that the header `Retry-After` asks to wait, in seconds or until a date.
pub(crate) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(date.duration_since(now).try_into().unwrap_or_default())
}

/// Formats a time in milliseconds since 1970 as ISO 8601.
pub(crate) fn iso(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map(|time| format!("{time:.3}")).unwrap_or_default()
}

/// Returns the month (UTC) of a time in milliseconds since 1970, such as 2026-11.
pub(crate) fn month(milliseconds: i64) -> String {
    iso(milliseconds).chars().take(MONTH_LENGTH).collect()
}

/// Returns the end of the month (UTC) of a time, both in milliseconds since 1970.
pub(crate) fn month_ends_ms(milliseconds: i64) -> i64 {
    let end = Timestamp::from_millisecond(milliseconds)
        .and_then(|time| time.to_zoned(TimeZone::UTC).date().last_of_month().tomorrow())
        .and_then(|first| first.to_zoned(TimeZone::UTC));
    end.map_or(milliseconds, |end| end.timestamp().as_millisecond())
}

pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_ends_at_midnight_in_utc() {
        // 2027-01-15T08:00:00Z, 2026-12-31T23:59:59.999Z and the first moment of 2027.
        for (time_ms, month_name, ends_ms) in [
            (1_800_000_000_000, "2027-01", 1_801_440_000_000),
            (1_798_761_599_999, "2026-12", 1_798_761_600_000),
            (1_798_761_600_000, "2027-01", 1_801_440_000_000),
        ] {
            assert_eq!((month(time_ms).as_str(), month_ends_ms(time_ms)), (month_name, ends_ms));
        }
    }
}
