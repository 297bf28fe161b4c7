//! Conversations, events and requests as the operator console and `/sandbox/conversations` see them.

use chat_protocol::Value;

use crate::world::{
    Conversation, KeptJob, KeptMessage, LoggedRequest, ReceivedEvent, RequestLog, Review, World,
};

/// `GET /sandbox/conversations`: everything that visitors have brought about.
pub(crate) fn everything(world: &World, requests: &RequestLog) -> rusqlite::Result<Value> {
    let conversations = world.conversations()?;
    let whole = conversations.iter().map(|conversation| whole(world, conversation));
    Ok(Value::object([
        ("conversations", Value::List(whole.collect::<rusqlite::Result<_>>()?)),
        ("events", world.events()?.into_iter().map(event).collect()),
        ("requests", requests.iter().map(request).collect()),
    ]))
}

/// Maximum conversations in the console's list, and messages of one.
const CONVERSATIONS_SHOWN: u32 = 200;
const MESSAGES_SHOWN: u32 = 2000;

/// Returns the console's list: conversations whose visitor waits for a person come first, then by the newest message.
pub(crate) fn list(world: &World) -> rusqlite::Result<Value> {
    let conversations = world.latest_conversations(CONVERSATIONS_SHOWN)?;
    let summaries = conversations.iter().map(|conversation| summary(world, conversation));
    Ok(Value::List(summaries.collect::<rusqlite::Result<_>>()?))
}

/// One conversation with all that is known about its visitor.
pub(crate) fn whole(world: &World, conversation: &Conversation) -> rusqlite::Result<Value> {
    let messages = world.last_messages(&conversation.id, MESSAGES_SHOWN)?;
    let added = [
        ("messages", messages.iter().map(message).collect()),
        ("events", world.events_of(conversation)?.into_iter().map(event).collect()),
    ];
    Ok(with(summary(world, conversation)?, added))
}

fn summary(world: &World, conversation: &Conversation) -> rusqlite::Result<Value> {
    let mut visitor = conversation.visitor.clone();
    // What was found in the visitor's words fills in what the site did not tell.
    visitor.email = visitor.email.or_else(|| conversation.notes.email.clone());
    visitor.phone = visitor.phone.or_else(|| conversation.notes.phone.clone());
    Ok(Value::object([
        ("id", (&conversation.id).into()),
        ("createdAt", conversation.created_at.as_str().into()),
        ("visitor", (&visitor).into()),
        ("locale", conversation.locale.clone().into()),
        ("sourcePage", conversation.source_page.clone().into()),
        ("unread", i64::from(conversation.unread).into()),
        ("lead", (&conversation.notes.lead(&conversation.visitor)).into()),
        ("wantsPerson", conversation.notes.wants_person().into()),
        ("lastVisitorMessage", world.last_visitor_message(&conversation.id)?.as_ref().into()),
        ("lastMessage", world.last_message(&conversation.id)?.as_ref().into()),
    ]))
}

/// What the site's server has brought about: its record, content, list and jobs.
pub(crate) fn site(world: &World) -> rusqlite::Result<Value> {
    let site = world.site()?.map(|site| {
        Value::object([
            ("domain", site.domain.into()),
            ("platform", site.platform.into()),
            ("siteName", site.name.into()),
            ("primaryLocale", site.primary_locale.into()),
            ("supportedLocales", site.supported_locales),
            ("activatedAt", site.activated_at.into()),
        ])
    });
    Ok(Value::object([
        ("site", site.into()),
        ("contentItems", world.content_count()?.into()),
        ("content", Value::List(world.content(CONTENT_SHOWN)?)),
        ("reviews", world.reviews(REVIEWS_SHOWN)?.into_iter().map(review).collect()),
        ("jobs", world.jobs(JOBS_SHOWN)?.iter().map(job).collect()),
        ("events", world.latest_events(EVENTS_SHOWN)?.into_iter().map(event).collect()),
    ]))
}

/// As many items, events, entries of the list and jobs as somebody looks at.
const CONTENT_SHOWN: u32 = 200;
const EVENTS_SHOWN: u32 = 200;
const REVIEWS_SHOWN: u32 = 1000;
const JOBS_SHOWN: u32 = 1000;

fn review(review: Review) -> Value {
    Value::object([
        ("id", review.id.into()),
        ("kind", review.kind.as_str().into()),
        ("status", review.status.as_str().into()),
        ("path", review.path.into()),
        ("locale", review.locale.into()),
        ("title", review.title.into()),
        ("body", review.body),
        ("createdAt", review.created_at.into()),
        ("updatedAt", review.updated_at.into()),
    ])
}

pub(crate) fn job(kept: &KeptJob) -> Value {
    // The claim token is for the claim alone.
    let job = chat_protocol::Job { claim_token: None, ..kept.job.clone() };
    with(Value::from(&job), [("result", kept.result.clone()), ("error", kept.error.clone().into())])
}

fn message(kept: &KeptMessage) -> Value {
    with(Value::from(&kept.message), [("idempotencyKey", kept.key.clone().into())])
}

fn event(received: ReceivedEvent) -> Value {
    let added = [("receivedAt", received.received_at.into()), ("idempotencyKey", received.key.into())];
    with(received.event, added)
}

fn request(request: &LoggedRequest) -> Value {
    Value::object([
        ("method", request.method.as_str().into()),
        ("path", request.path.as_str().into()),
        ("idempotencyKey", request.key.clone().into()),
        ("status", request.status.map(i64::from).into()),
    ])
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
