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
    /// `message`: a message of the visitor's was delivered, or one of somebody else came in (2.4).
    Message {
        /// The service's name for it, where it has one.
        id: Option<MessageId>,
        /// Who wrote it.
        role: Role,
        /// What it says: text, of which the widget makes elements and never HTML.
        content: String,
    },
    /// `unread`: the number of unread messages changed.
    Unread {
        /// The number of unread messages, over all tabs.
        count: u32,
    },
    /// `presence`: a person of the site has come or gone (4.7).
    Presence {
        /// Whether a person is there.
        operator_online: bool,
    },
    /// `lead`: what the service makes of the visitor (2.5).
    Lead(Lead),
    /// `error`: something went wrong that a developer may want to know. The visitor has been told already, where there
    /// is something for a visitor to know.
    Error {
        /// The service's code (7), or `NETWORK`, `TIMEOUT`.
        code: String,
        /// What happened, and with which request.
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

/// The same for JavaScript: the name and the detail of an event. By way of [`ChatEvent`] it weighs 150 bytes more
/// (brotli).
#[cfg(feature = "js-api")]
pub(crate) fn named(session_event: SessionEvent) -> (&'static str, Value) {
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
    fn leptos_and_javascript_hear_the_same() {
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
            let (called, told) = named(session_event);
            assert_eq!((called, &*told.to_string()), (name, detail));
        }
    }
}
