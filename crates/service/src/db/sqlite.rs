//! SQLite: one connection that writes, several that read, and one commit for all transactions that wait.

mod long_reads;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Executor, SqlStr, SqliteConnection};
use tokio::sync::{broadcast, mpsc, oneshot};
use tracing::{error, warn};

use super::arg::bind;
use super::migrations;
use super::wake::Announcer;
use super::{Arg, Connection, DbError, DbStats, OpenError, Row, Tx, Wake, Work};
use crate::supervisor::fallible;
use long_reads::LongReaders;

/// The number of connections that read.
const READERS: u32 = 4;
/// Maximum transactions of one commit.
const MAX_GROUP: usize = 128;
/// Maximum transactions that wait; further callers wait for their turn to wait.
const MAX_WAITING: usize = 1024;
/// The time that a statement waits for another process, such as `site-connector admin`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval at which changes by other processes are looked for.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// The pause before each attempt to open the writer's connection again.
const REOPEN_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Sqlite {
    readers: SqlitePool,
    long_readers: LongReaders,
    writer: mpsc::Sender<Job>,
    announcer: Announcer,
    /// Held until the service ends, so that no second one uses the file. A command beside it holds none.
    _lock: Option<HeldLock>,
}

/// A transaction's work. It is told whether the commit succeeded.
type Job = Box<dyn for<'tx> FnOnce(&'tx mut Tx) -> BoxFuture<'tx, Finished> + Send>;

/// A transaction whose work is done and not committed.
struct Finished {
    succeeded: bool,
    report: Box<dyn FnOnce(Result<(), DbError>) + Send>,
}

impl Sqlite {
    /// Opens a file, which is created if missing, and migrates it.
    pub(super) async fn open(path: &Path, announcer: Announcer) -> Result<Self, OpenError> {
        let lock = lock(path)?;
        let options = options(path).create_if_missing(true);
        let mut connection = options.connect().await.map_err(OpenError::Connect)?;
        migrations::migrate_sqlite(&mut connection).await?;
        let tx = Tx::new(Connection::Sqlite(Box::new(connection)));
        Self::start(options, tx, Some(lock), announcer).await
    }

    /// Opens the file of a service that may be running.
    pub(super) async fn open_beside(path: &Path, announcer: Announcer) -> Result<Self, OpenError> {
        if !path.is_file() {
            return Err(OpenError::Missing(path.display().to_string()));
        }
        let options = options(path);
        let mut connection = options.connect().await.map_err(OpenError::Connect)?;
        migrations::require_current(migrations::version_of_sqlite(&mut connection).await)?;
        let tx = Tx::new(Connection::Sqlite(Box::new(connection)));
        Self::start(options, tx, None, announcer).await
    }

    /// Starts the writer and the readers.
    async fn start(
        options: SqliteConnectOptions,
        tx: Tx,
        lock: Option<HeldLock>,
        announcer: Announcer,
    ) -> Result<Self, OpenError> {
        let reading = options.clone().pragma("query_only", "1").create_if_missing(false);
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_with(reading.clone())
            .await
            .map_err(OpenError::Connect)?;
        let (writer, jobs) = mpsc::channel(MAX_WAITING);
        // A file that was removed meanwhile must not become an empty one.
        let options = options.create_if_missing(false);
        tokio::spawn(keep_writing(options, tx, jobs, announcer.clone()));
        let long_readers = LongReaders::new(reading);
        Ok(Self { readers, long_readers, writer, announcer, _lock: lock })
    }

    pub(super) fn stats(&self) -> DbStats {
        let (open, idle) = self.long_readers.stats();
        DbStats {
            open: open.saturating_add(self.readers.size()),
            idle: idle.saturating_add(u32::try_from(self.readers.num_idle()).unwrap_or(u32::MAX)),
            writes_waiting: self.writer.max_capacity() - self.writer.capacity(),
        }
    }

    pub(super) async fn all(&self, sql: SqlStr, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        let mut reader = self.readers.acquire().await?;
        all(&mut reader, sql, args).await
    }

    /// Returns the rows of a query that may take long, and ends the query when this is dropped.
    pub(super) async fn long_all(&self, sql: SqlStr, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        self.long_readers.all(sql, args).await
    }

    pub(super) async fn write<T, E>(&self, work: impl Work<T, E>) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (report, outcome) = oneshot::channel();
        let job: Job = Box::new(move |tx| {
            Box::pin(async move {
                let result = work(tx).await;
                Finished {
                    succeeded: result.is_ok(),
                    report: Box::new(move |committed: Result<(), DbError>| {
                        let result = match (result, committed) {
                            (Ok(_), Err(error)) => Err(error.into()),
                            (result, _) => result,
                        };
                        // The caller may have been dropped.
                        let _ = report.send(result);
                    }),
                }
            })
        });
        if self.writer.send(job).await.is_err() {
            return Err(DbError::from(sqlx::Error::PoolClosed).into());
        }
        outcome.await.unwrap_or_else(|_| Err(DbError::from(sqlx::Error::WorkerCrashed).into()))
    }

    pub(super) fn announce(&self, wake: Wake) {
        self.announcer.announce(wake);
    }

    pub(super) fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.announcer.subscribe()
    }

    pub(super) async fn close(&self) {
        self.long_readers.close().await;
        self.readers.close().await;
    }
}

/// Returns the settings of every connection to a file.
pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit that was acknowledged survives a power failure.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        // Temporary tables contain the same private data as the file.
        .pragma("temp_store", "MEMORY")
        // Erased words are overwritten in the file.
        .pragma("secure_delete", "1")
        .pragma("journal_size_limit", "67108864")
        .disable_statement_logging()
}

/// Executes transactions until the database is closed. When the writer panics or its connection is lost, the
/// transactions in progress fail, and it goes on with a new connection.
async fn keep_writing(
    options: SqliteConnectOptions,
    mut tx: Tx,
    mut jobs: mpsc::Receiver<Job>,
    announcer: Announcer,
) {
    let mut is_restarted = false;
    loop {
        let writing = async {
            if is_restarted {
                // Announcements of the last commit may be lost.
                announcer.announce(Wake::Everything);
            }
            write_all(&mut tx, &mut jobs, &announcer).await
        };
        match AssertUnwindSafe(fallible(writing)).catch_unwind().await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error!("the writer of the database lost its connection: {error}"),
            Err(_panic) => error!("the writer of the database panicked"),
        }
        // Rolls back what the connection had begun, and ends its lock.
        drop(tx);
        let Some(reopened) = reopen(&options, &mut jobs).await else { return };
        (tx, is_restarted) = (reopened, true);
    }
}

/// Opens the writer's connection again; `None` when the database was closed meanwhile. After each failed
/// attempt, the transactions that have arrived fail.
async fn reopen(options: &SqliteConnectOptions, jobs: &mut mpsc::Receiver<Job>) -> Option<Tx> {
    loop {
        tokio::time::sleep(REOPEN_INTERVAL).await;
        match options.connect().await {
            Ok(connection) => return Some(Tx::new(Connection::Sqlite(Box::new(connection)))),
            Err(error) => error!("the database cannot be opened again: {error}"),
        }
        while jobs.try_recv().is_ok() {}
        if jobs.is_closed() {
            return None;
        }
    }
}

/// Executes the transactions that arrive, and commits those together that wait together. Returns `Ok` when no
/// more can arrive, and an error when the connection is lost.
async fn write_all(
    tx: &mut Tx,
    jobs: &mut mpsc::Receiver<Job>,
    announcer: &Announcer,
) -> Result<(), DbError> {
    let mut watch = tokio::time::interval(WATCH_INTERVAL);
    watch.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut known_version = None;
    let mut group = Vec::with_capacity(MAX_GROUP);
    loop {
        tokio::select! {
            received = jobs.recv_many(&mut group, MAX_GROUP) => {
                if received == 0 {
                    return Ok(());
                }
                // Jobs that were not executed report their failure when they are dropped.
                match commit_group(tx, group.drain(..), announcer).await {
                    Err(error) if error.is_lost_connection() => return Err(error),
                    Err(error) => error!("the database failed: {error}"),
                    Ok(()) => {}
                }
            }
            _ = watch.tick() => match data_version(tx).await {
                // The version of this connection changes only with commits of other processes.
                Ok(version) => {
                    if known_version.replace(version).is_some_and(|known| known != version) {
                        announcer.announce(Wake::Everything);
                    }
                }
                Err(error) if error.is_lost_connection() => return Err(error),
                Err(error) => warn!("the database cannot be read: {error}"),
            },
        }
    }
}

/// Executes jobs in one database transaction. Each has a savepoint of its own, so that one that fails takes
/// back its own changes only.
async fn commit_group(
    tx: &mut Tx,
    group: impl Iterator<Item = Job>,
    announcer: &Announcer,
) -> Result<(), DbError> {
    let mut reports = Vec::new();
    let mut committed_wakes = Vec::new();
    let outcome = async {
        tx.run("BEGIN IMMEDIATE").await?;
        for job in group {
            tx.run("SAVEPOINT job").await?;
            // A panic fails the job, whose caller gets an error when its report is dropped, and no other one.
            let finished = AssertUnwindSafe(job(tx)).catch_unwind().await;
            let succeeded = finished.as_ref().is_ok_and(|finished| finished.succeeded);
            match finished {
                Ok(finished) => reports.push(finished.report),
                Err(_panic) => error!("a transaction panicked, and is rolled back"),
            }
            if succeeded {
                committed_wakes.append(&mut tx.wakes);
            } else {
                tx.wakes.clear();
                tx.run("ROLLBACK TO job").await?;
            }
            tx.run("RELEASE job").await?;
        }
        tx.run("COMMIT").await
    }
    .await;
    if outcome.is_err() {
        tx.wakes.clear();
        // Fails where the error has already ended the transaction.
        let _ = tx.run("ROLLBACK").await;
    }
    if outcome.is_ok() {
        for wake in &committed_wakes {
            announcer.invalidate(wake);
        }
    }
    for report in reports {
        report(outcome.clone());
    }
    if outcome.is_ok() {
        for wake in committed_wakes {
            announcer.announce(wake);
        }
    }
    outcome
}

/// Returns a number that changes when another process commits.
async fn data_version(tx: &mut Tx) -> Result<i64, DbError> {
    tx.one("PRAGMA data_version", Vec::new()).await?.int(0)
}

impl Tx {
    async fn run(&mut self, sql: &'static str) -> Result<(), DbError> {
        self.execute(sql, Vec::new()).await.map(drop)
    }
}

pub(super) async fn execute(
    connection: &mut SqliteConnection,
    sql: SqlStr,
    args: Vec<Arg>,
) -> Result<u64, DbError> {
    Ok(connection.execute(bind(sql, args)).await?.rows_affected())
}

pub(super) async fn all(
    connection: &mut SqliteConnection,
    sql: SqlStr,
    args: Vec<Arg>,
) -> Result<Vec<Row>, DbError> {
    let rows = connection.fetch_all(bind(sql, args)).await?;
    Ok(rows.into_iter().map(Row::Sqlite).collect())
}

/// Creates the file if missing, restricts it to its owner, since it contains personal data of visitors, and
/// locks it against other services.
fn lock(path: &Path) -> Result<HeldLock, OpenError> {
    let broken = |source| OpenError::File { path: path.to_owned(), source };
    for suffix in ["", "-wal", "-shm"] {
        restrict_to_owner(&with_suffix(path, suffix), suffix.is_empty()).map_err(broken)?;
    }
    hold(path)
}

/// The lock of a database's file.
#[derive(Debug)]
pub(crate) struct HeldLock(File);

impl Drop for HeldLock {
    /// Releases the lock explicitly. Closing the file would not, while a child that this process is just
    /// starting still has a copy of it.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Takes the lock of a file, which a service holds while it runs. The file itself is not touched.
pub(crate) fn hold(path: &Path) -> Result<HeldLock, OpenError> {
    let broken = |source| OpenError::File { path: path.to_owned(), source };
    let lock = restrict_to_owner(&with_suffix(path, "-lock"), true).map_err(broken)?;
    let lock = lock.ok_or_else(|| broken(io::ErrorKind::NotFound.into()))?;
    match lock.try_lock() {
        Ok(()) => Ok(HeldLock(lock)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(broken(source)),
    }
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Restricts a file to its owner. Without `create`, a missing file stays missing.
fn restrict_to_owner(path: &Path, create: bool) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(create).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OWNER_ONLY);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !create => return Ok(None),
        opened => opened?,
    };
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(OWNER_ONLY))?;
    Ok(Some(file))
}

#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;
