//! The times at which a conversation can come back.

use crate::text::{Text, conversation};

/// The hour at which a working day begins.
const MORNING: u32 = 9;
const HOUR_MS: f64 = 3_600_000.0;

/// A moment in the operator's time zone.
pub struct Moment {
    /// Milliseconds since 1970.
    pub time_ms: f64,
    /// 0 for Sunday to 6 for Saturday.
    pub weekday: u32,
    /// The hour of the day.
    pub hour: u32,
    /// Returns the time of an hour, a number of days later.
    pub at: fn(days: u32, hour: u32) -> f64,
}

impl Moment {
    /// Returns this moment.
    pub fn now() -> Self {
        let now = js_sys::Date::new_0();
        Self { time_ms: now.get_time(), weekday: now.get_day(), hour: now.get_hours(), at: later }
    }
}

/// Returns the time of an hour, a number of days after today, also across a change of the clocks.
fn later(days: u32, hour: u32) -> f64 {
    let date = js_sys::Date::new_0();
    date.set_date(date.get_date() + days);
    date.set_hours(hour);
    date.set_minutes(0);
    date.set_seconds(0);
    date.set_milliseconds(0);
    date.get_time()
}

/// Returns the times that are offered, with their names, in milliseconds since 1970.
pub fn times(now: &Moment) -> Vec<(Text, f64)> {
    let mut times = vec![(conversation::IN_AN_HOUR, now.time_ms + HOUR_MS)];
    if now.hour < 14 {
        times.push((conversation::THIS_AFTERNOON, (now.at)(0, 16)));
    }
    times.push((conversation::TOMORROW, (now.at)(1, MORNING)));
    let to_monday = (8 - now.weekday) % 7;
    let to_monday = if to_monday == 0 { 7 } else { to_monday };
    // On Sundays, it is tomorrow.
    if to_monday > 1 {
        times.push((conversation::NEXT_MONDAY, (now.at)(to_monday, MORNING)));
    }
    // On Mondays, it is the next one.
    if to_monday < 7 {
        times.push((conversation::IN_A_WEEK, (now.at)(7, MORNING)));
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(weekday: u32, hour: u32) -> Vec<(Text, f64)> {
        times(&Moment { time_ms: 0.0, weekday, hour, at: |days, hour| f64::from(days * 24 + hour) * HOUR_MS })
    }

    #[test]
    fn offers_working_hours_that_are_still_to_come() {
        let hours =
            |times: Vec<(Text, f64)>| times.into_iter().map(|(_, time)| time / HOUR_MS).collect::<Vec<_>>();
        assert_eq!(
            hours(at(3, 10)),
            [1.0, 16.0, 33.0, 5.0 * 24.0 + 9.0, 7.0 * 24.0 + 9.0],
            "Wednesday morning"
        );
        assert_eq!(hours(at(0, 18)), [1.0, 33.0, 7.0 * 24.0 + 9.0], "Sunday evening");
        assert_eq!(hours(at(1, 18)), [1.0, 33.0, 7.0 * 24.0 + 9.0], "Monday evening");
    }
}
