//! Days of the calendar without a time: the periods of reports, and the days of a history.

use std::fmt;

/// A day of the Gregorian calendar: the number of days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

impl Day {
    /// Returns a day; `None` if the calendar has none.
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        if !(1..=12).contains(&month) || day == 0 || !(1..=9999).contains(&year) {
            return None;
        }
        let day = Self::count(year, month, day);
        (day.parts().1 == month).then_some(day)
    }

    /// Reads a day such as `2026-11-01`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let is_plain = [year, month, day].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        let has_lengths = (year.len(), month.len(), day.len()) == (4, 2, 2) && parts.next().is_none();
        if !is_plain || !has_lengths {
            return None;
        }
        Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }

    /// Returns the day so many days later.
    #[must_use]
    pub fn plus(self, days: i32) -> Self {
        Self(self.0.saturating_add(days))
    }

    /// Returns the year, the month and the day of the month.
    pub fn parts(self) -> (i32, u32, u32) {
        // Howard Hinnant's `civil_from_days`: years begin in March, eras have 400 years.
        let shifted = i64::from(self.0) + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        (i32::try_from(year).unwrap_or(i32::MAX), small(month), small(day))
    }

    fn count(year: i32, month: u32, day: u32) -> Self {
        let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
        let year = if month <= 2 { year - 1 } else { year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        Self(i32::try_from(days).unwrap_or(i32::MAX))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(formatter, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_through_four_centuries() {
        let mut day = Day::parse("1800-01-01").expect("a day");
        while day.parts().0 < 2201 {
            assert_eq!(Day::parse(&day.to_string()), Some(day), "{day}");
            day = day.plus(1);
        }
    }

    #[test]
    fn knows_leap_years() {
        assert_eq!(Day::parse("1970-01-01"), Some(Day(0)));
        assert_eq!(Day::parse("2024-02-28").expect("a day").plus(1).to_string(), "2024-02-29");
        assert_eq!(Day::parse("2100-02-28").expect("a day").plus(1).to_string(), "2100-03-01");
    }

    #[test]
    fn refuses_days_that_no_calendar_has() {
        for text in ["", "2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "+026-01-01", "2026-01-01-1"] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }
}
