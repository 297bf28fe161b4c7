//! The events of visitors (4.8, 6).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chat_protocol::{EventBatch, FieldError, IdempotencyKey, Tracking, Value, VisitorEvent};
use sqlx::AssertSqlSafe;

use super::{row_bytes, truncated_id};
use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::text::truncate_bytes;

/// Maximum bytes of an event's data as JSON; an event with more is refused.
pub(crate) const MAX_DATA_BYTES: usize = 2048;
/// Maximum bytes of an event's type and of its conversation's id, as they are searched for.
const MAX_NAME_BYTES: usize = 200;
/// Maximum bytes of a path, as it is shown.
const MAX_PATH_BYTES: usize = 500;
/// Maximum bytes of a page's title, as it is shown.
const MAX_TITLE_BYTES: usize = 300;
/// Maximum bytes of an address.
const MAX_URL_BYTES: usize = 1000;
/// Maximum bytes of the channel and of the time.
const MAX_WORD_BYTES: usize = 50;
/// Bytes that a stored event needs beside its own, as the database counts them.
const ROW_BYTES: usize = 200;

/// A stored event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReceivedEvent {
    pub(crate) no: i64,
    /// The event as received, with its texts cut to what is shown.
    pub(crate) event: Value,
    pub(crate) received_ms: i64,
}

impl ReceivedEvent {
    /// Returns the event as received, with the time of its receipt.
    pub(crate) fn view(&self) -> Value {
        let mut view = self.event.clone();
        if let Value::Object(members) = &mut view {
            members.push(("receivedAt".to_owned(), iso(self.received_ms).into()));
        }
        view
    }

    /// Returns a text of the event.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.event.get(name).and_then(Value::as_text).map(str::to_owned)
    }

    /// Returns a text of the event's data.
    pub(crate) fn data_text(&self, name: &str) -> Option<String> {
        self.event.get("eventData")?.get(name).and_then(Value::as_text).map(str::to_owned)
    }
}

/// Returns a batch with all texts cut to what is shown of them, and without the events that have too much
/// data.
pub(crate) fn bounded(batch: EventBatch) -> EventBatch {
    let EventBatch { events, mut refused } = batch;
    let mut kept = Vec::with_capacity(events.len());
    for event in events {
        if event.event_data.to_json().len() > MAX_DATA_BYTES {
            let problem = format!("must have at most {MAX_DATA_BYTES} bytes as JSON");
            refused.push(FieldError::new("eventData", problem));
        } else {
            kept.push(cut(event));
        }
    }
    EventBatch { events: kept, refused }
}

fn cut(event: VisitorEvent) -> VisitorEvent {
    let cut = |text: Option<String>, max| text.map(|text| truncate_bytes(&text, max).to_owned());
    VisitorEvent {
        event_type: truncate_bytes(&event.event_type, MAX_NAME_BYTES).to_owned(),
        visitor_id: event.visitor_id.map(|id| truncated_id(id.as_str()).into()),
        customer_id: event.customer_id.map(|id| truncated_id(&id).to_owned()),
        channel: cut(event.channel, MAX_WORD_BYTES),
        path: cut(event.path, MAX_PATH_BYTES),
        url: cut(event.url, MAX_URL_BYTES),
        title: cut(event.title, MAX_TITLE_BYTES),
        referrer: cut(event.referrer, MAX_URL_BYTES),
        event_data: event.event_data,
        created_at: cut(event.created_at, MAX_WORD_BYTES),
    }
}

/// Returns the bytes that a batch needs, about as the database counts them: those of its events, and of its
/// visitors, whether they are new or not.
pub(crate) fn stored_bytes(batch: &EventBatch) -> usize {
    let events: usize = batch.events.iter().map(|event| ROW_BYTES + Value::from(event).to_json().len()).sum();
    let visitors: BTreeSet<&str> = batch.events.iter().filter_map(visitor_id).collect();
    events + visitors.len() * row_bytes(None)
}

/// Stores a batch of events that is [`bounded`], and updates the page views, the last page and the time of
/// their visitors.
///
/// The caller checks that the site's tracking is enabled: see [`discard`].
pub(crate) async fn record(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    batch: &EventBatch,
    key: Option<&IdempotencyKey>,
) -> Result<Tracking, DbError> {
    let events: Vec<(&VisitorEvent, String)> =
        batch.events.iter().map(|event| (event, Value::from(event).to_json())).collect();
    if !events.is_empty() {
        // Visitors come first: their locks order this batch against an erasure.
        for (id, visit) in visits(&events) {
            add_visit(tx, now_ms, site_id, id, &visit).await?;
        }
        insert(tx, now_ms, site_id, &events, key).await?;
    }
    Ok(Tracking { accepted: count(events.len()), rejected: count(batch.refused.len()), enabled: true })
}

/// Returns the response to a batch for a site whose tracking is disabled. Nothing is stored.
pub(crate) fn discard(batch: &EventBatch) -> Tracking {
    Tracking { accepted: 0, rejected: count(batch.events.len() + batch.refused.len()), enabled: false }
}

fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

/// The events of one visitor in a batch, summarised.
#[derive(Debug, Default)]
struct Visit<'a> {
    customer_id: Option<&'a str>,
    page_views: i64,
    last_path: Option<&'a str>,
}

/// Returns the visits of a batch by visitor id. Their order is that of the ids, so that two batches never
/// wait for each other's locks.
fn visits<'a>(events: &[(&'a VisitorEvent, String)]) -> BTreeMap<String, Visit<'a>> {
    let mut visits = BTreeMap::<String, Visit<'a>>::new();
    for (event, _) in events {
        let Some(id) = visitor_id(event) else { continue };
        let visit = visits.entry(id.to_owned()).or_default();
        visit.page_views += i64::from(event.event_type == "page_view");
        visit.last_path = event.path.as_deref().or(visit.last_path);
        visit.customer_id = event.customer_id.as_deref().or(visit.customer_id);
    }
    visits
}

fn visitor_id(event: &VisitorEvent) -> Option<&str> {
    event.visitor_id.as_ref().map(|id| truncated_id(id.as_str())).filter(|id| !id.is_empty())
}

async fn add_visit(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    visitor_id: String,
    visit: &Visit<'_>,
) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO visitors (site_id, id, customer_id, first_seen_ms, last_seen_ms, page_views, last_path)
         VALUES ($1, $2, $3, $4, $4, $5, $6)
         ON CONFLICT (site_id, id) DO UPDATE SET
             customer_id = COALESCE(excluded.customer_id, visitors.customer_id),
             last_seen_ms = CASE WHEN excluded.last_seen_ms > visitors.last_seen_ms
                 THEN excluded.last_seen_ms ELSE visitors.last_seen_ms END,
             page_views = visitors.page_views + excluded.page_views,
             last_path = COALESCE(excluded.last_path, visitors.last_path)",
        args![
            site_id,
            visitor_id,
            visit.customer_id.map(truncated_id),
            now_ms,
            visit.page_views,
            visit.last_path.map(|path| truncate_bytes(path, MAX_PATH_BYTES)),
        ],
    )
    .await?;
    Ok(())
}

/// Inserts all events of a batch with one statement.
async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    events: &[(&VisitorEvent, String)],
    key: Option<&IdempotencyKey>,
) -> Result<(), DbError> {
    let mut sql =
        "INSERT INTO events (site_id, key, received_ms, visitor_id, conversation_id, type, path, event)
                   VALUES "
            .to_owned();
    let mut values = args![site_id, key.map(IdempotencyKey::as_str), now_ms];
    for (index, (event, json)) in events.iter().enumerate() {
        let first = values.len() + 1;
        let separator = if index == 0 { "" } else { ", " };
        let _ = write!(sql, "{separator}($1, $2, $3");
        for number in first..first + 5 {
            let _ = write!(sql, ", ${number}");
        }
        sql.push(')');
        let conversation = event.event_data.get("conversationId").and_then(Value::as_text);
        values.extend(args![
            visitor_id(event),
            conversation.map(|id| truncate_bytes(id, MAX_NAME_BYTES)),
            truncate_bytes(&event.event_type, MAX_NAME_BYTES),
            event.path.as_deref().map(|path| truncate_bytes(path, MAX_PATH_BYTES)),
            json,
        ]);
    }
    tx.execute(AssertSqlSafe(sql), values).await?;
    Ok(())
}

fn read(row: &Row) -> Result<ReceivedEvent, DbError> {
    let event = serde_json::from_str(&row.text(1)?).unwrap_or_default();
    Ok(ReceivedEvent { no: row.int(0)?, event, received_ms: row.int(2)? })
}

/// Returns the last `limit` events of a visitor, oldest first.
pub(crate) async fn recent(
    db: &Db,
    site_id: &str,
    visitor_id: &str,
    limit: i64,
) -> Result<Vec<ReceivedEvent>, DbError> {
    let sql = "SELECT no, event, received_ms FROM events WHERE site_id = $1 AND visitor_id = $2
               ORDER BY no DESC LIMIT $3";
    let rows = db.all(sql, args![site_id, truncated_id(visitor_id), limit]).await?;
    rows.iter().rev().map(read).collect()
}

/// The events that tell what the visitor of a conversation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trail<'a> {
    /// All events of a visitor whom the site has proved.
    Visitor(&'a str),
    /// Those that name the conversation. Only its visitor knows its id, while anybody can claim a visitor's.
    Conversation(&'a str),
}

/// Returns the last `limit` events of a trail, oldest first.
pub(crate) async fn of_trail(
    db: &Db,
    site_id: &str,
    trail: Trail<'_>,
    limit: i64,
) -> Result<Vec<ReceivedEvent>, DbError> {
    let id = match trail {
        Trail::Visitor(id) => return recent(db, site_id, id, limit).await,
        Trail::Conversation(id) => id,
    };
    let sql = "SELECT no, event, received_ms FROM events WHERE site_id = $1 AND conversation_id = $2
               ORDER BY no DESC LIMIT $3";
    let rows = db.all(sql, args![site_id, id, limit]).await?;
    rows.iter().rev().map(read).collect()
}

/// The events of a visitor, or those of a conversation that name no visitor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventsOf<'a> {
    Visitor(&'a str),
    Conversation(&'a str),
    /// Those of a conversation, whichever visitor they name.
    AllOfConversation(&'a str),
}

/// Returns at most `limit` events after the one with the number `after`, oldest first.
pub(super) async fn page(
    db: &Db,
    site_id: &str,
    of: EventsOf<'_>,
    after: i64,
    limit: i64,
) -> Result<Vec<ReceivedEvent>, DbError> {
    let (sql, id) = match of {
        EventsOf::Visitor(id) => (
            "SELECT no, event, received_ms FROM events WHERE site_id = $1 AND visitor_id = $2 AND no > $3
             ORDER BY no LIMIT $4",
            truncated_id(id),
        ),
        EventsOf::Conversation(id) => (
            "SELECT no, event, received_ms FROM events
             WHERE site_id = $1 AND conversation_id = $2 AND visitor_id IS NULL AND no > $3
             ORDER BY no LIMIT $4",
            id,
        ),
        EventsOf::AllOfConversation(id) => (
            "SELECT no, event, received_ms FROM events WHERE site_id = $1 AND conversation_id = $2 AND no > $3
             ORDER BY no LIMIT $4",
            id,
        ),
    };
    let rows = db.all(sql, args![site_id, id, after, limit]).await?;
    rows.iter().map(read).collect()
}

/// Returns the last `limit` events before the one with the number `before`, newest first.
pub(crate) async fn page_before(
    db: &Db,
    site_id: &str,
    of: EventsOf<'_>,
    before: i64,
    limit: i64,
) -> Result<Vec<ReceivedEvent>, DbError> {
    let (sql, id) = match of {
        EventsOf::Visitor(id) => (
            "SELECT no, event, received_ms FROM events WHERE site_id = $1 AND visitor_id = $2 AND no < $3
             ORDER BY no DESC LIMIT $4",
            truncated_id(id),
        ),
        EventsOf::Conversation(id) => (
            "SELECT no, event, received_ms FROM events
             WHERE site_id = $1 AND conversation_id = $2 AND visitor_id IS NULL AND no < $3
             ORDER BY no DESC LIMIT $4",
            id,
        ),
        EventsOf::AllOfConversation(id) => (
            "SELECT no, event, received_ms FROM events WHERE site_id = $1 AND conversation_id = $2 AND no < $3
             ORDER BY no DESC LIMIT $4",
            id,
        ),
    };
    let rows = db.all(sql, args![site_id, id, before, limit]).await?;
    rows.iter().map(read).collect()
}
