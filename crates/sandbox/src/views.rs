//! Conversations, events and requests as the operator console and `/sandbox/conversations` show them.

use chat_protocol::Value;

use crate::store::{
    Conversation, LoggedRequest, ReceivedEvent, RequestLog, Review, Store, StoredJob, StoredMessage,
};

/// Maximum conversations on a page of `GET /sandbox/conversations`.
const MAX_PAGE_CONVERSATIONS: u32 = 100;
/// Maximum bytes of the conversations on a page. A single larger conversation gets a page of its own.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum events on a page.
const MAX_PAGE_EVENTS: u32 = 1000;

/// Returns a page of `GET /sandbox/conversations`: the conversations after the one with the id `after`,
/// oldest first, with the latest events and the logged requests. `nextAfter` is the `after` of the next page.
pub(crate) fn everything(
    store: &Store,
    requests: &RequestLog,
    after: Option<&str>,
) -> rusqlite::Result<Value> {
    let mut bytes = 0;
    let mut conversations = Vec::new();
    let mut next_after = None;
    for conversation in store.conversations(after, MAX_PAGE_CONVERSATIONS)? {
        let shown = whole(store, &conversation)?;
        bytes += shown.to_json().len();
        if bytes > MAX_PAGE_BYTES && !conversations.is_empty() {
            break;
        }
        conversations.push(shown);
        next_after = Some(conversation.id);
    }
    if conversations.is_empty() {
        next_after = store.last_conversation_id()?;
    }
    let mut events = store.latest_events(MAX_PAGE_EVENTS)?;
    events.reverse();
    Ok(Value::object([
        ("conversations", Value::List(conversations)),
        ("nextAfter", next_after.as_ref().into()),
        ("events", events.into_iter().map(event).collect()),
        ("requests", requests.iter().map(request).collect()),
    ]))
}

/// Maximum conversations in the console's list.
const MAX_LISTED_CONVERSATIONS: u32 = 200;
/// Maximum shown messages of a conversation.
const MAX_SHOWN_MESSAGES: u32 = 2000;

/// Returns the console's list: conversations whose visitor waits for a person come first, then by the newest
/// message.
pub(crate) fn list(store: &Store) -> rusqlite::Result<Value> {
    let conversations = store.latest_conversations(MAX_LISTED_CONVERSATIONS)?;
    let summaries = conversations.iter().map(|conversation| summary(store, conversation));
    Ok(Value::List(summaries.collect::<rusqlite::Result<_>>()?))
}

/// Returns one conversation with everything known about its visitor.
pub(crate) fn whole(store: &Store, conversation: &Conversation) -> rusqlite::Result<Value> {
    let messages = store.last_messages(&conversation.id, MAX_SHOWN_MESSAGES)?;
    let added = [
        ("messages", messages.iter().map(message).collect()),
        ("events", store.events_of(conversation)?.into_iter().map(event).collect()),
    ];
    Ok(with(summary(store, conversation)?, added))
}

fn summary(store: &Store, conversation: &Conversation) -> rusqlite::Result<Value> {
    let mut visitor = conversation.visitor.clone();
    // Contact details found in messages fill in missing fields of the profile.
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
        ("lastVisitorMessage", store.last_visitor_message(&conversation.id)?.as_ref().into()),
        ("lastMessage", store.last_message(&conversation.id)?.as_ref().into()),
    ]))
}

/// Returns the site's record, content, list and jobs.
pub(crate) fn site(store: &Store) -> rusqlite::Result<Value> {
    let site = store.site()?.map(|site| {
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
        ("contentItems", store.content_count()?.into()),
        ("content", Value::List(store.content(MAX_SHOWN_CONTENT)?)),
        ("reviews", store.reviews(MAX_SHOWN_REVIEWS)?.into_iter().map(review).collect()),
        ("jobs", store.jobs(MAX_SHOWN_JOBS)?.iter().map(job).collect()),
        ("events", store.latest_events(MAX_SHOWN_EVENTS)?.into_iter().map(event).collect()),
    ]))
}

/// Maximum shown content items.
const MAX_SHOWN_CONTENT: u32 = 200;
/// Maximum shown events.
const MAX_SHOWN_EVENTS: u32 = 200;
/// Maximum shown entries of the review-and-publish list.
const MAX_SHOWN_REVIEWS: u32 = 1000;
/// Maximum shown jobs.
const MAX_SHOWN_JOBS: u32 = 1000;

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

pub(crate) fn job(stored: &StoredJob) -> Value {
    // The claim token is for the holder of the claim only.
    let job = chat_protocol::Job { claim_token: None, ..stored.job.clone() };
    with(Value::from(&job), [("result", stored.result.clone()), ("error", stored.error.clone().into())])
}

fn message(stored: &StoredMessage) -> Value {
    with(Value::from(&stored.message), [("idempotencyKey", stored.key.clone().into())])
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

/// Returns an object with members appended.
fn with<const N: usize>(object: Value, added: [(&str, Value); N]) -> Value {
    match (object, Value::object(added)) {
        (Value::Object(mut members), Value::Object(added)) => {
            members.extend(added);
            Value::Object(members)
        }
        (other, _) => other,
    }
}
