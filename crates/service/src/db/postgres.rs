//! PostgreSQL: a pool of connections, and one that listens to what other nodes announce.

use std::str::FromStr;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use sqlx::query::Query;
use sqlx::{ConnectOptions, Connection as _, Executor, PgConnection, SqlStr};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tracing::warn;

use super::wake::Announcer;
use super::{Arg, Connection, DbError, DbStats, OpenError, Row, Tx, Wake, migrations};

/// Maximum connections of one node.
const MAX_CONNECTIONS: u32 = 16;
/// The time that a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The channel on which nodes announce changes.
const CHANNEL: &str = "chat_service";
/// The interval between attempts to listen again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Postgres {
    pool: PgPool,
    announcer: Announcer,
    listening: JoinHandle<()>,
}

impl Postgres {
    /// Connects to a database, and migrates it.
    pub(super) async fn open(address: &str, announcer: Announcer) -> Result<Self, OpenError> {
        let mut connection = migrating(address).await?;
        migrations::migrate_postgres(&mut connection).await?;
        // The server notices a connection that is not closed.
        let _ = connection.close().await;
        Ok(Self::start(pool(address, MAX_CONNECTIONS).await?, announcer))
    }

    /// Connects to the database of a service that may be running.
    pub(super) async fn open_beside(address: &str, announcer: Announcer) -> Result<Self, OpenError> {
        let pool = pool(address, 2).await?;
        let mut connection = pool.acquire().await.map_err(OpenError::Connect)?;
        migrations::require_current(migrations::version_of_postgres(&mut connection).await)?;
        drop(connection);
        Ok(Self::start(pool, announcer))
    }

    fn start(pool: PgPool, announcer: Announcer) -> Self {
        let listening = tokio::spawn(listen(pool.clone(), announcer.clone()));
        Self { pool, announcer, listening }
    }

    pub(super) fn stats(&self) -> DbStats {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        DbStats { open: self.pool.size(), idle, writes_waiting: 0 }
    }

    pub(super) async fn all(&self, sql: SqlStr, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        let mut connection = self.pool.acquire().await?;
        all(&mut connection, sql, args).await
    }

    pub(super) async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        E: From<DbError>,
        F: for<'tx> FnOnce(&'tx mut Tx) -> BoxFuture<'tx, Result<T, E>>,
    {
        let transaction = self.pool.begin().await.map_err(DbError::from)?;
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
        for wake in &tx.wakes {
            let payload = Arg::from(wake.payload());
            tx_notify(&mut tx.connection, payload).await?;
        }
        if let Connection::Postgres(transaction) = tx.connection {
            transaction.commit().await.map_err(DbError::from)?;
        }
        // This node need not wait for its own announcement; that one changes nothing more.
        for wake in tx.wakes {
            self.announcer.announce(wake);
        }
        Ok(value)
    }

    pub(super) fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.announcer.subscribe()
    }

    pub(super) async fn close(&self) {
        self.listening.abort();
        self.pool.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn pool(address: &str, max_connections: u32) -> Result<PgPool, OpenError> {
    let options = options(address)?;
    let pool = PgPoolOptions::new().max_connections(max_connections).acquire_timeout(ACQUIRE_TIMEOUT);
    pool.connect_with(options).await.map_err(OpenError::Connect)
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

/// Passes on what all nodes announce. After a lost connection, anything may have changed.
async fn listen(pool: PgPool, announcer: Announcer) {
    loop {
        if let Err(error) = listen_once(&pool, &announcer).await {
            warn!("announcements of other nodes are not received: {error}");
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

async fn listen_once(pool: &PgPool, announcer: &Announcer) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    announcer.announce(Wake::Everything);
    loop {
        // `None`: the connection was lost, and listens again.
        let wake = match listener.try_recv().await? {
            Some(notification) => Wake::from_payload(notification.payload()),
            None => Wake::Everything,
        };
        announcer.announce(wake);
    }
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

fn bind(sql: SqlStr, args: Vec<Arg>) -> Query<'static, sqlx::Postgres, PgArguments> {
    let mut query = sqlx::query(sql);
    for arg in args {
        query = match arg {
            Arg::Text(text) => query.bind(text),
            Arg::Int(number) => query.bind(number),
            Arg::Bytes(bytes) => query.bind(bytes),
        };
    }
    query
}
