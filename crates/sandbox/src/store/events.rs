//! The visitor events (6).

use chat_protocol::{IdempotencyKey, Value, VisitorEvent};
use rusqlite::{Row, params};

use super::conversations::truncated_visitor_id;
use super::{Conversation, Store, json};

/// Maximum stored events; the oldest are deleted first.
const MAX_EVENTS: i64 = 10_000;

/// Maximum shown events of one visitor.
const MAX_VISITOR_EVENTS: u32 = 200;

/// Maximum bytes of one event; a larger one is refused.
pub(crate) const MAX_EVENT_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct ReceivedEvent {
    /// The event as received.
    pub(crate) event: Value,
    pub(crate) received_at: String,
    pub(crate) key: Option<String>,
}

impl Store {
    pub(crate) fn add_events(
        &self,
        events: &[VisitorEvent],
        key: Option<&IdempotencyKey>,
    ) -> rusqlite::Result<()> {
        let change = self.db.unchecked_transaction()?;
        for event in events {
            let visitor = event.visitor_id.as_ref().map(truncated_visitor_id);
            let conversation = event.event_data.get("conversationId").and_then(Value::as_text);
            change.prepare_cached(
                "INSERT INTO events (body, visitor, conversation, received_at, key) VALUES (?, ?, ?, ?, ?)",
            )?
            .execute(params![
                Value::from(event).to_string(),
                visitor,
                conversation,
                self.clock.now(),
                key.map(IdempotencyKey::as_str)
            ])?;
        }
        change.execute(
            "DELETE FROM events WHERE position <= (SELECT max(position) FROM events) - ?",
            [MAX_EVENTS],
        )?;
        change.commit()
    }

    /// Returns the last `limit` events, newest first.
    pub(crate) fn latest_events(&self, limit: u32) -> rusqlite::Result<Vec<ReceivedEvent>> {
        let mut latest = self
            .db
            .prepare_cached("SELECT body, received_at, key FROM events ORDER BY position DESC LIMIT ?")?;
        latest.query_map([limit], read)?.collect()
    }

    /// Returns the latest events of a conversation's visitor, oldest first, by visitor id or
    /// `eventData.conversationId` (6).
    pub(crate) fn events_of(&self, conversation: &Conversation) -> rusqlite::Result<Vec<ReceivedEvent>> {
        let visitor = conversation.visitor.visitor_id.as_ref().map(chat_protocol::VisitorId::as_str);
        let mut events = self.db.prepare_cached(
            "SELECT body, received_at, key FROM events WHERE conversation = ? OR visitor = ?
             ORDER BY position DESC LIMIT ?",
        )?;
        let events =
            events.query_map(params![conversation.id.as_str(), visitor, MAX_VISITOR_EVENTS], read)?;
        let mut events = events.collect::<rusqlite::Result<Vec<_>>>()?;
        events.reverse();
        Ok(events)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<ReceivedEvent> {
    let body: String = row.get(0)?;
    Ok(ReceivedEvent { event: json(&body), received_at: row.get(1)?, key: row.get(2)? })
}
