//! Hours in which an operator wants to be left alone.

use chat_protocol::admin::QuietHours;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::error::ApiError;

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// Returns the time zone with an IANA name.
pub(crate) fn time_zone(name: &str) -> Result<TimeZone, ApiError> {
    TimeZone::get(name).map_err(|_| {
        let problem = "invalid timeZone: expected an IANA name, such as Europe/Berlin.";
        ApiError::InvalidRequest(problem.to_owned())
    })
}

/// Checks hours before they are stored.
pub(crate) fn check(hours: &QuietHours) -> Result<(), ApiError> {
    let invalid = |problem: &str| Err(ApiError::InvalidRequest(problem.to_owned()));
    if hours.from_minute >= DAY || hours.to_minute >= DAY {
        return invalid("fromMinute and toMinute must be 0 to 1439.");
    }
    if hours.days.len() > 7 || hours.days.iter().any(|day| !(1..=7).contains(day)) {
        return invalid("days must be 1 for Monday to 7 for Sunday, each once.");
    }
    time_zone(&hours.time_zone).map(drop)
}

/// Returns whether a time lies in the hours.
pub(crate) fn contain(hours: &QuietHours, now_ms: i64) -> bool {
    let (Ok(zone), Ok(now)) = (TimeZone::get(&hours.time_zone), Timestamp::from_millisecond(now_ms)) else {
        return false;
    };
    let now = Zoned::new(now, zone);
    let day = now.weekday().to_monday_one_offset().unsigned_abs();
    let minute = u16::from(now.hour().unsigned_abs()) * 60 + u16::from(now.minute().unsigned_abs());
    hours.contains(day, minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a time in November 2026, whose 23rd is a Monday. Berlin is an hour ahead of UTC then.
    fn at(day: u8, hour: u8) -> i64 {
        let time: Timestamp = format!("2026-11-{day}T{hour:02}:00:00Z").parse().expect("a time");
        time.as_millisecond()
    }

    fn hours(from: u16, to: u16, days: &[u8]) -> QuietHours {
        let time_zone = "Europe/Berlin".to_owned();
        QuietHours { from_minute: from * 60, to_minute: to * 60, days: days.to_vec(), time_zone }
    }

    #[test]
    fn a_night_belongs_to_the_day_on_which_it_begins() {
        let night = hours(22, 7, &[1]);
        assert!(!contain(&night, at(23, 20)));
        assert!(contain(&night, at(23, 21)) && contain(&night, at(23, 23)));
        assert!(contain(&night, at(24, 5)) && !contain(&night, at(24, 6)));
        assert!(!contain(&night, at(24, 21)));
    }

    #[test]
    fn hours_of_one_day_end_on_it() {
        let noon = hours(12, 14, &[1, 7]);
        assert!(contain(&noon, at(22, 11)) && contain(&noon, at(23, 12)) && !contain(&noon, at(23, 13)));
        assert!(!contain(&noon, at(24, 12)));
    }

    #[test]
    fn refuses_times_days_and_zones_that_do_not_exist() {
        assert!(check(&hours(22, 7, &[1, 7])).is_ok());
        assert!(check(&hours(24, 7, &[1])).is_err() && check(&hours(1, 7, &[0])).is_err());
        let zone = QuietHours { time_zone: "Mars/Olympus".to_owned(), ..hours(1, 2, &[1]) };
        assert!(check(&zone).is_err() && !contain(&zone, at(23, 1)));
    }
}
