//! Everything that the sandbox has been told, in SQLite: in a file, or in memory.

mod content;
mod conversations;
mod events;
mod jobs;
mod requests;
mod reviews;
mod site;

use std::path::Path;

use chat_protocol::Value;
use rusqlite::Connection;

use crate::clock::Clock;

pub(crate) use content::Passage;
pub(crate) use conversations::{Conversation, KeptMessage, new_message};
pub(crate) use events::ReceivedEvent;
pub(crate) use jobs::{KeptJob, NewJob, NotCompleted};
pub(crate) use requests::{LoggedRequest, RequestLog};
pub(crate) use reviews::{Review, ReviewKind, ReviewStatus};

const SCHEMA: &str = include_str!("world/schema.sql");

/// The number of the schema. A file of another one is refused rather than misread.
const SCHEMA_VERSION: i64 = 1;

/// Why a data file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is no database, cannot be written, or is held by somebody else.
    #[error("{path} cannot be used as the sandbox's data: {source}")]
    Database {
        /// The file.
        path: String,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// It was written by another version.
    #[error("{path} was written by another version of the sandbox (schema {found}): choose another file")]
    Schema {
        /// The file.
        path: String,
        /// The number of its schema.
        found: i64,
    },
}

/// What the sandbox knows. Every method is over in microseconds, so it is called under a lock from async code.
#[derive(Debug)]
pub(crate) struct World {
    db: Connection,
    pub(crate) clock: Clock,
    pub(crate) requests: RequestLog,
}

impl World {
    /// The world in this file, which is made when there is none; without one, a world in memory.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, OpenError> {
        let path = file.map_or_else(|| ":memory:".to_owned(), |file| file.display().to_string());
        let broken = |source| OpenError::Database { path: path.clone(), source };
        let db = match file {
            Some(file) => Connection::open(file),
            None => Connection::open_in_memory(),
        }
        .map_err(broken)?;
        // A sandbox that is killed may lose the last moment, never the file.
        db.pragma_update(None, "journal_mode", "WAL").map_err(broken)?;
        db.pragma_update(None, "synchronous", "NORMAL").map_err(broken)?;
        let found: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(broken)?;
        if found == 0 {
            db.execute_batch(&format!("BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"))
                .map_err(broken)?;
        } else if found != SCHEMA_VERSION {
            return Err(OpenError::Schema { path, found });
        }
        Ok(Self { db, clock: Clock::start(), requests: RequestLog::default() })
    }

    pub(crate) fn db(&self) -> &Connection {
        &self.db
    }

    /// Forgets conversations, events, requests and keys.
    pub(crate) fn forget_visitors(&mut self) -> rusqlite::Result<()> {
        self.requests = RequestLog::default();
        self.db.execute_batch(
            "DELETE FROM messages; DELETE FROM conversations; DELETE FROM events; DELETE FROM answers;",
        )
    }

    /// Forgets what the site's server has said: its record, content, overlays, jobs, and the keys.
    pub(crate) fn forget_site(&self) -> rusqlite::Result<()> {
        self.db.execute_batch(
            "DELETE FROM content_words; DELETE FROM content; DELETE FROM jobs; DELETE FROM reviews;
             DELETE FROM site; DELETE FROM answers;",
        )
    }
}

/// A JSON value out of a column; null when it is none, which nobody but a hand in the file can bring about.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
