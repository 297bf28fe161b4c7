//! The business hours of a site, in its own time zone.
//!
//! Hours are read as moments. If the clock is set forward over their beginning or end, they begin or end at
//! that moment. If it is set back, so that a time comes twice, they begin at the first and end at the second.

use std::cmp::min;

use chat_protocol::FieldError;
use chat_protocol::admin::settings::{BusinessHours, OpenInterval};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::limits::MAX_LIST_LENGTH;

/// Minutes of a day.
const DAY: u16 = 24 * 60;
/// The days in which the next opening is looked for: a year of holidays.
const MAX_DAYS_AHEAD: usize = 366;
/// Maximum days of a wait whose hours are counted.
const MAX_DAYS_COUNTED: i32 = 60;

/// The time at which a site opens again, in its time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) at: DateTime,
    /// Days from today, by the calendar of the site; 0 for today.
    pub(crate) days_ahead: i32,
}

/// Checks hours before they are stored, and returns them in their order.
pub(super) fn checked_hours(hours: BusinessHours) -> Result<BusinessHours, FieldError> {
    let BusinessHours { time_zone, mut intervals, holidays } = hours;
    let problem = || FieldError::new("businessHours.timeZone", "must be an IANA name such as Europe/Berlin");
    let zone = TimeZone::get(time_zone.trim()).map_err(|_| problem())?;
    let time_zone = zone.iana_name().filter(|_| !zone.is_unknown()).ok_or_else(problem)?.to_owned();
    if intervals.is_empty() || intervals.len() > MAX_LIST_LENGTH {
        let problem = format!("must have 1 to {MAX_LIST_LENGTH} entries");
        return Err(FieldError::new("businessHours.intervals", problem));
    }
    if !intervals.iter().all(|OpenInterval { day, .. }| (1..=7).contains(day)) {
        let problem = "must have days from 1 for Monday to 7 for Sunday";
        return Err(FieldError::new("businessHours.intervals", problem));
    }
    if intervals.iter().any(|interval| interval.from_minute >= DAY || interval.to_minute >= DAY) {
        let problem = "must have minutes of the day from 0 to 1439";
        return Err(FieldError::new("businessHours.intervals", problem));
    }
    intervals.sort_unstable();
    intervals.dedup();
    if holidays.len() > MAX_LIST_LENGTH {
        let problem = format!("must have at most {MAX_LIST_LENGTH} entries");
        return Err(FieldError::new("businessHours.holidays", problem));
    }
    let mut holidays = holidays.iter().map(|day| checked_date(day)).collect::<Result<Vec<_>, _>>()?;
    holidays.sort_unstable();
    holidays.dedup();
    Ok(BusinessHours { time_zone, intervals, holidays })
}

/// Returns a date as it is stored: `2026-12-25`.
fn checked_date(day: &str) -> Result<String, FieldError> {
    let day = day.trim();
    // The parser also takes other ways to write a date, and whole timestamps.
    let date = day.parse::<Date>().ok().filter(|date| date.to_string() == day && date.year() > 0);
    let problem = || FieldError::new("businessHours.holidays", "must be dates such as 2026-12-25");
    date.map(|date| date.to_string()).ok_or_else(problem)
}

/// Returns whether a time lies in the hours. Without a time zone that is known, it does.
pub(super) fn is_open(hours: &BusinessHours, now_ms: i64) -> bool {
    Calendar::new(hours, now_ms).is_none_or(|calendar| calendar.is_open())
}

/// Returns when the hours begin again, unless a time lies in them.
pub(super) fn next_opening(hours: &BusinessHours, now_ms: i64) -> Option<Opening> {
    let calendar = Calendar::new(hours, now_ms)?;
    if calendar.is_open() { None } else { calendar.next_opening() }
}

/// Returns the milliseconds between two times that lie in the hours; all of them without a time zone that is
/// known, and for more than [`MAX_DAYS_COUNTED`] days.
pub(super) fn open_ms(hours: &BusinessHours, from_ms: i64, to_ms: i64) -> i64 {
    let by_clock = to_ms.saturating_sub(from_ms);
    let (Some(first), Some(last)) = (Calendar::new(hours, from_ms), Calendar::new(hours, to_ms)) else {
        return by_clock;
    };
    let days = first.today.until(last.today).map_or(i32::MAX, |days| days.get_days());
    if !(0..=MAX_DAYS_COUNTED).contains(&days) {
        return by_clock;
    }
    let Ok(yesterday) = first.today.yesterday() else { return by_clock };
    let days = yesterday.series(jiff::Span::new().days(1)).take_while(|day| *day <= last.today);
    let mut spans: Vec<(Timestamp, Timestamp)> = days.flat_map(|day| first.spans(day)).collect();
    spans.sort_unstable();
    let (mut open_ms, mut counted_to) = (0, first.now);
    for (start, end) in spans {
        let (start, end) = (start.max(counted_to), end.min(last.now));
        if start < end {
            open_ms += end.as_millisecond() - start.as_millisecond();
            counted_to = end;
        }
    }
    open_ms
}

/// Business hours at a time.
struct Calendar<'a> {
    hours: &'a BusinessHours,
    zone: TimeZone,
    now: Timestamp,
    today: Date,
}

impl<'a> Calendar<'a> {
    fn new(hours: &'a BusinessHours, now_ms: i64) -> Option<Self> {
        let zone = TimeZone::get(&hours.time_zone).ok()?;
        let now = Timestamp::from_millisecond(now_ms).ok()?;
        let today = zone.to_datetime(now).date();
        Some(Self { hours, zone, now, today })
    }

    fn is_open(&self) -> bool {
        // Hours of yesterday may end today.
        let days = [self.today.yesterday().ok(), Some(self.today)];
        let mut spans = days.into_iter().flatten().flat_map(|day| self.spans(day));
        spans.any(|(start, end)| start <= self.now && self.now < end)
    }

    fn next_opening(&self) -> Option<Opening> {
        let first = |day| self.spans(day).map(|(start, _)| start).filter(|start| *start > self.now).min();
        let start = self.today.series(jiff::Span::new().days(1)).take(MAX_DAYS_AHEAD).find_map(first)?;
        let at = self.zone.to_datetime(start);
        let days_ahead = self.today.until(at.date()).ok()?.get_days();
        Some(Opening { at, days_ahead })
    }

    /// Returns the moments at which the hours of a day begin and end.
    fn spans(&self, day: Date) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        let weekday = day.weekday().to_monday_one_offset().unsigned_abs();
        let is_closed = self.is_holiday(day);
        let intervals = self.hours.intervals.iter();
        let intervals = intervals.filter(move |interval| !is_closed && interval.day == weekday);
        intervals.filter_map(move |interval| {
            let start = self.moment(at(day, interval.from_minute), false)?;
            let end = if interval.from_minute < interval.to_minute {
                self.moment(at(day, interval.to_minute), true)?
            } else {
                self.end_on_next_day(day.tomorrow().ok()?, interval.to_minute)?
            };
            (start < end).then_some((start, end))
        })
    }

    /// Returns the end of hours that began on the day before: at midnight, if a holiday begins then.
    fn end_on_next_day(&self, day: Date, minute: u16) -> Option<Timestamp> {
        let end = self.moment(at(day, minute), true)?;
        if !self.is_holiday(day) {
            return Some(end);
        }
        Some(min(end, self.moment(at(day, 0), false)?))
    }

    fn is_holiday(&self, day: Date) -> bool {
        let day = day.to_string();
        self.hours.holidays.contains(&day)
    }

    /// Returns the moment at which the clock of the site shows a time.
    fn moment(&self, time: DateTime, is_end: bool) -> Option<Timestamp> {
        let moments = self.zone.to_ambiguous_timestamp(time);
        match moments.offset() {
            AmbiguousOffset::Unambiguous { .. } => moments.compatible().ok(),
            AmbiguousOffset::Fold { .. } if is_end => moments.later().ok(),
            AmbiguousOffset::Fold { .. } => moments.earlier().ok(),
            AmbiguousOffset::Gap { .. } => {
                let before = moments.earlier().ok()?;
                self.zone.following(before).next().map(|transition| transition.timestamp())
            }
        }
    }
}

/// Returns a minute of a day.
fn at(day: Date, minute: u16) -> DateTime {
    let of_day = |number: u16| i8::try_from(number).unwrap_or_default();
    day.at(of_day(minute / 60 % 24), of_day(minute % 60), 0, 0)
}

#[cfg(test)]
mod business_hours_tests;
