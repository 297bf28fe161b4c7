//! Messages between the tabs of one browser, and their one codec.
//!
//! Tabs of two versions of the widget talk to each other while a site is updated: the names here are never
//! reused for something else, and a message that is not known is ignored.

use chat_protocol::{Value, VisitorId};

use crate::stored::{self, to_value};

/// The sender's state, which is part of every message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sender<'a> {
    /// The visitor's id.
    pub(crate) visitor: &'a str,
    /// The tab's name among the tabs.
    pub(crate) tab: &'a str,
    /// The number of leaders so far.
    pub(crate) term: u64,
    pub(crate) visible: bool,
    /// The revision of the snapshot that the tab has; at least 1 if it has anything to lose.
    pub(crate) revision: u64,
    /// The tab that wrote this snapshot.
    pub(crate) writer: &'a str,
    /// The sequence of the last message that the visitor has seen.
    pub(crate) seen: i64,
    /// The tab has only the end of the conversation.
    pub(crate) is_truncated: bool,
}

/// A message to the other tabs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TabMessage<'a> {
    /// The tab is new, and requests the state of the others.
    Hello,
    /// The reply to a candidate with another visitor.
    Here,
    /// The tab stands for election, and requests the state of the others.
    Candidate,
    /// The tab leads.
    Leader,
    /// The tab no longer leads.
    Vacancy,
    /// The visitor sends pending messages at once.
    SendNow,
    /// A response arrived in a tab that no longer leads. A `Retry-After` holds until this time.
    Response { hold_until_ms: u64 },
    /// The tab stored a value under a name; null if it removed the name.
    Stored { name: &'a str, value: Value },
    /// The visitor was erased. This is the new one.
    Reset { visitor: Option<VisitorId> },
    /// The verified visitor of this channel has signed out.
    SignedOut,
    /// A message of another version.
    Unknown,
}

impl<'a> TabMessage<'a> {
    /// Returns the message as JSON text.
    pub(crate) fn encode(self, sender: &Sender<'_>) -> String {
        let (kind, name, value) = match self {
            Self::Hello => ("hello", None, Value::Null),
            Self::Here => ("here", None, Value::Null),
            Self::Candidate => ("ask", None, Value::Null),
            Self::Leader => ("lead", None, Value::Null),
            Self::Vacancy => ("free", None, Value::Null),
            Self::SendNow => ("retry", None, Value::Null),
            Self::Response { hold_until_ms } => ("answered", None, to_value(hold_until_ms)),
            Self::Stored { name, value } => ("keep", Some(name), value),
            Self::Reset { visitor } => {
                ("reset", None, Value::object([("visitorId", visitor.as_ref().into())]))
            }
            Self::SignedOut => ("out", None, Value::Null),
            Self::Unknown => ("", None, Value::Null),
        };
        let message = Value::object([
            ("visitor", sender.visitor.into()),
            ("tab", sender.tab.into()),
            ("term", to_value(sender.term)),
            ("visible", sender.visible.into()),
            ("revision", to_value(sender.revision)),
            ("writer", sender.writer.into()),
            ("seen", sender.seen.into()),
            ("lacks", sender.is_truncated.into()),
            ("does", kind.into()),
            ("name", name.into()),
            ("value", value),
        ]);
        message.to_json()
    }

    /// Reads a message and its sender, and takes the value out of it. Fields that are missing, or make no
    /// sense, are empty, zero or false.
    pub(crate) fn decode(message: &'a mut Value) -> (Sender<'a>, Self) {
        let value = stored::take_member(message, "value");
        let text = |field| message.get(field).and_then(Value::as_text).unwrap_or_default();
        let number = |field| stored::number(message, field);
        let is = |field| message.get(field) == Some(&Value::Bool(true));
        let sender = Sender {
            visitor: text("visitor"),
            tab: text("tab"),
            term: number("term"),
            visible: is("visible"),
            revision: number("revision"),
            writer: text("writer"),
            seen: i64::try_from(number("seen")).unwrap_or(0),
            is_truncated: is("lacks"),
        };
        let message = match text("does") {
            "hello" => Self::Hello,
            "here" => Self::Here,
            "ask" => Self::Candidate,
            "lead" => Self::Leader,
            "free" => Self::Vacancy,
            "retry" => Self::SendNow,
            "answered" => Self::Response { hold_until_ms: stored::as_number(&value) },
            "keep" => Self::Stored { name: text("name"), value },
            "reset" => Self::Reset { visitor: stored::visitor(&value) },
            "out" => Self::SignedOut,
            _ => Self::Unknown,
        };
        (sender, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn every_message_is_decoded_as_it_was_encoded() {
        let sender = Sender {
            visitor: "v1234567",
            tab: "a",
            term: 3,
            visible: true,
            revision: 9,
            writer: "b",
            seen: 4,
            is_truncated: true,
        };
        for message in [
            TabMessage::Hello,
            TabMessage::Here,
            TabMessage::Candidate,
            TabMessage::Leader,
            TabMessage::Vacancy,
            TabMessage::SendNow,
            TabMessage::Response { hold_until_ms: 1_700_000_000_000 },
            TabMessage::Stored { name: "outbox:m1", value: parsed(r#"{"v":2}"#) },
            TabMessage::Stored { name: "outbox:m1", value: Value::Null },
            TabMessage::Reset { visitor: Some("v7654321".into()) },
            TabMessage::SignedOut,
        ] {
            let text = message.clone().encode(&sender);
            assert_eq!(TabMessage::decode(&mut parsed(&text)), (sender.clone(), message), "{text}");
        }
    }

    #[test]
    fn the_encoded_names_match_earlier_versions() {
        let text = TabMessage::Stored { name: "seen", value: Value::Null }.encode(&Sender::default());
        let expected = r#"{"visitor":"","tab":"","term":0,"visible":false,"revision":0,"writer":"","seen":0,"lacks":false,"does":"keep","name":"seen"}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn ignores_unknown_and_unusable_messages() {
        for text in ["null", "7", "[]", "{}", r#"{"does":7}"#, r#"{"does":"dance","term":-4,"seen":"x"}"#] {
            assert_eq!(
                TabMessage::decode(&mut parsed(text)),
                (Sender::default(), TabMessage::Unknown),
                "{text}"
            );
        }
    }
}
