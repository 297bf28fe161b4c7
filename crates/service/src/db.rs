//! The database: SQLite in a file, or PostgreSQL.
//!
//! SQL is written once, for both. It uses `$1` for arguments, [`BIGINT`](Arg::Int) for numbers, times and
//! booleans, and `TEXT` for everything else but hashes. Where the databases differ, [`Dialect`] says so.

mod arg;
#[cfg(test)]
mod db_tests;
mod error;
mod like;
pub(crate) mod migrations;
mod numbers;
pub(crate) mod postgres;
mod row;
pub(crate) mod sqlite;
mod wake;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::SqlSafeStr;
use tokio::sync::broadcast;

pub(crate) use arg::{Arg, args};
pub(crate) use error::DbError;
pub use error::OpenError;
pub(crate) use like::{beginning_with, containing};
pub(crate) use numbers::{MAX_NUMBERS, Numbers, placeholders};
pub(crate) use row::Row;
use wake::Announcer;
pub(crate) use wake::Wake;

use postgres::Postgres;
use sqlite::Sqlite;

/// Makes the work of a transaction out of a block: `work!(|tx| { … })`.
///
/// The future that borrows the transaction must be `Send`, which no bound on an `async` closure can say yet.
macro_rules! work {
    (|$tx:ident| $block:expr) => {
        $crate::db::work_of(move |$tx| Box::pin(async move { $block }))
    };
    (|$tx:ident, $($argument:pat_param),+| $block:expr) => {
        move |$tx, $($argument),+| Box::pin(async move { $block })
    };
}
pub(crate) use work;

/// Executes a block in a transaction: `transaction!(db, |tx| { … }).await`. See [`Db::write`].
macro_rules! transaction {
    ($db:expr, |$tx:ident| $block:expr) => {
        $db.write($crate::db::work!(|$tx| $block))
    };
}
pub(crate) use transaction;

/// The closure that a transaction executes. [`work!`] makes one.
pub(crate) trait Work<T, E>:
    for<'tx> FnOnce(&'tx mut Tx) -> BoxFuture<'tx, Result<T, E>> + Send + 'static
{
}

impl<T, E, F> Work<T, E> for F where
    F: for<'tx> FnOnce(&'tx mut Tx) -> BoxFuture<'tx, Result<T, E>> + Send + 'static
{
}

/// Returns a closure as it is, and tells the compiler its type.
pub(crate) fn work_of<T, E, F>(work: F) -> F
where
    F: for<'tx> FnOnce(&'tx mut Tx) -> BoxFuture<'tx, Result<T, E>>,
{
    work
}

/// The database's flavour of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// A database. Clones share its connections.
#[derive(Clone, Debug)]
pub(crate) struct Db {
    backend: Arc<Backend>,
    reads: Reads,
}

/// Maximum connections of one node for reads that may take long.
const MAX_LONG_READERS: u32 = 4;

/// The connections that a [`Db`] reads with, outside of any transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// Those of requests that somebody waits for.
    Short,
    /// Those for reads that may take long.
    Long,
}

#[derive(Debug)]
enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Db {
    /// Opens a database, and migrates it to this version's schema. `address` is `postgres://…`, or the path
    /// of an SQLite file, which is created if missing.
    ///
    /// `caches` hears of each change of this node before its writer does, and of those of other nodes.
    pub(crate) async fn open(
        address: &str,
        caches: Arc<dyn Fn(&Wake) + Send + Sync>,
    ) -> Result<Self, OpenError> {
        let announcer = Announcer::new(caches);
        let backend = if is_postgres(address) {
            Backend::Postgres(Postgres::open(address, announcer).await?)
        } else {
            Backend::Sqlite(Sqlite::open(address.as_ref(), announcer).await?)
        };
        Ok(Self { backend: Arc::new(backend), reads: Reads::Short })
    }

    /// Opens a database for a test without caches.
    #[cfg(test)]
    pub(crate) async fn open_uncached(address: &str) -> Result<Self, OpenError> {
        Self::open(address, Arc::new(|_| {})).await
    }

    /// Opens the database of a service, which may be running, for a command. The schema must be of this
    /// version: only a service migrates.
    pub(crate) async fn open_beside(
        address: &str,
        caches: Arc<dyn Fn(&Wake) + Send + Sync>,
    ) -> Result<Self, OpenError> {
        let announcer = Announcer::new(caches);
        let backend = if is_postgres(address) {
            Backend::Postgres(Postgres::open_beside(address, announcer).await?)
        } else {
            Backend::Sqlite(Sqlite::open_beside(address.as_ref(), announcer).await?)
        };
        Ok(Self { backend: Arc::new(backend), reads: Reads::Short })
    }

    /// Returns the same database for reads that may take long, such as a search. These have connections of
    /// their own, and a query ends when its caller is dropped.
    pub(crate) fn for_long_reads(&self) -> Self {
        Self { reads: Reads::Long, ..self.clone() }
    }

    /// Returns how many connections are open, and how many writes wait.
    pub(crate) fn stats(&self) -> DbStats {
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.stats(),
            Backend::Postgres(postgres) => postgres.stats(),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &*self.backend {
            Backend::Sqlite(_) => Dialect::Sqlite,
            Backend::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Returns the rows of a query, outside of any transaction.
    pub(crate) fn all(
        &self,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
    ) -> BoxFuture<'_, Result<Vec<Row>, DbError>> {
        let sql = sql.into_sql_str();
        match (&*self.backend, self.reads) {
            (Backend::Sqlite(sqlite), Reads::Short) => Box::pin(sqlite.all(sql, args)),
            (Backend::Sqlite(sqlite), Reads::Long) => Box::pin(sqlite.long_all(sql, args)),
            (Backend::Postgres(postgres), Reads::Short) => Box::pin(postgres.all(sql, args)),
            (Backend::Postgres(postgres), Reads::Long) => Box::pin(postgres.long_all(sql, args)),
        }
    }

    /// Returns the first row of a query, if any.
    pub(crate) async fn optional(
        &self,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
    ) -> Result<Option<Row>, DbError> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    /// Returns the only row of a query such as `SELECT count(*)`.
    pub(crate) async fn one(&self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<Row, DbError> {
        self.optional(sql, args).await?.ok_or_else(DbError::no_row)
    }

    /// Executes `work` in a transaction, which is committed when `work` succeeds and rolled back when it
    /// fails. Once this returns `Ok`, the change survives a crash of the machine.
    ///
    /// With SQLite, transactions run one after the other, and those that wait share a commit. The work goes
    /// on when the caller is dropped.
    pub(crate) fn write<T, E>(&self, work: impl Work<T, E>) -> BoxFuture<'_, Result<T, E>>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        match &*self.backend {
            Backend::Sqlite(sqlite) => Box::pin(sqlite.write(work)),
            Backend::Postgres(postgres) => Box::pin(postgres.write(work)),
        }
    }

    /// Executes `work` like [`Self::write`], for changes that a crash of the machine may undo. On PostgreSQL,
    /// the transaction holds its locks only while it works, not until the disk has it. The next commit of
    /// [`Self::write`], of any node, makes it durable: the server's log is written in its order.
    pub(crate) fn write_unflushed<T, E>(&self, work: impl Work<T, E>) -> BoxFuture<'_, Result<T, E>>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        match &*self.backend {
            Backend::Sqlite(sqlite) => Box::pin(sqlite.write(work)),
            Backend::Postgres(postgres) => Box::pin(postgres.write_unflushed(work)),
        }
    }

    /// Announces something that is not stored, to all nodes.
    pub(crate) fn announce(&self, wake: Wake) {
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.announce(wake),
            Backend::Postgres(postgres) => postgres.announce(wake),
        }
    }

    /// Returns the stream of changes that other tasks and other nodes have committed.
    pub(crate) fn wakes(&self) -> broadcast::Receiver<Wake> {
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.wakes(),
            Backend::Postgres(postgres) => postgres.wakes(),
        }
    }

    /// Closes all connections, after the transactions in progress.
    pub(crate) async fn close(&self) {
        match &*self.backend {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }
}

/// The use of a database's connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DbStats {
    /// The connections of the pool that are open.
    pub(crate) open: u32,
    /// The connections of the pool that nobody uses.
    pub(crate) idle: u32,
    /// The transactions that wait for the writer; always 0 on PostgreSQL.
    pub(crate) writes_waiting: usize,
}

/// Returns whether an address is that of a PostgreSQL server.
pub(crate) fn is_postgres(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

/// A transaction.
#[derive(Debug)]
pub(crate) struct Tx {
    connection: Connection,
    wakes: Vec<Wake>,
}

#[derive(Debug)]
enum Connection {
    Sqlite(Box<sqlx::SqliteConnection>),
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
}

impl Tx {
    fn new(connection: Connection) -> Self {
        Self { connection, wakes: Vec::new() }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &self.connection {
            Connection::Sqlite(_) => Dialect::Sqlite,
            Connection::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Executes a statement, and returns the number of affected rows.
    pub(crate) fn execute(
        &mut self,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
    ) -> BoxFuture<'_, Result<u64, DbError>> {
        let sql = sql.into_sql_str();
        match &mut self.connection {
            Connection::Sqlite(connection) => Box::pin(sqlite::execute(connection, sql, args)),
            Connection::Postgres(transaction) => Box::pin(postgres::execute(transaction, sql, args)),
        }
    }

    /// Returns the rows of a query.
    pub(crate) fn all(
        &mut self,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
    ) -> BoxFuture<'_, Result<Vec<Row>, DbError>> {
        let sql = sql.into_sql_str();
        match &mut self.connection {
            Connection::Sqlite(connection) => Box::pin(sqlite::all(connection, sql, args)),
            Connection::Postgres(transaction) => Box::pin(postgres::all(transaction, sql, args)),
        }
    }

    /// Returns the first row of a query, if any.
    pub(crate) async fn optional(
        &mut self,
        sql: impl SqlSafeStr,
        args: Vec<Arg>,
    ) -> Result<Option<Row>, DbError> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    /// Returns the only row of a query such as `SELECT count(*)` or `INSERT … RETURNING`.
    pub(crate) async fn one(&mut self, sql: impl SqlSafeStr, args: Vec<Arg>) -> Result<Row, DbError> {
        self.optional(sql, args).await?.ok_or_else(DbError::no_row)
    }

    /// Announces a change to [`Db::wakes`] of all nodes, once this transaction is committed.
    pub(crate) fn wake(&mut self, wake: Wake) {
        if !self.wakes.contains(&wake) {
            self.wakes.push(wake);
        }
    }
}
