//! Conversations, events and requests as the operator console and `/sandbox/conversations` see them.

use chat_protocol::{ChatMessage, IdempotencyKey, Value};

use crate::world::{Conversation, KeptMessage, LoggedRequest, ReceivedEvent, World};

/// `GET /sandbox/conversations`: everything.
pub(crate) fn everything(world: &World) -> Value {
    Value::object([
        (
            "conversations",
            world.conversations.iter().map(|conversation| whole(world, conversation)).collect(),
        ),
        ("events", world.events.iter().map(event).collect()),
        ("requests", world.requests.iter().map(request).collect()),
    ])
}

/// The console's list: who wrote last comes first.
pub(crate) fn list(world: &World) -> Value {
    let mut conversations: Vec<_> = world.conversations.iter().collect();
    conversations.sort_by_key(|conversation| {
        std::cmp::Reverse(last(conversation).and_then(|last| last.created_at.as_deref()))
    });
    conversations.into_iter().map(summary).collect()
}

/// One conversation with all that is known about its visitor.
pub(crate) fn whole(world: &World, conversation: &Conversation) -> Value {
    let added = [
        ("messages", conversation.messages.iter().map(message).collect()),
        ("events", world.events_of(conversation).map(event).collect()),
    ];
    with(summary(conversation), added)
}

fn summary(conversation: &Conversation) -> Value {
    let mut visitor = conversation.visitor.clone();
    // What was found in the visitor's words fills in what the site did not tell.
    visitor.email = visitor.email.or_else(|| conversation.notes.email.clone());
    visitor.phone = visitor.phone.or_else(|| conversation.notes.phone.clone());
    Value::object([
        ("id", (&conversation.id).into()),
        ("createdAt", conversation.created_at.as_str().into()),
        ("visitor", (&visitor).into()),
        ("locale", conversation.locale.clone().into()),
        ("sourcePage", conversation.source_page.clone().into()),
        ("unread", i64::from(conversation.unread).into()),
        ("lead", (&conversation.notes.lead(&conversation.visitor)).into()),
        ("lastMessage", last(conversation).into()),
    ])
}

fn last(conversation: &Conversation) -> Option<&ChatMessage> {
    conversation.messages.last().map(|kept| &kept.message)
}

fn message(kept: &KeptMessage) -> Value {
    with(Value::from(&kept.message), [("idempotencyKey", key(kept.key.as_ref()))])
}

fn event(received: &ReceivedEvent) -> Value {
    let added = [
        ("receivedAt", received.received_at.as_str().into()),
        ("idempotencyKey", key(received.key.as_ref())),
    ];
    with(Value::from(&received.event), added)
}

fn request(request: &LoggedRequest) -> Value {
    Value::object([
        ("method", request.method.as_str().into()),
        ("path", request.path.as_str().into()),
        ("idempotencyKey", request.key.clone().into()),
        ("status", request.status.map(i64::from).into()),
    ])
}

fn key(key: Option<&IdempotencyKey>) -> Value {
    key.into()
}

/// An object with more members at its end.
fn with<const N: usize>(object: Value, added: [(&str, Value); N]) -> Value {
    match (object, Value::object(added)) {
        (Value::Object(mut members), Value::Object(added)) => {
            members.extend(added);
            Value::Object(members)
        }
        (other, _) => other,
    }
}
