//! Messages as the service shows them (2.4), and the history of a conversation (4.6).

use crate::{ConversationId, FieldError, Fields, MessageId, Value};

/// Who wrote a message. The contract shows `assistant` and `operator`, and does not close the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The AI.
    Assistant,
    /// A person of the site.
    Operator,
    /// The visitor, by any of the names that services use: `visitor`, `user`, `customer`, `guest`.
    Visitor,
    /// Anybody else, as the service named them.
    Other(String),
}

impl Role {
    /// The role's name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Assistant => "assistant",
            Self::Operator => "operator",
            Self::Visitor => "visitor",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Role {
    fn from(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "assistant" | "ai" | "bot" => Self::Assistant,
            "operator" | "agent" | "human" => Self::Operator,
            "visitor" | "user" | "customer" | "guest" => Self::Visitor,
            _ => Self::Other(name.to_owned()),
        }
    }
}

/// A message as the service shows it (2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// `id`; missing from some services' answers.
    pub id: Option<MessageId>,
    /// `role`; the assistant's when it is not said.
    pub role: Role,
    /// `content`; may be empty, as when the AI failed.
    pub content: String,
    /// `createdAt`, ISO 8601.
    pub created_at: Option<String>,
}

impl TryFrom<Value> for ChatMessage {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        Ok(Self {
            id: fields.lenient_text("id").map(MessageId::from),
            role: fields.lenient_text("role").map_or(Role::Assistant, |role| Role::from(role.as_str())),
            content: fields.optional_text("content")?.unwrap_or_default(),
            created_at: fields.lenient_text("createdAt"),
        })
    }
}

impl From<&ChatMessage> for Value {
    fn from(message: &ChatMessage) -> Self {
        Value::object([
            ("id", message.id.as_ref().into()),
            ("role", message.role.as_str().into()),
            ("content", message.content.as_str().into()),
            ("createdAt", message.created_at.clone().into()),
        ])
    }
}

/// `data` of `GET /chat/messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// `conversationId`.
    pub conversation_id: Option<ConversationId>,
    /// `messages`, in the service's order. One that cannot be read costs nothing but itself.
    pub messages: Vec<ChatMessage>,
    /// `nextAfter`: goes into the next read as `after`.
    pub next_after: Option<MessageId>,
}

impl TryFrom<Value> for History {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let mut messages = Vec::new();
        for message in fields.list("messages")? {
            if let Ok(message) = ChatMessage::try_from(message) {
                messages.push(message);
            }
        }
        Ok(Self {
            conversation_id: fields.lenient_text("conversationId").map(ConversationId::from),
            messages,
            next_after: fields.lenient_text("nextAfter").map(MessageId::from),
        })
    }
}

impl From<&History> for Value {
    fn from(history: &History) -> Self {
        Value::object([
            ("conversationId", history.conversation_id.as_ref().into()),
            ("messages", history.messages.iter().collect()),
            ("nextAfter", history.next_after.as_ref().into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_message_that_cannot_be_read_costs_nothing_but_itself() {
        let history = History::try_from(json(
            r#"{"messages":[{"content":"a"},7,{"content":{}},{"id":"z","content":"b"}]}"#,
        ))
        .expect("usable");
        let texts: Vec<_> = history.messages.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(texts, ["a", "b"]);
        assert_eq!(history.next_after, None);
    }

    #[test]
    fn a_visitor_is_known_by_any_of_the_usual_names() {
        for name in ["visitor", "user", "Customer", "guest"] {
            assert_eq!(Role::from(name), Role::Visitor);
        }
        assert_eq!(Role::from("system"), Role::Other("system".into()));
    }
}
