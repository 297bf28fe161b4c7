//! The period of a report, as its address names it.

use crate::days::Day;

/// The lengths that are offered, in days.
pub(super) const LENGTHS: [i32; 4] = [7, 28, 90, 365];
/// The length without a choice.
const DEFAULT_LENGTH: i32 = 28;
/// Maximum days of a report.
const MAX_LENGTH: i32 = 366;

/// A period of whole days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    /// The first day.
    pub(super) from: Day,
    /// The last day.
    pub(super) to: Day,
    /// The length that was chosen, for a period that ends today; `None` for days of the calendar.
    pub(super) length: Option<i32>,
}

impl Period {
    /// Reads the parameters `from` and `to`, or `days`. What cannot be read is the default.
    pub(super) fn read(from: Option<&str>, to: Option<&str>, days: Option<&str>, today: Day) -> Self {
        if let (Some(from), Some(to)) = (from.and_then(Day::parse), to.and_then(Day::parse)) {
            return Self::between(from, to, today);
        }
        let length = days.and_then(|days| days.parse().ok()).filter(|days| LENGTHS.contains(days));
        Self::last(length.unwrap_or(DEFAULT_LENGTH), today)
    }

    /// Returns the period of so many days that ends today.
    pub(super) fn last(days: i32, today: Day) -> Self {
        Self { from: today.plus(1 - days), to: today, length: Some(days) }
    }

    /// Returns the period between two days in any order, neither of them in the future.
    pub(super) fn between(one: Day, other: Day, today: Day) -> Self {
        let to = one.max(other).min(today);
        let from = one.min(other).min(to).max(to.plus(1 - MAX_LENGTH));
        Self { from, to, length: None }
    }

    /// Returns the parameters of the address.
    pub(super) fn parameters(self) -> Vec<(&'static str, String)> {
        match self.length {
            Some(DEFAULT_LENGTH) => Vec::new(),
            Some(days) => vec![("days", days.to_string())],
            None => vec![("from", self.from.to_string()), ("to", self.to.to_string())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn today() -> Day {
        Day::parse("2026-11-23").expect("a day")
    }

    fn read(from: Option<&str>, to: Option<&str>, days: Option<&str>) -> (String, String) {
        let period = Period::read(from, to, days, today());
        (period.from.to_string(), period.to.to_string())
    }

    fn days(from: &str, to: &str) -> (String, String) {
        (from.to_owned(), to.to_owned())
    }

    #[test]
    fn a_report_shows_the_last_four_weeks_unless_told_otherwise() {
        assert_eq!(read(None, None, None), days("2026-10-27", "2026-11-23"));
        assert_eq!(read(None, None, Some("7")), days("2026-11-17", "2026-11-23"));
        for strange in ["", "-7", "8", "99999999999", "x"] {
            assert_eq!(read(None, None, Some(strange)), days("2026-10-27", "2026-11-23"), "{strange}");
        }
    }

    #[test]
    fn days_of_the_calendar_may_stand_in_any_order() {
        let october = days("2026-10-01", "2026-10-31");
        assert_eq!(read(Some("2026-10-01"), Some("2026-10-31"), Some("7")), october);
        assert_eq!(read(Some("2026-10-31"), Some("2026-10-01"), None), october);
        assert_eq!(read(Some("2026-10-01"), Some("soon"), None), days("2026-10-27", "2026-11-23"));
    }

    #[test]
    fn a_period_ends_today_at_the_latest_and_has_a_year_at_most() {
        assert_eq!(read(Some("2026-11-20"), Some("2027-01-01"), None), days("2026-11-20", "2026-11-23"));
        assert_eq!(read(Some("2028-01-01"), Some("2029-01-01"), None), days("2026-11-23", "2026-11-23"));
        assert_eq!(read(Some("2001-01-01"), Some("2026-11-23"), None), days("2025-11-23", "2026-11-23"));
    }

    #[test]
    fn the_address_names_what_was_chosen() {
        let names = |period: Period| period.parameters().iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert!(names(Period::last(28, today())).is_empty());
        assert_eq!(names(Period::last(7, today())), ["days"]);
        assert_eq!(names(Period::between(today(), today(), today())), ["from", "to"]);
    }
}
