//! Messages (2.4), and the history of a conversation (4.6).

use crate::{ConversationId, FieldError, Fields, MessageId, Value};

/// Maximum characters of an operator's name.
const MAX_NAME_LENGTH: usize = 60;

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
    /// `author.name`, an extension: the name of the operator who wrote it.
    pub author_name: Option<String>,
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
            author_name: name_of(fields.take("author")),
        })
    }
}

/// Returns the name of a person; `None` for a missing or an empty one. Longer names are cut off.
fn name_of(person: Value) -> Option<String> {
    let name = Fields::of(person).ok()?.lenient_text("name")?;
    let name: String = name.trim().chars().take(MAX_NAME_LENGTH).collect();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns a person with a name.
fn person(name: &str) -> Value {
    Value::object([("name", name.into())])
}

impl From<&ChatMessage> for Value {
    fn from(message: &ChatMessage) -> Self {
        Value::object([
            ("id", message.id.as_ref().into()),
            ("role", message.role.as_str().into()),
            ("content", message.content.as_str().into()),
            ("createdAt", message.created_at.clone().into()),
            ("author", message.author_name.as_deref().map_or(Value::Null, person)),
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
    /// `operatorTyping.name`, an extension: the operator who is writing.
    pub operator_typing: Option<String>,
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
            operator_typing: name_of(fields.take("operatorTyping")),
        })
    }
}

impl From<&History> for Value {
    fn from(history: &History) -> Self {
        Value::object([
            ("conversationId", history.conversation_id.as_ref().into()),
            ("messages", history.messages.iter().collect()),
            ("nextAfter", history.next_after.as_ref().into()),
            ("operatorTyping", history.operator_typing.as_deref().map_or(Value::Null, person)),
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
    fn reads_names_of_people_and_nothing_else_as_such() {
        let history = |people: &str| {
            let body =
                format!(r#"{{"messages":[{{"content":"a","author":{people}}}],"operatorTyping":{people}}}"#);
            let history = History::try_from(json(&body)).expect("usable");
            (history.messages[0].author_name.clone(), history.operator_typing)
        };
        let mara = || Some("Mara".to_owned());
        assert_eq!(history(r#"{"name":" Mara ","avatarUrl":"x"}"#), (mara(), mara()));
        for other in [r#""Mara""#, "null", "7", "[]", "{}", r#"{"name":"  "}"#, r#"{"name":{}}"#] {
            assert_eq!(history(other), (None, None), "{other}");
        }
        let long = "é".repeat(500);
        let (name, _) = history(&format!(r#"{{"name":"{long}"}}"#));
        assert_eq!(name.map(|name| name.chars().count()), Some(60));
        let message =
            ChatMessage::try_from(json(r#"{"content":"a","author":{"name":"Mara"}}"#)).expect("usable");
        assert_eq!(ChatMessage::try_from(Value::from(&message)), Ok(message));
    }

    #[test]
    fn recognises_the_usual_names_of_the_visitor_role() {
        for name in ["visitor", "user", "Customer", "guest"] {
            assert_eq!(Role::from(name), Role::Visitor);
        }
        assert_eq!(Role::from("system"), Role::Other("system".into()));
    }
}
