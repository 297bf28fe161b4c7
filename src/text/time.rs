//! Times and days in the visitor's language, by the browser's `Intl`.

use js_sys::Date;

use super::intl::Intl;

/// The formats of times and days in one locale.
pub struct TimeFormat {
    time: Intl,
    day: Intl,
}

impl TimeFormat {
    /// Creates the formats of a locale. The browser's own locale replaces one that it does not accept.
    pub fn new(locale: &str) -> Self {
        let format = |options| Intl::new("DateTimeFormat", locale, options);
        Self {
            time: format(&[("hour", "numeric"), ("minute", "2-digit")]),
            day: format(&[("day", "numeric"), ("month", "long")]),
        }
    }

    /// Returns the time of day, such as `17:42`.
    pub fn time(&self, ms: f64) -> String {
        write(&self.time, ms)
    }

    /// Returns the day, such as `12 May`.
    pub fn day(&self, ms: f64) -> String {
        write(&self.day, ms)
    }
}

/// The format of dates with year and time, for texts that are read again later.
pub struct DateFormat(Intl);

impl DateFormat {
    /// Creates the format of a locale, as [`TimeFormat::new`] does.
    pub fn new(locale: &str) -> Self {
        Self(Intl::new("DateTimeFormat", locale, &[("dateStyle", "medium"), ("timeStyle", "short")]))
    }

    /// Returns the date, such as `12 May 2026, 17:42`.
    pub fn date(&self, ms: f64) -> String {
        write(&self.0, ms)
    }
}

fn write(format: &Intl, ms: f64) -> String {
    format.call("format", &Date::new(&ms.into()))
}
