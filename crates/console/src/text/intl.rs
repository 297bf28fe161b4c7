//! Numbers, dates and times, by the browser's `Intl`.

/// Returns a number with the separators of the language.
pub fn number(value: i64) -> String {
    browser::number(value)
}

/// Returns the plural category of a number: `one`, `other` and, in some languages, more.
pub fn plural_category(value: i64) -> String {
    browser::plural_category(value)
}

/// Returns the time of the day, such as `14:05`.
pub fn clock(time_ms: f64) -> String {
    browser::format(time_ms, &[("hour", "2-digit"), ("minute", "2-digit")])
}

/// Returns a date, such as `3 May 2026`.
fn date(time_ms: f64) -> String {
    browser::format(time_ms, &[("day", "numeric"), ("month", "short"), ("year", "numeric")])
}

/// Returns a day with its weekday, such as `Sunday, 3 May`.
pub fn day(time_ms: f64) -> String {
    browser::format(time_ms, &[("weekday", "long"), ("day", "numeric"), ("month", "long")])
}

/// Returns a date and a time.
pub fn date_time(time_ms: f64) -> String {
    browser::format(time_ms, &[("dateStyle", "medium"), ("timeStyle", "short")])
}

/// Returns a moment that is to come: the time alone if it is today, otherwise with its weekday or its date.
pub fn until(time_ms: f64, now_ms: f64) -> String {
    const WEEK_MS: f64 = 7.0 * 86_400_000.0;
    if date(time_ms) == date(now_ms) {
        clock(time_ms)
    } else if time_ms - now_ms < WEEK_MS {
        browser::format(time_ms, &[("weekday", "short"), ("hour", "2-digit"), ("minute", "2-digit")])
    } else {
        browser::format(
            time_ms,
            &[("day", "numeric"), ("month", "short"), ("hour", "2-digit"), ("minute", "2-digit")],
        )
    }
}

/// Returns a moment as a list shows it: the age below a week, otherwise the day.
pub fn list_time(time_ms: f64, now_ms: f64) -> String {
    match Age::of(now_ms - time_ms) {
        Age { unit: "day", value } if value >= 7 => {
            browser::format(time_ms, &[("day", "numeric"), ("month", "short")])
        }
        Age { value: 0, .. } => super::shell::JUST_NOW.get().to_owned(),
        Age { unit, value } => browser::unit(value, unit),
    }
}

/// Returns a moment in relation to now, such as `5 minutes ago`.
pub fn relative(time_ms: f64, now_ms: f64) -> String {
    let age = Age::of(now_ms - time_ms);
    browser::relative(-age.value, age.unit)
}

/// Returns the IANA name of the browser's time zone.
pub fn time_zone() -> String {
    browser::time_zone()
}

/// Returns the IANA names of the time zones that the browser knows; none if it does not tell.
pub fn time_zones() -> Vec<String> {
    browser::time_zones()
}

/// A duration in its largest whole unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Age {
    unit: &'static str,
    value: i64,
}

impl Age {
    /// Returns the age of a number of milliseconds; a negative one is none.
    #[expect(clippy::cast_possible_truncation, reason = "a number of minutes")]
    fn of(elapsed_ms: f64) -> Self {
        let minutes = (elapsed_ms / 60_000.0).max(0.0) as i64;
        match minutes {
            0..60 => Self { unit: "minute", value: minutes },
            60..1440 => Self { unit: "hour", value: minutes / 60 },
            _ => Self { unit: "day", value: minutes / 1440 },
        }
    }
}

#[cfg(target_arch = "wasm32")]
pub(super) mod browser {
    use js_sys::{Array, Function, Object, Reflect};
    use wasm_bindgen::{JsCast, JsValue};

    use crate::text::language;

    /// Creates a formatter of `Intl`, and calls a method of it.
    fn format_with(
        class: &str,
        members: &[(&str, &str)],
        method: &str,
        arguments: &[JsValue],
    ) -> Option<String> {
        format_in(language(), class, members, method, arguments)
    }

    /// Creates a formatter of `Intl` for a language, and calls a method of it.
    fn format_in(
        language: &str,
        class: &str,
        members: &[(&str, &str)],
        method: &str,
        arguments: &[JsValue],
    ) -> Option<String> {
        let intl = Reflect::get(&js_sys::global(), &JsValue::from_str("Intl")).ok()?;
        let class: Function = Reflect::get(&intl, &JsValue::from_str(class)).ok()?.dyn_into().ok()?;
        let options = Object::new();
        for (name, value) in members {
            Reflect::set(&options, &JsValue::from_str(name), &JsValue::from_str(value)).ok()?;
        }
        let locale = JsValue::from_str(language);
        let formatter = Reflect::construct(&class, &Array::of2(&locale, &options)).ok()?;
        let method: Function = Reflect::get(&formatter, &JsValue::from_str(method)).ok()?.dyn_into().ok()?;
        let arguments: Array = arguments.iter().collect();
        let result = Reflect::apply(&method, &formatter, &arguments).ok()?;
        result.as_string().or_else(|| Reflect::get(&result, &JsValue::from_str("timeZone")).ok()?.as_string())
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and minutes are small")]
    fn value(number: i64) -> JsValue {
        JsValue::from_f64(number as f64)
    }

    pub(super) fn number(number: i64) -> String {
        format_with("NumberFormat", &[], "format", &[value(number)]).unwrap_or_else(|| number.to_string())
    }

    pub(super) fn plural_category(number: i64) -> String {
        format_with("PluralRules", &[], "select", &[value(number)]).unwrap_or_else(|| "other".to_owned())
    }

    pub(in crate::text) fn format(time_ms: f64, members: &[(&str, &str)]) -> String {
        let arguments = [JsValue::from_f64(time_ms)];
        format_with("DateTimeFormat", members, "format", &arguments).unwrap_or_default()
    }

    pub(super) fn unit(number: i64, unit: &str) -> String {
        let members = [("style", "unit"), ("unit", unit), ("unitDisplay", "narrow")];
        format_with("NumberFormat", &members, "format", &[value(number)]).unwrap_or_default()
    }

    pub(super) fn relative(number: i64, unit: &str) -> String {
        let arguments = [value(number), JsValue::from_str(unit)];
        format_with("RelativeTimeFormat", &[("numeric", "auto")], "format", &arguments).unwrap_or_default()
    }

    /// Returns the weekday and the time in a time zone, as English writes them.
    pub(in crate::text) fn english_time(time_ms: f64, zone: &str) -> String {
        let members = [
            ("weekday", "short"),
            ("hour", "2-digit"),
            ("minute", "2-digit"),
            ("hourCycle", "h23"),
            ("timeZone", zone),
        ];
        let arguments = [JsValue::from_f64(time_ms)];
        format_in("en-US", "DateTimeFormat", &members, "format", &arguments).unwrap_or_default()
    }

    pub(in crate::text) fn short_unit(number: i64, unit: &str) -> String {
        let members = [("style", "unit"), ("unit", unit), ("unitDisplay", "short")];
        format_with("NumberFormat", &members, "format", &[value(number)]).unwrap_or_default()
    }

    pub(in crate::text) fn percent(share: f64) -> String {
        let arguments = [JsValue::from_f64(share)];
        format_with("NumberFormat", &[("style", "percent")], "format", &arguments).unwrap_or_default()
    }

    /// Returns the name of a language or of a region in the operator's language.
    pub(in crate::text) fn display_name(kind: &str, code: &str) -> Option<String> {
        format_with("DisplayNames", &[("type", kind)], "of", &[JsValue::from_str(code)])
    }

    /// Returns the time zones of a region, if the browser tells.
    pub(in crate::text) fn zones_of_region(code: &str) -> Vec<String> {
        let zones = || {
            let intl = Reflect::get(&js_sys::global(), &JsValue::from_str("Intl")).ok()?;
            let class: Function = Reflect::get(&intl, &JsValue::from_str("Locale")).ok()?.dyn_into().ok()?;
            let tag = JsValue::from_str(&format!("und-{code}"));
            let locale = Reflect::construct(&class, &Array::of1(&tag)).ok()?;
            // Older browsers have a property instead of the method.
            let method = Reflect::get(&locale, &JsValue::from_str("getTimeZones")).ok()?;
            let zones = match method.dyn_into::<Function>() {
                Ok(method) => method.call0(&locale).ok()?,
                Err(_) => Reflect::get(&locale, &JsValue::from_str("timeZones")).ok()?,
            };
            Some(zones.dyn_into::<Array>().ok()?.iter().filter_map(|zone| zone.as_string()).collect())
        };
        zones().unwrap_or_default()
    }

    pub(super) fn time_zones() -> Vec<String> {
        let zones = || {
            let intl = Reflect::get(&js_sys::global(), &JsValue::from_str("Intl")).ok()?;
            let method = Reflect::get(&intl, &JsValue::from_str("supportedValuesOf")).ok()?;
            let zones =
                method.dyn_into::<Function>().ok()?.call1(&intl, &JsValue::from_str("timeZone")).ok()?;
            Some(zones.dyn_into::<Array>().ok()?.iter().filter_map(|zone| zone.as_string()).collect())
        };
        zones().unwrap_or_default()
    }

    pub(super) fn time_zone() -> String {
        format_with("DateTimeFormat", &[], "resolvedOptions", &[]).unwrap_or_else(|| "UTC".to_owned())
    }
}

/// Stands for `Intl` in native tests.
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod browser {
    pub(super) fn number(number: i64) -> String {
        number.to_string()
    }

    pub(super) fn plural_category(number: i64) -> String {
        (if number == 1 { "one" } else { "other" }).to_owned()
    }

    pub(in crate::text) fn format(time_ms: f64, _members: &[(&str, &str)]) -> String {
        time_ms.to_string()
    }

    pub(super) fn unit(number: i64, unit: &str) -> String {
        format!("{number} {unit}")
    }

    pub(super) fn relative(number: i64, unit: &str) -> String {
        format!("{number} {unit}")
    }

    pub(in crate::text) fn english_time(_time_ms: f64, _zone: &str) -> String {
        "Mon, 00:00".to_owned()
    }

    pub(in crate::text) fn short_unit(number: i64, unit: &str) -> String {
        format!("{number} {unit}")
    }

    pub(in crate::text) fn percent(share: f64) -> String {
        format!("{}%", (share * 100.0).round())
    }

    pub(in crate::text) fn display_name(_kind: &str, _code: &str) -> Option<String> {
        None
    }

    pub(in crate::text) fn zones_of_region(_code: &str) -> Vec<String> {
        Vec::new()
    }

    pub(super) fn time_zones() -> Vec<String> {
        Vec::new()
    }

    pub(super) fn time_zone() -> String {
        "UTC".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_whole_unit() {
        let of = |minutes: f64| Age::of(minutes * 60_000.0);
        assert_eq!(of(0.5), Age { unit: "minute", value: 0 });
        assert_eq!(of(59.0), Age { unit: "minute", value: 59 });
        assert_eq!(of(60.0), Age { unit: "hour", value: 1 });
        assert_eq!(of(1439.0), Age { unit: "hour", value: 23 });
        assert_eq!(of(2880.0), Age { unit: "day", value: 2 });
        assert_eq!(of(-5.0), Age { unit: "minute", value: 0 }, "a clock that is behind");
    }
}
