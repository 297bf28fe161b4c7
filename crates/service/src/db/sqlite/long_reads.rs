//! The connections for reads that may take long. A read that nobody waits for any more is interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use sqlx::SqlStr;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};

use crate::db::{Arg, DbError, MAX_LONG_READERS, Row};

/// The number of instructions of SQLite between two looks at whether a read was interrupted: less than a
/// millisecond.
const INTERRUPTION_INTERVAL: i32 = 10_000;

#[derive(Debug)]
pub(super) struct LongReaders(SqlitePool);

impl LongReaders {
    /// Prepares the connections. The first is opened when it is needed.
    pub(super) fn new(options: SqliteConnectOptions) -> Self {
        Self(SqlitePoolOptions::new().max_connections(MAX_LONG_READERS).connect_lazy_with(options))
    }

    pub(super) async fn all(&self, sql: SqlStr, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        let mut reader = self.0.acquire().await?;
        // Dropped before the connection goes back, which waits for the end of its statement.
        let read = Read::default();
        let is_over = Arc::clone(&read.is_over);
        let proceed = move || !is_over.load(Relaxed);
        reader.lock_handle().await?.set_progress_handler(INTERRUPTION_INTERVAL, proceed);
        super::all(&mut reader, sql, args).await
    }

    /// Returns how many connections are open, and how many of them are idle.
    pub(super) fn stats(&self) -> (u32, u32) {
        (self.0.size(), u32::try_from(self.0.num_idle()).unwrap_or(u32::MAX))
    }

    pub(super) async fn close(&self) {
        self.0.close().await;
    }
}

/// A read in progress. Its statement ends when this is dropped.
#[derive(Debug, Default)]
struct Read {
    is_over: Arc<AtomicBool>,
}

impl Drop for Read {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
    }
}
