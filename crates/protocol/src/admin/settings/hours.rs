//! The hours in which people answer the visitors of a site.

use serde::{Deserialize, Serialize};

/// The hours in which people answer the visitors of a site. A site without them is always open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BusinessHours {
    /// The time zone of all times: an IANA name such as `Europe/Berlin`.
    pub time_zone: String,
    /// The hours of a week, 1 to 100 intervals.
    pub intervals: Vec<OpenInterval>,
    /// Dates on which nobody answers, such as `2026-12-25`, at most 100. Hours that begin on one do not take
    /// place, and hours that began the day before end at midnight.
    #[serde(default)]
    pub holidays: Vec<String>,
}

/// Hours of one day of the week.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenInterval {
    /// The day of the week on which they begin, 1 for Monday to 7 for Sunday.
    pub day: u8,
    /// The minute of the day at which they begin, 0 to 1,439.
    pub from_minute: u16,
    /// The minute of the day at which they end, 0 to 1,439. Not after `fromMinute`: on the next day.
    pub to_minute: u16,
}
