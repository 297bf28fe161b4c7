//! What a browser keeps between two pages.

use chat_protocol::{ConversationId, Value, VisitorId};

use crate::random::Random;

/// The keys in the browser's storage. All begin with [`PREFIX`](keys::PREFIX).
pub mod keys {
    /// What every key begins with.
    pub const PREFIX: &str = "chat-widget:";
    /// `{"v":1,"visitorId":…}`
    pub const VISITOR: &str = "chat-widget:visitor";
    /// `{"v":1,"conversationId":…}`
    pub const CONVERSATION: &str = "chat-widget:conversation";
    /// `{"v":1,"data":…}`: `data` of the last config, which the loader reads as well.
    pub const CONFIG: &str = "chat-widget:config";
    /// Begins the key of each message that is not delivered yet.
    pub const OUTBOX: &str = "chat-widget:outbox:";
}

/// All that storage holds under the widget's keys: each with its parsed text, null when that was not JSON.
pub type Stored = Vec<(String, Value)>;

fn find<'a>(stored: &'a Stored, key: &str) -> Option<&'a Value> {
    stored.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// The id that this browser has for its visitor. One that no header could carry, or of absurd length, is not ours.
pub(crate) fn visitor(stored: &Stored) -> Option<VisitorId> {
    let id = find(stored, keys::VISITOR)?.get("visitorId")?.as_text()?;
    let usable = (8..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    usable.then(|| id.into())
}

pub(crate) fn new_visitor(random: &mut Random) -> VisitorId {
    format!("v{}{}", random.hex(), random.hex()).into()
}

pub(crate) fn visitor_text(id: &VisitorId) -> String {
    Value::object([("v", 1.into()), ("visitorId", id.into())]).to_string()
}

pub(crate) fn conversation(stored: &Stored) -> Option<ConversationId> {
    let id = find(stored, keys::CONVERSATION)?.get("conversationId")?.as_text()?;
    (1..=512).contains(&id.len()).then(|| id.into())
}

pub(crate) fn conversation_text(id: &ConversationId) -> String {
    Value::object([("v", 1.into()), ("conversationId", id.into())]).to_string()
}

pub(crate) fn config(stored: &Stored) -> Option<&Value> {
    find(stored, keys::CONFIG)?.get("data")
}

pub(crate) fn config_text(data: Value) -> String {
    Value::object([("v", 1.into()), ("data", data)]).to_string()
}

/// The letters, each with its name.
pub(crate) fn letters(stored: &Stored) -> impl Iterator<Item = (&str, &Value)> {
    stored.iter().filter_map(|(key, value)| Some((key.strip_prefix(keys::OUTBOX)?, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(key: &str, text: &str) -> Stored {
        vec![(key.into(), serde_json::from_str(text).unwrap_or_default())]
    }

    #[test]
    fn what_was_stored_is_read_back() {
        let id = new_visitor(&mut Random::new(1));
        assert_eq!(visitor(&stored(keys::VISITOR, &visitor_text(&id))), Some(id));
        let id = ConversationId::from("c-1");
        assert_eq!(conversation(&stored(keys::CONVERSATION, &conversation_text(&id))), Some(id));
    }

    #[test]
    fn rubbish_in_storage_is_as_good_as_nothing() {
        for text in [
            "",
            "null",
            "7",
            "[]",
            "{}",
            r#"{"visitorId":7}"#,
            r#"{"visitorId":"a\nb c\td e f"}"#,
            "{\"visitorId",
        ] {
            assert_eq!(visitor(&stored(keys::VISITOR, text)), None, "{text}");
            assert_eq!(conversation(&stored(keys::CONVERSATION, text)), None, "{text}");
            assert_eq!(config(&stored(keys::CONFIG, text)), None, "{text}");
        }
    }
}
