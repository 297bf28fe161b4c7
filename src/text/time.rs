//! Times and days as the visitor's language writes them, by the browser's `Intl`.

use js_sys::{Array, Date, Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

const DAY_MS: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

/// Writes times and days of one locale.
#[derive(Clone)]
pub struct TimeFormat {
    time: Option<Function>,
    day: Option<Function>,
}

impl TimeFormat {
    /// Formats of this locale; one that the browser does not take is left to the browser's own.
    pub fn new(locale: &str) -> Self {
        let format = |options: &[(&str, &str)]| {
            format(&locale.into(), options).or_else(|_| format(&JsValue::UNDEFINED, options)).ok()
        };
        Self {
            time: format(&[("hour", "numeric"), ("minute", "2-digit")]),
            day: format(&[("day", "numeric"), ("month", "long")]),
        }
    }

    /// The time of day, such as `17:42`.
    pub fn time(&self, ms: f64) -> String {
        write(self.time.as_ref(), ms)
    }

    /// The day, such as `12 May`.
    pub fn day(&self, ms: f64) -> String {
        write(self.day.as_ref(), ms)
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

/// The `format` of a new `Intl.DateTimeFormat`, bound to it. Made by reflection, because a malformed locale throws.
fn format(locale: &JsValue, options: &[(&str, &str)]) -> Result<Function, JsValue> {
    let object = Object::new();
    for (name, value) in options {
        Reflect::set(&object, &(*name).into(), &(*value).into())?;
    }
    let intl = Reflect::get(&js_sys::global(), &"Intl".into())?;
    let class: Function = Reflect::get(&intl, &"DateTimeFormat".into())?.dyn_into()?;
    let made = Reflect::construct(&class, &Array::of2(locale, &object))?;
    Reflect::get(&made, &"format".into())?.dyn_into()
}

fn write(format: Option<&Function>, ms: f64) -> String {
    let written = format.and_then(|format| format.call1(&JsValue::UNDEFINED, &Date::new(&ms.into())).ok());
    written.and_then(|text| text.as_string()).unwrap_or_default()
}
