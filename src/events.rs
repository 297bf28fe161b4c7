//! Events of a widget for the application around it.

#[cfg(feature = "js-api")]
use chat_protocol::Value;
use chat_protocol::{Lead, MessageId, Role};
use chat_session::SessionEvent;

/// An event of the widget. JavaScript has the same events by the names given here.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChatEvent {
    /// `open`: the window opened.
    Open,
    /// `close`: the window closed.
    Close,
    /// `message`: a message of the visitor was delivered, or another one was received (2.4).
    Message {
        /// The service's identifier of the message, if there is one.
        id: Option<MessageId>,
        /// The author.
        role: Role,
        /// The text. It is never HTML.
        content: String,
    },
    /// `unread`: the number of unread messages changed.
    Unread {
        /// The number of unread messages, over all tabs.
        count: u32,
    },
    /// `presence`: an operator came online, or the last one went offline (4.7).
    Presence {
        /// Whether an operator is online.
        operator_online: bool,
    },
    /// `lead`: the service's assessment of the visitor (2.5).
    Lead(Lead),
    /// `error`: an error for developers. The widget has already shown the visitor what concerns the visitor.
    Error {
        /// The service's code (7), or `NETWORK`, `TIMEOUT`.
        code: String,
        /// A description of the error, with the request.
        message: String,
    },
}

impl From<SessionEvent> for ChatEvent {
    fn from(session_event: SessionEvent) -> Self {
        match session_event {
            SessionEvent::Opened(true) => Self::Open,
            SessionEvent::Opened(false) => Self::Close,
            SessionEvent::Message(entry) => {
                Self::Message { id: entry.id, role: entry.author, content: entry.text.as_ref().to_owned() }
            }
            SessionEvent::Unread(count) => Self::Unread { count },
            SessionEvent::Presence(operator_online) => Self::Presence { operator_online },
            SessionEvent::Lead(lead) => Self::Lead(lead),
            SessionEvent::Error { code, message } => Self::Error { code, message },
        }
    }
}

/// Returns the name and the detail of an event for JavaScript. A conversion through [`ChatEvent`] is 150
/// bytes larger (brotli).
#[cfg(feature = "js-api")]
pub(crate) fn name_and_detail(session_event: SessionEvent) -> (&'static str, Value) {
    match session_event {
        SessionEvent::Opened(open) => (if open { "open" } else { "close" }, Value::object([])),
        SessionEvent::Message(entry) => (
            "message",
            Value::object([
                ("id", entry.id.as_ref().into()),
                ("role", entry.author.as_str().into()),
                ("content", (*entry.text).into()),
            ]),
        ),
        SessionEvent::Unread(count) => ("unread", Value::object([("count", i64::from(count).into())])),
        SessionEvent::Presence(online) => ("presence", Value::object([("operatorOnline", online.into())])),
        SessionEvent::Lead(lead) => ("lead", (&lead).into()),
        SessionEvent::Error { code, message } => {
            ("error", Value::object([("code", code.into()), ("message", message.into())]))
        }
    }
}

#[cfg(all(test, feature = "js-api"))]
mod tests {
    use super::*;

    #[test]
    fn leptos_and_javascript_receive_the_same_events() {
        let lead = Lead { has_contact: true, ..Lead::default() };
        let failed = || SessionEvent::Error { code: "TIMEOUT".to_owned(), message: "late".to_owned() };
        for (session_event, event, name, detail) in [
            (SessionEvent::Opened(true), ChatEvent::Open, "open", "{}"),
            (SessionEvent::Opened(false), ChatEvent::Close, "close", "{}"),
            (SessionEvent::Unread(2), ChatEvent::Unread { count: 2 }, "unread", r#"{"count":2}"#),
            (
                SessionEvent::Presence(true),
                ChatEvent::Presence { operator_online: true },
                "presence",
                r#"{"operatorOnline":true}"#,
            ),
            (
                SessionEvent::Lead(lead.clone()),
                ChatEvent::Lead(lead.clone()),
                "lead",
                &Value::from(&lead).to_string(),
            ),
            (
                failed(),
                ChatEvent::Error { code: "TIMEOUT".to_owned(), message: "late".to_owned() },
                "error",
                r#"{"code":"TIMEOUT","message":"late"}"#,
            ),
        ] {
            assert_eq!(ChatEvent::from(session_event.clone()), event);
            let (named, detailed) = name_and_detail(session_event);
            assert_eq!((named, &*detailed.to_string()), (name, detail));
        }
    }
}
