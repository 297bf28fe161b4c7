//! The JSON of the contract, and language tags.

use chat_protocol::{
    Activated, Activation, ChatConfig, ChatMessage, Claim, Completion, ContentItem, ContentPage, Done,
    EventBatch, History, Job, Overlay, OverlayList, Presence, SendMessage, SendResult, SiteStatus,
    SyncReceipt, Tracking, Value, VisitorEvent, VisitorProfile, is_language_tag, limits, open_envelope,
};

/// Checks that an accepted language tag is safe in a query, a cache key or a prompt.
pub fn language_tag(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if is_language_tag(&text) {
        assert!((1..=limits::LANGUAGE_TAG_LENGTH).contains(&text.len()), "{} bytes", text.len());
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{text:?}");
    }
}

/// Parses any JSON as every type of the contract, and writes it again.
pub fn json(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let written = value.to_string();
    let again: Value = serde_json::from_str(&written).expect("the output is JSON");
    assert_eq!(shape(&again), shape(&value), "{written}");
    for status in [200, 429, 503] {
        let _ = open_envelope(status, value.clone());
    }
    macro_rules! read {
        ($($kind:ty),*) => { $(let _ = <$kind>::try_from(value.clone());)* };
    }
    read!(
        Activated,
        Activation,
        ChatConfig,
        ChatMessage,
        Claim,
        ContentItem,
        ContentPage,
        EventBatch,
        History,
        Job,
        Overlay,
        OverlayList,
        Presence,
        SendMessage,
        SendResult,
        SiteStatus,
        SyncReceipt,
        Tracking,
        VisitorEvent,
        VisitorProfile
    );
    // A value that the journal stores survives a round trip.
    macro_rules! same {
        ($($kind:ty),*) => { $(
            if let Ok(read) = <$kind>::try_from(value.clone()) {
                let again = <$kind>::try_from(Value::from(&read)).expect("a parsed value can be written");
                assert_eq!(Value::from(&again).to_string(), Value::from(&read).to_string());
            }
        )* };
    }
    same!(Completion, Done);
}

/// Returns a value without its numbers, whose last digits may change, and without nulls, which objects omit.
fn shape(value: &Value) -> Value {
    match value {
        Value::Integer(_) | Value::Number(_) => Value::Null,
        Value::List(items) => Value::List(items.iter().map(shape).collect()),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(_, value)| !matches!(value, Value::Null | Value::Integer(_) | Value::Number(_)))
                .map(|(name, value)| (name.clone(), shape(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}
