//! Times and days as the visitor's language writes them, by the browser's `Intl`.

use js_sys::Date;

use super::intl::Intl;

/// Writes times and days of one locale.
pub struct TimeFormat {
    time: Intl,
    day: Intl,
}

impl TimeFormat {
    /// Formats of this locale; one that the browser does not take is left to the browser's own.
    pub fn new(locale: &str) -> Self {
        let format = |options| Intl::new("DateTimeFormat", locale, options);
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

/// Writes dates with their year and time, for what is read again later.
pub struct DateFormat(Intl);

impl DateFormat {
    /// A format of this locale, as [`TimeFormat::new`] takes it.
    pub fn new(locale: &str) -> Self {
        Self(Intl::new("DateTimeFormat", locale, &[("dateStyle", "medium"), ("timeStyle", "short")]))
    }

    /// The date, such as `12 May 2026, 17:42`.
    pub fn date(&self, ms: f64) -> String {
        write(&self.0, ms)
    }
}

fn write(format: &Intl, ms: f64) -> String {
    format.call("format", &Date::new(&ms.into()))
}
