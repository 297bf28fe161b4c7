//! The sandbox's data in SQLite: in a file, or in memory.

mod content;
mod conversations;
mod events;
mod file;
mod jobs;
mod requests;
mod reviews;
mod site;

use std::path::Path;
use std::sync::Arc;

use chat_protocol::Value;
use rusqlite::Connection;

use crate::clock::Clock;
use crate::search::Index;

pub(crate) use content::prepare;
pub(crate) use conversations::{Conversation, StoredMessage, new_message, target_conversation};
pub(crate) use events::{MAX_EVENT_BYTES, ReceivedEvent};
pub use file::OpenError;
pub(crate) use jobs::{CompletionError, NewJob, StoredJob};
pub(crate) use requests::{LoggedRequest, RequestLog};
pub(crate) use reviews::{Review, ReviewKind, ReviewStatus};

/// The stored data. Every method takes microseconds, so it is called under a lock from async code.
#[derive(Debug)]
pub(crate) struct Store {
    db: Connection,
    pub(crate) clock: Clock,
    /// The search index of the content.
    index: Arc<Index>,
}

impl Store {
    /// Opens the store in a file, which is created if missing; without one, in memory.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, OpenError> {
        let db = file::open(file)?;
        let mut store = Self { db, clock: Clock::start(), index: Arc::default() };
        let path = file.map_or_else(|| ":memory:".to_owned(), |file| file.display().to_string());
        store.read_index().map_err(|source| OpenError::Database { path, source })?;
        Ok(store)
    }

    pub(crate) fn db(&self) -> &Connection {
        &self.db
    }

    /// Deletes conversations, events and idempotency keys.
    pub(crate) fn clear_visitors(&self) -> rusqlite::Result<()> {
        self.db.execute_batch(
            "DELETE FROM messages; DELETE FROM conversations; DELETE FROM events; DELETE FROM answers;",
        )
    }

    /// Deletes the site's record, content, overlays and jobs, and the idempotency keys.
    pub(crate) fn clear_site(&mut self) -> rusqlite::Result<()> {
        self.index = Arc::default();
        self.db.execute_batch(
            "DELETE FROM content; DELETE FROM jobs; DELETE FROM reviews;
             DELETE FROM site; DELETE FROM answers;",
        )
    }
}

/// Parses the JSON of a column; null if it is invalid, as after an edit by hand.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
