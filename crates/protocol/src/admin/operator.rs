//! Operators at work: who is there, what they have written in advance, and when they want to be left alone.

use serde::{Deserialize, Serialize};

/// What operators say about themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Availability {
    /// Online while a console is open and in use, away after idle time.
    #[default]
    Automatic,
    /// Away, whatever the console reports.
    Away,
    /// Offline for visitors, even with an open console.
    Offline,
}

/// Whether an operator is there. Visitors are told that a person is here while somebody is `Online`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum WorkingState {
    /// A console is open and in use.
    Online,
    /// A console is open, and nobody has used it for five minutes.
    Away,
    /// No console is open, or the operator says so.
    #[default]
    Offline,
}

/// An operator as the others see them: `GET /team`, and the event `team`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TeamMember {
    /// The operator's id.
    pub id: String,
    /// The name, as the team sees it.
    pub name: String,
    /// Whether they are there.
    pub state: WorkingState,
}

/// A label of conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Label {
    /// The label's id.
    pub id: String,
    /// The name, 1 to 40 characters, unique in the tenant without regard to case.
    pub name: String,
    /// `grey`, `red`, `orange`, `yellow`, `green`, `teal`, `blue` or `violet`.
    pub color: String,
}

/// The body of `POST /labels` and `PUT /labels/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelChange {
    /// The name, 1 to 40 characters.
    pub name: String,
    /// One of the colours of [`Label::color`].
    pub color: String,
}

/// A canned reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CannedReply {
    /// The reply's id.
    pub id: String,
    /// The text after `/`: 1 to 40 letters, digits, `-` and `_`; unique in the tenant.
    pub shortcut: String,
    /// The text, 1 to 16,000 characters, with the variables `{{visitor.name}}`, `{{visitor.email}}`,
    /// `{{operator.name}}`, `{{site.name}}` and `{{page}}`.
    pub text: String,
    /// Its language, a BCP 47 tag; `None` for all.
    pub locale: Option<String>,
}

/// The body of `POST /replies` and `PUT /replies/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CannedReplyText {
    /// See [`CannedReply::shortcut`].
    pub shortcut: String,
    /// See [`CannedReply::text`].
    pub text: String,
    /// See [`CannedReply::locale`].
    #[serde(default)]
    pub locale: Option<String>,
}

/// Hours in which an operator gets no sounds, no notifications and no e-mails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuietHours {
    /// The minute of the day at which they begin, 0 to 1,439.
    pub from_minute: u16,
    /// The minute of the day at which they end. Before `fromMinute`: on the next day.
    pub to_minute: u16,
    /// The days on which they begin, 1 for Monday to 7 for Sunday.
    pub days: Vec<u8>,
    /// An IANA name such as `Europe/Berlin`.
    pub time_zone: String,
}

impl QuietHours {
    /// Returns whether a time is in them: the day of the week (1 is Monday) and the minute of the day, both
    /// in their time zone. Hours that end when they begin last a whole day.
    pub fn contains(&self, weekday: u8, minute: u16) -> bool {
        let yesterday = if weekday == 1 { 7 } else { weekday.saturating_sub(1) };
        let begins_on = |day: u8| self.days.contains(&day);
        if self.from_minute < self.to_minute {
            begins_on(weekday) && (self.from_minute..self.to_minute).contains(&minute)
        } else {
            (begins_on(weekday) && minute >= self.from_minute)
                || (begins_on(yesterday) && minute < self.to_minute)
        }
    }
}

/// The operator's own settings: `GET` and `PUT /preferences`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Preferences {
    /// What the operator says about themselves.
    pub availability: Availability,
    /// Whether the console plays a sound.
    pub sound: bool,
    /// Whether the console shows desktop notifications.
    pub notifications: bool,
    /// Hours of rest.
    pub quiet_hours: Option<QuietHours>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(from_minute: u16, to_minute: u16, days: &[u8]) -> QuietHours {
        QuietHours { from_minute, to_minute, days: days.to_vec(), time_zone: "Europe/Berlin".to_owned() }
    }

    #[test]
    fn quiet_hours_of_a_day_begin_and_end_on_it() {
        let lunch = hours(720, 780, &[1, 2]);
        assert!(lunch.contains(1, 720) && lunch.contains(2, 779));
        assert!(!lunch.contains(1, 719) && !lunch.contains(1, 780) && !lunch.contains(3, 730));
    }

    #[test]
    fn a_quiet_night_ends_on_the_next_day() {
        let night = hours(1320, 420, &[5, 7]);
        assert!(night.contains(5, 1320) && night.contains(6, 419), "from Friday to Saturday");
        assert!(night.contains(7, 1439) && night.contains(1, 0), "from Sunday to Monday");
        assert!(!night.contains(5, 419) && !night.contains(6, 420) && !night.contains(6, 1400));
        assert!(!night.contains(1, 1400));
    }

    #[test]
    fn hours_that_end_when_they_begin_last_a_day() {
        let saturday = hours(0, 0, &[6]);
        assert!(saturday.contains(6, 0) && saturday.contains(6, 1439));
        assert!(!saturday.contains(5, 1439) && !saturday.contains(7, 0));
        assert!(!hours(0, 0, &[]).contains(6, 0));
    }
}
