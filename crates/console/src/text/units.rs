//! Days, shares, durations and places as the operator's language writes them.

use super::intl::browser;
use crate::days::Day;
use crate::times;

/// Returns a day of the calendar, such as "3 Nov".
pub fn short_day(day: Day) -> String {
    day_with(day, &[("day", "numeric"), ("month", "short")])
}

/// Returns a day of the calendar with its year.
pub fn long_day(day: Day) -> String {
    day_with(day, &[("weekday", "short"), ("day", "numeric"), ("month", "long"), ("year", "numeric")])
}

/// Returns the name of a day of the week, 1 for Monday to 7 for Sunday.
pub fn weekday(weekday: u8, is_long: bool) -> String {
    // 1970-01-05 was a Monday.
    day_with(Day(3 + i32::from(weekday)), &[("weekday", if is_long { "long" } else { "short" })])
}

/// Returns an hour of the day, such as "14" or "2 PM".
pub fn hour(hour: u8) -> String {
    browser::format(f64::from(hour) * 3_600_000.0, &[("hour", "numeric"), ("timeZone", "UTC")])
}

/// Returns a share, 0 to 1, in percent.
pub fn percent(share: f64) -> String {
    browser::percent(share)
}

/// Returns a duration in milliseconds in at most two units, such as "1 hr 20 min".
pub fn duration(duration_ms: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "no duration is that long")]
    let parts = times::duration(duration_ms as f64);
    let texts = parts.into_iter().map(|(count, unit)| browser::short_unit(i64::from(count), unit.as_str()));
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns the weekday and the time in a time zone, such as "Mon 14:05"; `None` if the browser does not know
/// the zone.
pub fn time_in_zone(time_ms: f64, zone: &str) -> Option<String> {
    let parts = [("weekday", "short"), ("hour", "2-digit"), ("minute", "2-digit"), ("timeZone", zone)];
    Some(browser::format(time_ms, &parts)).filter(|text| !text.is_empty())
}

/// Returns the weekday (1 is Monday) and the minute of the day in a time zone; `None` if the browser does not
/// know the zone.
pub fn minute_in_zone(time_ms: f64, zone: &str) -> Option<(u8, u16)> {
    parse_weekday_and_time(&browser::english_time(time_ms, zone))
}

/// Reads a time such as `Mon, 14:05` or `Mon 14:05`.
fn parse_weekday_and_time(text: &str) -> Option<(u8, u16)> {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let day = DAYS.iter().zip(1_u8..).find(|(name, _)| text.starts_with(**name))?.1;
    let (hour, minute) = text.rsplit_once(' ')?.1.split_once(':')?;
    let minute_of_day = hour.parse::<u16>().ok()? % 24 * 60 + minute.parse::<u16>().ok()?;
    Some((day, minute_of_day)).filter(|(_, minute)| *minute < 1440)
}

/// Returns the name of a language, such as "German".
pub fn language_name(tag: &str) -> Option<String> {
    browser::display_name("language", tag)
}

/// Returns the name of a region, such as "Switzerland".
pub fn region_name(code: &str) -> Option<String> {
    browser::display_name("region", code)
}

/// Returns the only time zone of a region, a two-letter code; `None` if it has several, or if the browser
/// does not tell.
pub fn zone_of_region(code: &str) -> Option<String> {
    let zones = browser::zones_of_region(code);
    match zones.as_slice() {
        [zone] => Some(zone.clone()),
        _ => None,
    }
}

fn day_with(day: Day, parts: &[(&str, &str)]) -> String {
    let mut members = vec![("timeZone", "UTC")];
    members.extend_from_slice(parts);
    browser::format(f64::from(day.0) * 86_400_000.0, &members)
}

#[cfg(test)]
mod tests {
    use super::parse_weekday_and_time;

    #[test]
    fn reads_the_weekday_and_the_minute_that_the_browser_writes() {
        assert_eq!(parse_weekday_and_time("Mon 00:00"), Some((1, 0)));
        assert_eq!(parse_weekday_and_time("Sun, 23:59"), Some((7, 1439)));
        assert_eq!(parse_weekday_and_time("Wed 24:05"), Some((3, 5)));
        for text in ["", "14:05", "Lun 14:05", "Mon x:y"] {
            assert_eq!(parse_weekday_and_time(text), None, "{text}");
        }
    }
}
