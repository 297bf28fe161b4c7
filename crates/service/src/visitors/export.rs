//! Exports everything that is stored about a person, as one JSON document.
//!
//! The document is read from the database page by page while it is sent, so that its size does not matter. It
//! is a long read of the tenant, which gives up its turn while a client that reads slowly is waited for.

use std::io;

use axum::body::{Body, Bytes};
use chat_protocol::Value;
use serde::Serialize;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio_stream::wrappers::ReceiverStream;
use tracing::error;

use super::events::{self, EventsOf};
use super::subject::Subject;
use super::{COLUMNS, SiteVisitor, read};
use crate::clock::iso;
use crate::db::{Db, DbError, Row, args};
use crate::turns::Turn;

/// Rows of one read.
const PAGE: i64 = 100;
/// The size at which a part of the document is sent.
const CHUNK_BYTES: usize = 32 * 1024;
/// Maximum parts that wait for the client.
const MAX_CHUNKS: usize = 2;

/// Returns the document as the body of a response. An error of the database cuts the body off.
pub(super) fn document(turn: Turn, db: Db, now_ms: i64, site_id: &str, subject: Subject) -> Body {
    let (sender, chunks) = mpsc::channel(MAX_CHUNKS);
    let (site_id, buffer) = (site_id.to_owned(), String::new());
    let export = Export { turn, db, site_id, sender: sender.clone(), buffer };
    // Ends with the client, whose body the channel is.
    tokio::spawn(async move {
        match export.write(now_ms, subject).await {
            Ok(()) | Err(Stopped::ClientGone) => {}
            Err(Stopped::Database(problem)) => {
                error!("an export failed: {problem}");
                let _ = sender.send(Err(io::Error::other("the database failed"))).await;
            }
        }
    });
    Body::from_stream(ReceiverStream::new(chunks))
}

/// The reason why a document is not complete.
enum Stopped {
    ClientGone,
    Database(DbError),
}

impl From<DbError> for Stopped {
    fn from(error: DbError) -> Self {
        Self::Database(error)
    }
}

struct Export {
    turn: Turn,
    db: Db,
    site_id: String,
    sender: mpsc::Sender<Result<Bytes, io::Error>>,
    buffer: String,
}

impl Export {
    async fn write(mut self, now_ms: i64, subject: Subject) -> Result<(), Stopped> {
        let head =
            Value::object([("siteId", self.site_id.as_str().into()), ("exportedAt", iso(now_ms).into())]);
        self.open_object(&head);
        self.buffer.push_str(r#","visitors":["#);
        for (index, no) in subject.visitors.keys().enumerate() {
            self.separate(index);
            self.visitor(*no).await?;
        }
        // Conversations whose visitor has no id.
        self.buffer.push_str(r#"],"conversations":["#);
        let mut index = 0;
        for no in subject.conversations.keys() {
            let sql = sqlx::AssertSqlSafe(format!("{CONVERSATION} WHERE site_id = $1 AND no = $2"));
            if let Some(row) = self.db.optional(sql, args![&self.site_id, *no]).await? {
                self.separate(index);
                let id = row.text(1)?;
                self.conversation(&row, EventsOf::AllOfConversation(&id)).await?;
                index += 1;
            }
        }
        self.buffer.push_str("]}");
        self.send().await
    }

    async fn visitor(&mut self, no: i64) -> Result<(), Stopped> {
        let sql = format!("SELECT {COLUMNS} FROM visitors WHERE site_id = $1 AND no = $2");
        let row = self.db.optional(sqlx::AssertSqlSafe(sql), args![&self.site_id, no]).await?;
        let Some(visitor) = row.as_ref().map(read).transpose()? else {
            // Erased in the meantime.
            self.buffer.push_str("null");
            return Ok(());
        };
        let id = visitor.id.clone();
        self.open_object(&SiteVisitor::from(visitor));
        self.buffer.push_str(r#","conversations":["#);
        let (mut after, mut index) = (0, 0);
        loop {
            let sql = format!("{CONVERSATION} WHERE visitor_no = $1 AND no > $2 ORDER BY no LIMIT $3");
            let rows = self.db.all(sqlx::AssertSqlSafe(sql), args![no, after, PAGE]).await?;
            for row in &rows {
                self.separate(index);
                // Events that name a visitor are the visitor's.
                let id = row.text(1)?;
                self.conversation(row, EventsOf::Conversation(&id)).await?;
                (after, index) = (row.int(0)?, index + 1);
            }
            if rows.is_empty() {
                break;
            }
        }
        self.buffer.push(']');
        self.events(EventsOf::Visitor(&id)).await?;
        self.buffer.push('}');
        self.send_full().await
    }

    async fn conversation(&mut self, row: &Row, events: EventsOf<'_>) -> Result<(), Stopped> {
        let no = row.int(0)?;
        self.open_object(&conversation_view(row)?);
        for (name, sql) in [("messages", MESSAGES), ("notes", NOTES)] {
            for part in [",\"", name, "\":["] {
                self.buffer.push_str(part);
            }
            let (mut after, mut index) = (0, 0);
            loop {
                let rows = self.db.all(sql, args![no, after, PAGE]).await?;
                for row in &rows {
                    self.separate(index);
                    self.buffer.push_str(&message_view(row)?.to_json());
                    (after, index) = (row.int(0)?, index + 1);
                    self.send_full().await?;
                }
                if rows.is_empty() {
                    break;
                }
            }
            self.buffer.push(']');
        }
        self.events(events).await?;
        self.buffer.push('}');
        Ok(())
    }

    /// Writes the member `events`.
    async fn events(&mut self, of: EventsOf<'_>) -> Result<(), Stopped> {
        self.buffer.push_str(r#","events":["#);
        let (mut after, mut index) = (0, 0);
        loop {
            let page = events::page(&self.db, &self.site_id, of, after, PAGE).await?;
            for event in &page {
                self.separate(index);
                self.buffer.push_str(&event.view().to_json());
                (after, index) = (event.no, index + 1);
                self.send_full().await?;
            }
            if page.is_empty() {
                break;
            }
        }
        self.buffer.push(']');
        Ok(())
    }

    /// Writes an object without its closing brace.
    fn open_object(&mut self, object: &impl Serialize) {
        let json = serde_json::to_string(object).unwrap_or_default();
        self.buffer.push_str(json.strip_suffix('}').unwrap_or(&json));
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.buffer.push(',');
        }
    }

    async fn send_full(&mut self) -> Result<(), Stopped> {
        if self.buffer.len() < CHUNK_BYTES { Ok(()) } else { self.send().await }
    }

    async fn send(&mut self) -> Result<(), Stopped> {
        let chunk = Bytes::from(std::mem::take(&mut self.buffer));
        match self.sender.try_send(Ok(chunk)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(chunk)) => {
                self.turn.pause(self.sender.send(chunk)).await.map_err(|_| Stopped::ClientGone)
            }
            Err(TrySendError::Closed(_)) => Err(Stopped::ClientGone),
        }
    }
}

const CONVERSATION: &str = "SELECT no, id, status, locale, source_page, profile, notes, score, created_ms,
    updated_ms, closed_ms, blocked,
    (SELECT string_agg(l.name, ', ' ORDER BY l.name) FROM conversation_labels c JOIN labels l ON l.id = c.label_id
     WHERE c.conversation_no = conversations.no)
    FROM conversations";

fn conversation_view(row: &Row) -> Result<Value, DbError> {
    let json = |text: String| -> Value { serde_json::from_str(&text).unwrap_or_default() };
    Ok(Value::object([
        ("id", row.text(1)?.into()),
        ("status", row.text(2)?.into()),
        ("locale", row.optional_text(3)?.into()),
        ("sourcePage", row.optional_text(4)?.into()),
        ("profile", json(row.text(5)?)),
        ("lead", json(row.text(6)?)),
        ("score", row.int(7)?.into()),
        ("createdAt", iso(row.int(8)?).into()),
        ("updatedAt", iso(row.int(9)?).into()),
        ("closedAt", row.optional_int(10)?.map(iso).into()),
        ("blocked", row.flag(11)?.into()),
        ("labels", row.optional_text(12)?.into()),
    ]))
}

const MESSAGES: &str = "SELECT seq, role, content, operator_name, created_ms FROM messages
    WHERE conversation_no = $1 AND seq > $2 ORDER BY seq LIMIT $3";
const NOTES: &str = "SELECT no, kind, content, operator_name, created_ms FROM notes
    WHERE conversation_no = $1 AND no > $2 ORDER BY no LIMIT $3";

/// Returns a message, or a note of an operator.
fn message_view(row: &Row) -> Result<Value, DbError> {
    Ok(Value::object([
        ("role", row.text(1)?.into()),
        ("content", row.text(2)?.into()),
        ("operatorName", row.optional_text(3)?.into()),
        ("createdAt", iso(row.int(4)?).into()),
    ]))
}
