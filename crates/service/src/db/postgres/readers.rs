//! The connections that read from PostgreSQL, outside of any transaction.
//!
//! A pool of sqlx asks a connection before and after each use whether it still works: three exchanges with
//! the server for a query that needs one. Here, a read whose connection was lost is executed again on a new
//! one instead. Reads have connections of their own, so that a poll never waits for a commit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgPool};
use sqlx::{Connection, PgConnection, SqlStr};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::warn;

use super::{ACQUIRE_TIMEOUT, all, open_pool, pool, watched};
use crate::db::{Arg, DbError, OpenError, Row};

/// The time after which a connection is replaced, so that its server process does not grow for ever.
const MAX_LIFETIME: Duration = Duration::from_mins(30);

/// Connections that read. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Readers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Opens connections, and waits for a server that is starting.
    source: PgPool,
    idle: Mutex<Vec<Reader>>,
    permits: Arc<Semaphore>,
    max: u32,
    /// Whether the server is told to end a query that nobody waits for any more.
    cancels: bool,
}

#[derive(Debug)]
struct Reader {
    connection: PgConnection,
    opened: Instant,
    /// The server's process, whose query may be cancelled.
    process: Option<i32>,
}

impl Readers {
    /// Prepares at most `max` connections, and opens one of them.
    pub(super) async fn open(options: PgConnectOptions, max: u32) -> Result<Self, OpenError> {
        Ok(Self::new(open_pool(options, max).await?, max, false))
    }

    /// Prepares at most `max` connections, which are opened when they are needed. A query ends when nobody
    /// waits for it any more.
    pub(super) fn cancelling(options: PgConnectOptions, max: u32) -> Self {
        Self::new(pool(max).connect_lazy_with(options), max, true)
    }

    fn new(source: PgPool, max: u32, cancels: bool) -> Self {
        let permits = Arc::new(Semaphore::new(max as usize));
        Self(Arc::new(Shared { source, idle: Mutex::default(), permits, max, cancels }))
    }

    /// Returns the rows of a query that changes nothing.
    pub(super) async fn all(&self, sql: SqlStr, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        let permit = timeout(ACQUIRE_TIMEOUT, Arc::clone(&self.0.permits).acquire_owned())
            .await
            .map_err(|_| sqlx::Error::PoolTimedOut)?
            .map_err(|_| sqlx::Error::PoolClosed)?;
        let mut lease = Lease { shared: Arc::clone(&self.0), reader: None, permit: Some(permit) };
        let idle = self.0.idle().pop();
        if let Some(idle) = idle {
            let reader = lease.reader.insert(idle);
            let work = all(&mut reader.connection, sql.clone(), args.clone());
            match watched(&self.0.source, work).await {
                Err(error) => {
                    lease.reader = None;
                    return Err(error);
                }
                Ok(Err(error)) if error.is_lost_connection() => lease.reader = None,
                Ok(outcome) => {
                    lease.finish();
                    return outcome;
                }
            }
        }
        let reader = lease.reader.insert(self.0.connect().await?);
        let work = all(&mut reader.connection, sql, args);
        let outcome = watched(&self.0.source, work).await.flatten();
        match &outcome {
            Ok(_) => lease.finish(),
            Err(_) => lease.reader = None,
        }
        outcome
    }

    /// Returns the pool that opens the connections.
    pub(super) fn source(&self) -> &PgPool {
        &self.0.source
    }

    /// Returns how many connections are open, and how many of them are idle.
    pub(super) fn stats(&self) -> (u32, u32) {
        let idle = u32::try_from(self.0.idle().len()).unwrap_or(u32::MAX);
        let free = u32::try_from(self.0.permits.available_permits()).unwrap_or(u32::MAX);
        (self.0.max.saturating_sub(free).saturating_add(idle), idle)
    }

    /// Closes all connections, after the reads in progress.
    pub(super) async fn close(&self) {
        // Fails when it is closed already.
        let all_permits = self.0.permits.acquire_many(self.0.max).await;
        self.0.permits.close();
        drop(all_permits);
        let idle = std::mem::take(&mut *self.0.idle());
        for reader in idle {
            // The server closes its side in any case.
            let _ = reader.connection.close().await;
        }
        self.0.source.close().await;
    }
}

impl Shared {
    async fn connect(&self) -> Result<Reader, DbError> {
        let mut connection = self.source.acquire().await?.detach();
        let process = if self.cancels {
            let process = sqlx::query_scalar("SELECT pg_backend_pid()");
            Some(process.fetch_one(&mut connection).await?)
        } else {
            None
        };
        Ok(Reader { connection, opened: Instant::now(), process })
    }

    /// Ends the query of a process of the server, whose connection nobody uses any more.
    async fn cancel(&self, process: i32) {
        let cancel = sqlx::query("SELECT pg_cancel_backend($1)").bind(process);
        if let Err(error) = cancel.execute(&self.source).await {
            warn!("a query that nobody waits for goes on until its time limit: {error}");
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_back(&self, reader: Reader) {
        if reader.opened.elapsed() < MAX_LIFETIME {
            self.idle().push(reader);
        }
    }
}

/// A connection in use.
struct Lease {
    shared: Arc<Shared>,
    reader: Option<Reader>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Lease {
    /// Gives back a connection whose query is done.
    fn finish(mut self) {
        if let Some(reader) = self.reader.take() {
            self.shared.put_back(reader);
        }
    }
}

impl Drop for Lease {
    /// Reads the rest of a response that nobody waits for any more, and gives back the connection. One that
    /// cancels is closed: its server may hear of the cancellation later.
    fn drop(&mut self) {
        let (Some(mut reader), permit) = (self.reader.take(), self.permit.take()) else { return };
        let shared = Arc::clone(&self.shared);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                if let Some(process) = reader.process {
                    shared.cancel(process).await;
                } else if reader.connection.ping().await.is_ok() {
                    shared.put_back(reader);
                }
                drop(permit);
            });
        }
    }
}
