//! Arbitrary JSON, and real JSON with mutations.

use chat_protocol::Value;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The names that a session reads, in storage, between tabs and from the service.
const NAMES: &[&str] = &[
    "accepted",
    "after",
    "aiStatus",
    "at",
    "attempts",
    "blocked",
    "body",
    "code",
    "config",
    "content",
    "conversationId",
    "createdAt",
    "cut",
    "data",
    "deferred",
    "delivery",
    "does",
    "email",
    "entries",
    "error",
    "eventType",
    "failed",
    "floor",
    "holdUntil",
    "id",
    "key",
    "lacks",
    "lead",
    "letter",
    "message",
    "messages",
    "name",
    "newest",
    "nextAfter",
    "notBefore",
    "notice",
    "offUntil",
    "ok",
    "operatorOnline",
    "path",
    "readUpTo",
    "replyDue",
    "revision",
    "role",
    "round",
    "seen",
    "serial",
    "shouldPollMessages",
    "suggestedMessageIntervalMs",
    "suggestedPresenceIntervalMs",
    "tab",
    "term",
    "text",
    "tracking",
    "userMessageId",
    "v",
    "value",
    "visible",
    "visitor",
    "visitorId",
    "widgetEnabled",
    "writer",
    "written",
];

/// Values of these names, and similar ones.
const WORDS: &[&str] = &[
    "",
    " ",
    "answered",
    "ask",
    "assistant",
    "batch:",
    "c1",
    "conversation",
    "disabled",
    "failed",
    "free",
    "hello",
    "keep",
    "lead",
    "mone",
    "operator",
    "outbox:",
    "outbox:m1",
    "provider_error",
    "reset",
    "retry",
    "seen",
    "sending",
    "user",
    "visitor",
    "waiting",
    "\u{202e}\0\u{fffd}",
];

/// The largest integer that a browser represents exactly.
const MAX_INTEGER: i64 = (1 << 53) - 1;

/// Returns numbers, mostly at the edges of integer types.
fn number() -> impl Strategy<Value = i64> {
    let edges = vec![
        -MAX_INTEGER,
        -1,
        0,
        1,
        2,
        (1 << 31) - 1,
        1 << 31,
        u32::MAX.into(),
        1 << 32,
        MAX_INTEGER - 1,
        MAX_INTEGER,
    ];
    prop_oneof![select(edges), -MAX_INTEGER..=MAX_INTEGER, 0..100_000i64]
}

fn text() -> impl Strategy<Value = String> {
    let word = select(WORDS).prop_map(str::to_owned);
    prop_oneof![3 => word, 1 => any::<String>(), 1 => (0..9_000usize).prop_map(|length| "a".repeat(length))]
}

/// Returns arbitrary JSON.
pub fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Integer),
        any::<f64>().prop_map(Value::Number),
        text().prop_map(Value::Text),
    ];
    let name = prop_oneof![8 => select(NAMES).prop_map(str::to_owned), 1 => any::<String>()];
    leaf.prop_recursive(5, 48, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::vec((name.clone(), inner), 0..10).prop_map(Value::Object),
        ]
    })
}

/// A mutation of a real document.
#[derive(Clone, Debug)]
pub struct Mutation {
    place: Index,
    kind: Kind,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Replaced,
    Removed,
    /// The member is there twice.
    Doubled,
    /// The member has another name.
    Renamed,
}

pub fn any_mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let kind = prop_oneof![
        4 => Just(Kind::Replaced),
        1 => Just(Kind::Removed),
        1 => Just(Kind::Doubled),
        1 => Just(Kind::Renamed),
    ];
    let mutation = (any::<Index>(), kind, any_value());
    prop::collection::vec(mutation.prop_map(|(place, kind, value)| Mutation { place, kind, value }), 0..5)
}

/// Applies mutations to a document.
pub fn mutated(document: &Value, mutations: &[Mutation]) -> Value {
    let mut document = document.clone();
    for mutation in mutations {
        let mut left = mutation.place.index(size(&document));
        mutate(&mut document, &mut left, mutation);
    }
    document
}

/// Returns the number of values in a value, itself included.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::List(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(_, member)| size(member)).sum(),
        _ => 0,
    }
}

/// Counts the values down, and changes the one at zero.
fn mutate(value: &mut Value, left: &mut usize, mutation: &Mutation) {
    if *left == 0 {
        value.clone_from(&mutation.value);
    }
    let Some(rest) = left.checked_sub(1) else {
        *left = usize::MAX;
        return;
    };
    *left = rest;
    match value {
        Value::List(items) => items.iter_mut().for_each(|item| mutate(item, left, mutation)),
        Value::Object(members) => {
            if *left < members.len() && !matches!(mutation.kind, Kind::Replaced) {
                let member = members[*left].clone();
                match mutation.kind {
                    Kind::Replaced => {}
                    Kind::Removed => _ = members.remove(*left),
                    Kind::Doubled => members.push((member.0, mutation.value.clone())),
                    Kind::Renamed => {
                        NAMES[member.1.to_json().len() % NAMES.len()].clone_into(&mut members[*left].0);
                    }
                }
                *left = usize::MAX;
                return;
            }
            for (_, member) in members {
                mutate(member, left, mutation);
            }
        }
        _ => {}
    }
}

/// Replaces bytes of a text. Invalid UTF-8 is decoded as browsers do.
pub fn with_replaced_bytes(text: &str, edits: &[(Index, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (place, byte) in edits {
        if !bytes.is_empty() {
            let index = place.index(bytes.len());
            bytes[index] = *byte;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
