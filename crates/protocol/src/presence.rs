//! The presence of operators, and the suggested polling intervals (2.6).

use crate::{FieldError, Fields, Value};

/// `data` of `GET /chat/presence`. The intervals are as the service sent them: clients must bound them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// `operatorOnline`; false if missing, so that no absent operator is promised.
    pub operator_online: bool,
    /// `operatorActiveSessions`.
    pub operator_active_sessions: Option<i64>,
    /// `operatorLastSeenAt`, ISO 8601.
    pub operator_last_seen_at: Option<String>,
    /// `shouldPollMessages`; true if missing: a needless poll is better than a missed message.
    pub should_poll_messages: bool,
    /// `suggestedPresenceIntervalMs`, milliseconds.
    pub presence_interval_ms: Option<i64>,
    /// `suggestedMessageIntervalMs`, milliseconds.
    pub message_interval_ms: Option<i64>,
}

impl TryFrom<Value> for Presence {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            operator_online: fields.lenient_bool("operatorOnline").unwrap_or(false),
            operator_active_sessions: fields.lenient_integer("operatorActiveSessions"),
            operator_last_seen_at: fields.lenient_text("operatorLastSeenAt"),
            should_poll_messages: fields.lenient_bool("shouldPollMessages").unwrap_or(true),
            presence_interval_ms: fields.lenient_integer("suggestedPresenceIntervalMs"),
            message_interval_ms: fields.lenient_integer("suggestedMessageIntervalMs"),
        })
    }
}

impl From<&Presence> for Value {
    fn from(presence: &Presence) -> Self {
        Value::object([
            ("operatorOnline", presence.operator_online.into()),
            ("operatorActiveSessions", presence.operator_active_sessions.into()),
            ("operatorLastSeenAt", presence.operator_last_seen_at.clone().into()),
            ("shouldPollMessages", presence.should_poll_messages.into()),
            ("suggestedPresenceIntervalMs", presence.presence_interval_ms.into()),
            ("suggestedMessageIntervalMs", presence.message_interval_ms.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_presence_survives_a_round_trip() {
        let presence = Presence {
            operator_online: true,
            operator_active_sessions: Some(2),
            operator_last_seen_at: Some("2026-01-01T00:00:00Z".into()),
            should_poll_messages: false,
            presence_interval_ms: Some(-1),
            message_interval_ms: Some(i64::MAX),
        };
        assert_eq!(Presence::try_from(Value::from(&presence)), Ok(presence));
    }

    #[test]
    fn an_empty_presence_means_no_operator_and_keeps_polling() {
        let presence = Presence::try_from(Value::object([])).expect("usable");
        assert!(!presence.operator_online);
        assert!(presence.should_poll_messages);
    }
}
