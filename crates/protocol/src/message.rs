//! Messages (2.4), and the history of a conversation (4.6).

use crate::{ConversationId, FieldError, Fields, MessageId, Value};

/// The author's role. The contract names `assistant` and `operator`; other roles may occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The AI.
    Assistant,
    /// A person of the site.
    Operator,
    /// The visitor: `visitor`, `user`, `customer` or `guest`.
    Visitor,
    /// Any other role, as the service sent it.
    Other(String),
}

impl Role {
    /// Returns the role's name on the wire.
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

/// A message (2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// `id`; some services omit it.
    pub id: Option<MessageId>,
    /// `role`; the assistant if missing.
    pub role: Role,
    /// `content`; may be empty, for example when the AI failed.
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
    /// `messages`, in the service's order. Invalid messages are skipped.
    pub messages: Vec<ChatMessage>,
    /// `nextAfter`: the `after` of the next read.
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
    fn skips_an_invalid_message() {
        let history = History::try_from(json(
            r#"{"messages":[{"content":"a"},7,{"content":{}},{"id":"z","content":"b"}]}"#,
        ))
        .expect("usable");
        let texts: Vec<_> = history.messages.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(texts, ["a", "b"]);
        assert_eq!(history.next_after, None);
    }

    #[test]
    fn recognises_the_usual_names_of_the_visitor_role() {
        for name in ["visitor", "user", "Customer", "guest"] {
            assert_eq!(Role::from(name), Role::Visitor);
        }
        assert_eq!(Role::from("system"), Role::Other("system".into()));
    }
}
