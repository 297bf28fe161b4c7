//! PostgreSQL: connections that read, connections that write, and one that listens to what other nodes
//! announce.

mod listener;
mod notifier;
#[cfg(test)]
mod postgres_tests;
mod readers;

use std::pin::pin;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection as _, Executor, PgConnection, SqlStr};
use tokio::sync::{Mutex, broadcast};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::arg::bind;
use super::wake::Announcer;
use super::{
    Arg, Connection, DbError, DbStats, MAX_LONG_READERS, OpenError, Row, Tx, Wake, Work, migrations,
};
use crate::supervisor::supervise;
use notifier::Notifier;
use readers::Readers;

/// Maximum connections of one node that read.
const MAX_READERS: u32 = 8;
/// Maximum connections of one node that write. Their commits share the server's writes to the disk.
const MAX_WRITERS: u32 = 8;
/// Maximum connections of one node whose commits do not wait for the disk.
const MAX_UNFLUSHED: u32 = 3;
/// The time that a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time after which an unused connection is tested before it is used.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// The time after which work that is not done makes the service look whether the server still answers.
const PROBE_INTERVAL: Duration = Duration::from_secs(3);
/// The channel on which nodes announce changes.
const CHANNEL: &str = "chat_service";

#[derive(Debug)]
pub(super) struct Postgres {
    readers: Readers,
    /// For reads that may take long.
    long_readers: Readers,
    writers: PgPool,
    /// Writes whose commit is not flushed to the disk, and announcements.
    unflushed: PgPool,
    announcer: Announcer,
    notifier: Notifier,
    notifying: Mutex<JoinHandle<()>>,
    listening: JoinHandle<()>,
}

impl Postgres {
    /// Connects to a database, and migrates it.
    pub(super) async fn open(address: &str, announcer: Announcer) -> Result<Self, OpenError> {
        let mut connection = migrating(address).await?;
        migrations::migrate_postgres(&mut connection).await?;
        // The server notices a connection that is not closed.
        let _ = connection.close().await;
        let writers = open_pool(options(address)?, MAX_WRITERS).await?;
        Self::start(address, writers, MAX_READERS, MAX_UNFLUSHED, announcer).await
    }

    /// Connects to the database of a service that may be running.
    pub(super) async fn open_beside(address: &str, announcer: Announcer) -> Result<Self, OpenError> {
        let writers = open_pool(options(address)?, 1).await?;
        let mut connection = writers.acquire().await.map_err(OpenError::Connect)?;
        migrations::require_current(migrations::version_of_postgres(&mut connection).await)?;
        drop(connection);
        Self::start(address, writers, 1, 1, announcer).await
    }

    async fn start(
        address: &str,
        writers: PgPool,
        max_readers: u32,
        max_unflushed: u32,
        announcer: Announcer,
    ) -> Result<Self, OpenError> {
        let readers = Readers::open(options(address)?, max_readers).await?;
        // Of the server's processors, each may keep one busy.
        let long = options(address)?.options([("max_parallel_workers_per_gather", "0")]);
        let long_readers = Readers::cancelling(long, MAX_LONG_READERS);
        let unflushed = options(address)?.options([("synchronous_commit", "off")]);
        let unflushed = open_pool(unflushed, max_unflushed).await?;
        let own = listener::pool(options(address)?).await?;
        let listening = tokio::spawn({
            let (unflushed, announcer) = (unflushed.clone(), announcer.clone());
            async move {
                let listen = || listener::listen(&own, &unflushed, &announcer);
                supervise("the listener for changes of other nodes", listen).await;
            }
        });
        let notifier = Notifier::default();
        let notifying = Mutex::new(notifier.start(unflushed.clone()));
        Ok(Self { readers, long_readers, writers, unflushed, announcer, notifier, notifying, listening })
    }

    pub(super) fn stats(&self) -> DbStats {
        let (mut open, mut idle) = self.readers.stats();
        let (long_open, long_idle) = self.long_readers.stats();
        (open, idle) = (open.saturating_add(long_open), idle.saturating_add(long_idle));
        for pool in [&self.writers, &self.unflushed] {
            open = open.saturating_add(pool.size());
            idle = idle.saturating_add(u32::try_from(pool.num_idle()).unwrap_or(u32::MAX));
        }
        DbStats { open, idle, writes_waiting: 0 }
    }

    pub(super) async fn all(&self, sql: SqlStr, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        self.readers.all(sql, args).await
    }

    /// Returns the rows of a query that may take long, and ends the query when this is dropped.
    pub(super) async fn long_all(&self, sql: SqlStr, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        self.long_readers.all(sql, args).await
    }

    pub(super) async fn write<T, E: From<DbError>>(&self, work: impl Work<T, E>) -> Result<T, E> {
        watched(self.readers.source(), Box::pin(self.write_in(&self.writers, work))).await?
    }

    pub(super) async fn write_unflushed<T, E: From<DbError>>(&self, work: impl Work<T, E>) -> Result<T, E> {
        watched(self.readers.source(), Box::pin(self.write_in(&self.unflushed, work))).await?
    }

    async fn write_in<T, E: From<DbError>>(&self, pool: &PgPool, work: impl Work<T, E>) -> Result<T, E> {
        let transaction = pool.begin().await.map_err(DbError::from)?;
        let mut tx = Tx::new(Connection::Postgres(transaction));
        let value = match work(&mut tx).await {
            Ok(value) => value,
            Err(error) => {
                // A dropped transaction is rolled back too, but later: until then it holds its locks.
                if let Connection::Postgres(transaction) = tx.connection {
                    let _ = transaction.rollback().await;
                }
                return Err(error);
            }
        };
        for wake in tx.wakes.iter().filter(|wake| wake.is_committed()) {
            let payload = Arg::from(wake.payload());
            tx_notify(&mut tx.connection, payload).await?;
        }
        if let Connection::Postgres(transaction) = tx.connection {
            transaction.commit().await.map_err(DbError::from)?;
        }
        self.notifier.announce(tx.wakes.iter().filter(|wake| !wake.is_committed()).cloned());
        // This node need not wait for its own announcement; that one changes nothing more.
        for wake in tx.wakes {
            self.announcer.announce(wake);
        }
        Ok(value)
    }

    /// Announces something to all nodes. This one hears it with the others.
    pub(super) fn announce(&self, wake: Wake) {
        self.notifier.announce(std::iter::once(wake));
    }

    pub(super) fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.announcer.subscribe()
    }

    pub(super) async fn close(&self) {
        self.listening.abort();
        self.writers.close().await;
        self.notifier.close(&mut *self.notifying.lock().await).await;
        self.unflushed.close().await;
        self.long_readers.close().await;
        self.readers.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.listening.abort();
        self.notifying.get_mut().abort();
    }
}

/// Waits for the result of work in the database, as long as the server accepts new connections meanwhile. A
/// connection to a server that is gone may never say so.
async fn watched<T>(source: &PgPool, work: impl Future<Output = T>) -> Result<T, DbError> {
    let mut work = pin!(work);
    loop {
        if let Ok(done) = timeout(PROBE_INTERVAL, &mut work).await {
            return Ok(done);
        }
        tokio::select! {
            done = &mut work => return Ok(done),
            probe = source.acquire() => drop(probe?.detach()),
        }
    }
}

/// Opens a pool of at most `max_connections`. A connection that was used a moment ago is not tested again.
async fn open_pool(options: PgConnectOptions, max_connections: u32) -> Result<PgPool, OpenError> {
    pool(max_connections).connect_with(options).await.map_err(OpenError::Connect)
}

fn pool(max_connections: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(max_connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, state| {
            Box::pin(async move {
                if state.idle_for > TRUSTED_IDLE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}

/// Returns the settings of every connection to a database.
pub(crate) fn options(address: &str) -> Result<PgConnectOptions, OpenError> {
    Ok(PgConnectOptions::from_str(address)
        .map_err(OpenError::Address)?
        .application_name("site-connector")
        // A row that somebody else has locked must not hold a request for ever.
        .options([("lock_timeout", "10s"), ("statement_timeout", "30s")])
        .disable_statement_logging())
}

/// Opens a connection that migrates. It waits as long as it takes for another node that migrates, and for an
/// index of a large table.
pub(super) async fn migrating(address: &str) -> Result<PgConnection, OpenError> {
    let unlimited = options(address)?.options([("lock_timeout", "0"), ("statement_timeout", "0")]);
    unlimited.connect().await.map_err(OpenError::Connect)
}

async fn tx_notify(connection: &mut Connection, payload: Arg) -> Result<(), DbError> {
    if let Connection::Postgres(transaction) = connection {
        let sql = sqlx::SqlSafeStr::into_sql_str("SELECT pg_notify($1, $2)");
        all(transaction, sql, vec![Arg::from(CHANNEL), payload]).await?;
    }
    Ok(())
}

pub(super) async fn execute(
    connection: &mut PgConnection,
    sql: SqlStr,
    args: Vec<Arg>,
) -> Result<u64, DbError> {
    Ok(connection.execute(bind(sql, args)).await?.rows_affected())
}

pub(super) async fn all(
    connection: &mut PgConnection,
    sql: SqlStr,
    args: Vec<Arg>,
) -> Result<Vec<Row>, DbError> {
    let rows = connection.fetch_all(bind(sql, args)).await?;
    Ok(rows.into_iter().map(Row::Postgres).collect())
}
