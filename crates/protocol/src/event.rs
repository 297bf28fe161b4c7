//! Visitor events (2.7, 4.8, 6).

use crate::{FieldError, Fields, Value, VisitorId, limits};

/// One visitor event.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitorEvent {
    /// `eventType`. Section 6 recommends some; others may occur.
    pub event_type: String,
    /// `visitorId`.
    pub visitor_id: Option<VisitorId>,
    /// `customerId`: the site's id of the visitor.
    pub customer_id: Option<String>,
    /// `channel`.
    pub channel: Option<String>,
    /// `path` of the page.
    pub path: Option<String>,
    /// `url` of the page.
    pub url: Option<String>,
    /// `title` of the page.
    pub title: Option<String>,
    /// `referrer` of the page.
    pub referrer: Option<String>,
    /// `eventData`: an object, or null.
    pub event_data: Value,
    /// `createdAt`, ISO 8601; if missing, the service uses the time of receipt.
    pub created_at: Option<String>,
}

impl TryFrom<Value> for VisitorEvent {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            event_type: fields.text("eventType")?,
            visitor_id: fields.optional_text("visitorId")?.map(VisitorId::from),
            customer_id: fields.optional_text("customerId")?,
            channel: fields.optional_text("channel")?,
            path: fields.optional_text("path")?,
            url: fields.optional_text("url")?,
            title: fields.optional_text("title")?,
            referrer: fields.optional_text("referrer")?,
            event_data: match fields.take("eventData") {
                data @ (Value::Null | Value::Object(_)) => data,
                _ => return Err(FieldError::new("eventData", "must be an object")),
            },
            created_at: fields.optional_text("createdAt")?,
        })
    }
}

impl From<&VisitorEvent> for Value {
    fn from(event: &VisitorEvent) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        Value::object([
            ("eventType", event.event_type.as_str().into()),
            ("visitorId", event.visitor_id.as_ref().into()),
            ("customerId", text(&event.customer_id)),
            ("channel", text(&event.channel)),
            ("path", text(&event.path)),
            ("url", text(&event.url)),
            ("title", text(&event.title)),
            ("referrer", text(&event.referrer)),
            ("eventData", event.event_data.clone()),
            ("createdAt", text(&event.created_at)),
        ])
    }
}

/// The body of `POST /events`: 1 to 50 events, each checked individually.
#[derive(Clone, Debug, PartialEq)]
pub struct EventBatch {
    /// The valid events.
    pub events: Vec<VisitorEvent>,
    /// The errors of the invalid events.
    pub refused: Vec<FieldError>,
}

impl TryFrom<Value> for EventBatch {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let items = Fields::of(value)?.list("events")?;
        if !limits::EVENTS.contains(&items.len()) {
            let (min, max) = (limits::EVENTS.start(), limits::EVENTS.end());
            return Err(FieldError::new(
                "events",
                format!("must have {min} to {max} items, not {}", items.len()),
            ));
        }
        let mut batch = Self { events: Vec::new(), refused: Vec::new() };
        for (index, item) in items.into_iter().enumerate() {
            match VisitorEvent::try_from(item) {
                Ok(event) => batch.events.push(event),
                Err(error) => batch.refused.push(error.within(&format!("[{index}]")).within("events")),
            }
        }
        Ok(batch)
    }
}

/// `data` of `POST /events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracking {
    /// `accepted`: the number of accepted events.
    pub accepted: i64,
    /// `rejected`: the number of rejected events.
    pub rejected: i64,
    /// Whether `tracking` is not `disabled`.
    pub enabled: bool,
}

impl TryFrom<Value> for Tracking {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            accepted: fields.lenient_integer("accepted").unwrap_or(0),
            rejected: fields.lenient_integer("rejected").unwrap_or(0),
            enabled: fields.lenient_text("tracking").as_deref() != Some("disabled"),
        })
    }
}

impl From<&Tracking> for Value {
    fn from(tracking: &Tracking) -> Self {
        Value::object([
            ("accepted", tracking.accepted.into()),
            ("rejected", tracking.rejected.into()),
            ("tracking", if tracking.enabled { "enabled" } else { "disabled" }.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<EventBatch, FieldError> {
        EventBatch::try_from(serde_json::from_str::<Value>(text).expect("JSON"))
    }

    #[test]
    fn accepts_1_to_50_events() {
        let of = |count: usize| {
            format!(r#"{{"events":[{}]}}"#, vec![r#"{"eventType":"page_view"}"#; count].join(","))
        };
        assert!(read(&of(0)).is_err());
        assert_eq!(read(&of(1)).expect("usable").events.len(), 1);
        assert_eq!(read(&of(50)).expect("usable").events.len(), 50);
        assert_eq!(read(&of(51)).unwrap_err().to_string(), "events must have 1 to 50 items, not 51");
    }

    #[test]
    fn skips_an_invalid_event() {
        let batch = read(
            r#"{"events":[{"eventType":"page_view"},{"eventType":""},{"eventType":"x","eventData":[]}]}"#,
        )
        .expect("usable");
        assert_eq!(batch.events.len(), 1);
        let errors: Vec<_> = batch.refused.iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            ["events[1].eventType must not be empty", "events[2].eventData must be an object"]
        );
    }

    #[test]
    fn tracking_is_enabled_unless_disabled() {
        let read = |value| Tracking::try_from(value).expect("usable").enabled;
        assert!(read(Value::object([])));
        assert!(!read(Value::object([("tracking", "disabled".into())])));
    }
}
