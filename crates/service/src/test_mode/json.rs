//! The stored JSON of the views.

use chat_protocol::Value;

/// Reads stored JSON; null if it is invalid, as after an edit by hand.
pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns an object with members appended.
pub(super) fn with<const N: usize>(object: Value, added: [(&str, Value); N]) -> Value {
    match (object, Value::object(added)) {
        (Value::Object(mut members), Value::Object(added)) => {
            members.extend(added);
            Value::Object(members)
        }
        (other, _) => other,
    }
}
