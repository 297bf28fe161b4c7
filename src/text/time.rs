//! Times and days as the visitor's language writes them, by the browser's `Intl`.

use js_sys::Date;

use super::intl::Intl;

const DAY_MS: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

/// Writes times and days of one locale.
pub struct TimeFormat {
    time: Intl,
    day: Intl,
}

impl TimeFormat {
    /// Formats of this locale; one that the browser does not take is left to the browser's own.
    pub fn new(locale: &str) -> Self {
        let format = |options: &[(&str, &str)]| Intl::new("DateTimeFormat", locale, options);
        Self {
            time: format(&[("hour", "numeric"), ("minute", "2-digit")]),
            day: format(&[("day", "numeric"), ("month", "long")]),
        }
    }

    /// The time of day, such as `17:42`.
    pub fn time(&self, ms: f64) -> String {
        write(&self.time, ms)
    }

    /// The day, such as `12 May`.
    pub fn day(&self, ms: f64) -> String {
        write(&self.day, ms)
    }
}

/// How many days ago a time was, by the visitor's midnight: 0 for today.
#[expect(clippy::cast_possible_truncation, reason = "a count of days fits")]
pub fn days_ago(ms: f64) -> i64 {
    let midnight = Date::new_0();
    midnight.set_hours(0);
    midnight.set_minutes(0);
    midnight.set_seconds(0);
    midnight.set_milliseconds(0);
    ((midnight.get_time() - ms) / DAY_MS).ceil().max(0.0) as i64
}

fn write(format: &Intl, ms: f64) -> String {
    format.call("format", &Date::new(&ms.into()))
}
