//! Durations as numbers with a unit, which the browser writes in the reader's language, and times of the day.

const SECOND_MS: f64 = 1000.0;
const MINUTE_MS: f64 = 60.0 * SECOND_MS;
const HOUR_MS: f64 = 60.0 * MINUTE_MS;
const DAY_MS: f64 = 24.0 * HOUR_MS;

/// A unit of time, as `Intl` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A second.
    Second,
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
}

impl Unit {
    /// Returns the name that `Intl` has for the unit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    fn length_ms(self) -> f64 {
        match self {
            Self::Second => SECOND_MS,
            Self::Minute => MINUTE_MS,
            Self::Hour => HOUR_MS,
            Self::Day => DAY_MS,
        }
    }
}

/// Returns a duration in at most two units, the larger one first: 95 minutes are an hour and 35 minutes. The
/// second unit is left out where it is 0.
pub fn duration(duration_ms: f64) -> Vec<(i32, Unit)> {
    if !duration_ms.is_finite() || duration_ms < MINUTE_MS {
        let seconds = (duration_ms.max(0.0) / SECOND_MS).round();
        let seconds = if seconds.is_finite() { whole(seconds) } else { 0 };
        return if seconds < 60 { vec![(seconds, Unit::Second)] } else { vec![(1, Unit::Minute)] };
    }
    let (large, small) = if duration_ms < HOUR_MS {
        (Unit::Minute, Unit::Second)
    } else if duration_ms < DAY_MS {
        (Unit::Hour, Unit::Minute)
    } else {
        (Unit::Day, Unit::Hour)
    };
    let rounded = (duration_ms / small.length_ms()).round() * small.length_ms();
    let count = (rounded / large.length_ms()).floor();
    let rest = whole((rounded - count * large.length_ms()) / small.length_ms());
    let mut parts = vec![(whole(count), large)];
    if rest > 0 {
        parts.push((rest, small));
    }
    parts
}

#[allow(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
fn whole(number: f64) -> i32 {
    number.trunc() as i32
}

/// Returns a minute of the day as a field of the type `time` takes it.
pub fn clock_text(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60 % 24, minute % 60)
}

/// Returns the minute of the day that a field of the type `time` gives.
pub fn minute_of(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute) = (hour.parse::<u16>().ok()?, minute.get(..2)?.parse::<u16>().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_at_most_two_units() {
        assert_eq!(duration(0.0), [(0, Unit::Second)]);
        assert_eq!(duration(-5.0), [(0, Unit::Second)]);
        assert_eq!(duration(f64::NAN), [(0, Unit::Second)]);
        assert_eq!(duration(42_400.0), [(42, Unit::Second)]);
        assert_eq!(duration(59_900.0), [(1, Unit::Minute)]);
        assert_eq!(duration(95.0 * MINUTE_MS), [(1, Unit::Hour), (35, Unit::Minute)]);
        assert_eq!(duration(2.0 * HOUR_MS), [(2, Unit::Hour)]);
        assert_eq!(duration(3.5 * DAY_MS), [(3, Unit::Day), (12, Unit::Hour)]);
        assert_eq!(duration(DAY_MS - 1.0), [(24, Unit::Hour)]);
    }
}
