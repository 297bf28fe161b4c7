//! Copies an SQLite file while a service uses it, and puts a copy back.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use crate::db::migrations::{current_version, version_of_sqlite};
use crate::db::sqlite::{self, hold, with_suffix};
use crate::db::{OpenError, is_postgres};

/// A complete copy of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// The version of its schema.
    pub version: i64,
    /// The number of sites.
    pub sites: i64,
    /// The number of conversations.
    pub conversations: i64,
}

/// A backup or a restore failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// PostgreSQL has programs of its own for this.
    #[error("the database is PostgreSQL: use its own programs")]
    Postgres,
    /// The file is missing or cannot be written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is data at the place of the restored file.
    #[error("{} contains data: --replace keeps it under another name, and puts the backup in its place", .0.display())]
    Occupied(PathBuf),
    /// The file is not a whole database of a service.
    #[error("{} is not a complete backup of a service: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        problem: String,
    },
    /// The database cannot be opened, or a service uses it.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The copy failed.
    #[error("cannot copy the database: {0}")]
    Copy(String),
}

/// Copies the database into an empty file, while a service uses it, and checks the copy.
pub async fn backup(database: &str, file: &Path) -> Result<Backup, BackupError> {
    if is_postgres(database) {
        return Err(BackupError::Postgres);
    }
    let path = Path::new(database);
    if !path.is_file() {
        return Err(OpenError::Missing(database.to_owned()).into());
    }
    let mut connection = sqlite::options(path).connect().await.map_err(OpenError::Connect)?;
    let name = file.to_str().ok_or_else(|| broken(file, io::ErrorKind::InvalidFilename.into()))?;
    // A copy of one moment, without the parts of the file that are not used. Readers and writers go on.
    let copied = sqlx::query("VACUUM INTO $1").bind(name).execute(&mut connection).await;
    copied.map_err(|error| BackupError::Copy(error.to_string()))?;
    let _ = connection.close().await;
    File::open(file).and_then(|copy| copy.sync_all()).map_err(|error| broken(file, error))?;
    check(file).await
}

/// Puts a backup in the place of the database. Fails while a service uses the database. With `replace`, a
/// database that is there is kept under another name, which is returned.
pub async fn restore(file: &Path, database: &str, replace: bool) -> Result<Option<PathBuf>, BackupError> {
    if is_postgres(database) {
        return Err(BackupError::Postgres);
    }
    let backup = check(file).await?;
    if backup.version > current_version() {
        let (found, expected) = (backup.version, current_version());
        return Err(OpenError::Version { found, expected }.into());
    }
    let target = Path::new(database);
    let _lock = hold(target)?;
    let is_occupied = fs::metadata(target).is_ok_and(|found| found.len() > 0);
    if is_occupied && !replace {
        return Err(BackupError::Occupied(target.to_owned()));
    }
    let unfinished = with_suffix(target, "-restoring");
    copy_private(file, &unfinished).map_err(|error| broken(&unfinished, error))?;
    let kept = if is_occupied { Some(keep(target).await?) } else { None };
    // A log of the old file must not be applied to the new one.
    for suffix in ["-wal", "-shm"] {
        remove(&with_suffix(target, suffix))?;
    }
    fs::rename(&unfinished, target).map_err(|error| broken(target, error))?;
    if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty())
        && let Ok(folder) = File::open(folder)
    {
        // Systems without this rely on the rename alone.
        let _ = folder.sync_all();
    }
    Ok(kept)
}

/// Gives the database a second name, with everything that was written into its log.
async fn keep(target: &Path) -> Result<PathBuf, BackupError> {
    // Moves the log into the file. A damaged file keeps its log, under the second name as well.
    if let Ok(mut connection) = sqlite::options(target).connect().await {
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await;
        let _ = connection.close().await;
    }
    let kept = unused_name(target);
    fs::hard_link(target, &kept)
        .or_else(|_| fs::copy(target, &kept).map(drop))
        .map_err(|error| broken(&kept, error))?;
    let log = with_suffix(target, "-wal");
    if fs::metadata(&log).is_ok_and(|found| found.len() > 0) {
        let kept_log = with_suffix(&kept, "-wal");
        fs::rename(&log, &kept_log).map_err(|error| broken(&kept_log, error))?;
    }
    Ok(kept)
}

/// Returns a name beside the database that no file has yet.
fn unused_name(target: &Path) -> PathBuf {
    let name = |number: u32| with_suffix(target, &format!(".before-restore-{number}"));
    (1..=u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

/// Copies a file, readable by its owner only, and flushes it.
fn copy_private(from: &Path, to: &Path) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.open(to)?;
    io::copy(&mut File::open(from)?, &mut copy)?;
    copy.sync_all()
}

fn remove(path: &Path) -> Result<(), BackupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(broken(path, error)),
        _ => Ok(()),
    }
}

/// Opens a backup, and reads all of it.
async fn check(file: &Path) -> Result<Backup, BackupError> {
    let bytes = fs::metadata(file).map_err(|error| broken(file, error))?.len();
    let damaged = |problem: String| BackupError::Damaged { path: file.to_owned(), problem };
    let options = SqliteConnectOptions::new().filename(file).read_only(true).immutable(true);
    let mut connection =
        options.disable_statement_logging().connect().await.map_err(|error| damaged(error.to_string()))?;
    let checked = contents(&mut connection, bytes).await;
    let _ = connection.close().await;
    match checked {
        Ok((backup, problem)) if problem == "ok" && backup.version > 0 => Ok(backup),
        Ok((_, problem)) if problem == "ok" => Err(damaged("it has no schema of a service".to_owned())),
        Ok((_, problem)) => Err(damaged(problem)),
        Err(error) => Err(damaged(error.to_string())),
    }
}

async fn contents(connection: &mut SqliteConnection, bytes: u64) -> Result<(Backup, String), sqlx::Error> {
    let problem: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut *connection).await?;
    let version = version_of_sqlite(connection).await?;
    if version == 0 {
        return Ok((Backup { bytes, version, sites: 0, conversations: 0 }, problem));
    }
    let sites = sqlx::query_scalar("SELECT count(*) FROM sites").fetch_one(&mut *connection).await?;
    let conversations =
        sqlx::query_scalar("SELECT count(*) FROM conversations").fetch_one(&mut *connection).await?;
    Ok((Backup { bytes, version, sites, conversations }, problem))
}

fn broken(path: &Path, source: io::Error) -> BackupError {
    BackupError::File { path: path.to_owned(), source }
}
