//! The time.

/// Returns the time, in milliseconds since 1970.
pub fn now_ms() -> f64 {
    js_sys::Date::now()
}

/// Returns the time of an RFC 3339 text, in milliseconds since 1970; `None` for an invalid one.
pub fn parse_ms(text: &str) -> Option<f64> {
    let time = js_sys::Date::parse(text);
    time.is_finite().then_some(time)
}

/// Returns a time in RFC 3339, in UTC.
pub fn to_rfc3339(time_ms: f64) -> String {
    js_sys::Date::new(&time_ms.into()).to_iso_string().into()
}
