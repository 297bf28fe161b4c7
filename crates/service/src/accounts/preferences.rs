//! An operator's own settings, as they are stored.

use chat_protocol::admin::{Availability, Preferences};

use crate::db::{DbError, Row};

/// The settings of an operator who has chosen none.
fn defaults() -> Preferences {
    Preferences { sound: true, ..Preferences::default() }
}

/// Reads the columns `availability` and `preferences`, of which the first one counts.
pub(crate) fn stored(row: &Row, first: usize) -> Result<Preferences, DbError> {
    let stored = row.text(first + 1)?;
    let preferences = match stored.as_str() {
        "{}" => defaults(),
        json => serde_json::from_str(json).unwrap_or_else(|_| defaults()),
    };
    Ok(Preferences { availability: availability(&row.text(first)?), ..preferences })
}

/// Reads a stored availability.
pub(crate) fn availability(text: &str) -> Availability {
    match text {
        "away" => Availability::Away,
        "offline" => Availability::Offline,
        _ => Availability::Automatic,
    }
}

/// Returns an availability as it is stored.
pub(crate) fn as_text(availability: Availability) -> &'static str {
    match availability {
        Availability::Automatic => "automatic",
        Availability::Away => "away",
        Availability::Offline => "offline",
    }
}
