//! `site-connector backup` and `site-connector restore`

use std::fmt::Write;
use std::path::{Path, PathBuf};

use chat_service::ops::{self, Backup, BackupError};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::print::{count, say};
use crate::settings::DataFlags;
use crate::settings::key::{create_folder_of, is_postgres};

/// Copy the service's data into a file, while the service runs
///
/// The copy has the complete data of one moment, and is checked. It does not contain the key file: keep a
/// copy of the key file apart from the backups.
#[derive(Debug, Args)]
pub(crate) struct BackupFlags {
    #[command(flatten)]
    data: DataFlags,
    /// The file to create
    file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    replace: bool,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Replace the service's data with a backup; stop the service first
#[derive(Debug, Args)]
pub(crate) struct RestoreFlags {
    #[command(flatten)]
    data: DataFlags,
    /// The backup
    file: PathBuf,
    /// Replace existing data, and keep that data under another name
    #[arg(long)]
    replace: bool,
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn back_up(flags: BackupFlags) -> Result<(), Failure> {
    let settings = flags.data.settings()?;
    let database = settings.database();
    if is_postgres(database) {
        return Err(Failure::new(
            "the database is PostgreSQL, which has its own program for this, also while the service runs:\n  \
             pg_dump --format=custom --file=service.dump ADDRESS\nADDRESS is the database setting of the service",
        ));
    }
    if is_in_use(&flags.file, database, &settings.key_file()) {
        return Err(Failure::new(format!(
            "{} belongs to the service itself: choose another name for the backup",
            flags.file.display()
        )));
    }
    if flags.file.exists() && !flags.replace {
        return Err(Failure::new(format!(
            "{} exists: choose another name, or replace it with --replace",
            flags.file.display()
        )));
    }
    let backup = write(database, &flags.file, flags.replace).await?;
    let key = settings.key_file();
    let shown = json!({
        "file": flags.file.display().to_string(),
        "bytes": backup.bytes,
        "schema": backup.version,
        "sites": backup.sites,
        "conversations": backup.conversations,
    });
    say(flags.json, &shown, || {
        let number = |number: i64| u64::try_from(number).unwrap_or_default();
        format!(
            "{}: {} bytes, {}, {}\nThe key file is not in it: keep a copy of {} apart from the backups.",
            flags.file.display(),
            backup.bytes,
            count(number(backup.sites), "site"),
            count(number(backup.conversations), "conversation"),
            key.display()
        )
    });
    Ok(())
}

/// Returns whether a file is the database, one of the files beside it, or the key file. A running service
/// would go on with a file that has lost its name, and with it everything that it stores from then on.
fn is_in_use(file: &Path, database: &str, key_file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let of_database =
        ["", "-wal", "-shm", "-lock"].map(|suffix| PathBuf::from(format!("{database}{suffix}")));
    let mut own = of_database.iter().map(PathBuf::as_path).chain([key_file]);
    own.any(|own| own.canonicalize().is_ok_and(|own| own == file))
}

/// Writes a copy under a temporary name, which only its owner can read, and renames it when it is complete.
async fn write(database: &str, file: &Path, replace: bool) -> Result<Backup, Failure> {
    let failed = |problem: String| Failure::new(format!("cannot write {}: {problem}", file.display()));
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unfinished = tempfile::Builder::new()
        .prefix(".unfinished-")
        .tempfile_in(folder)
        .map_err(|error| failed(error.to_string()))?
        .into_temp_path();
    let backup = ops::backup(database, &unfinished).await?;
    let renamed = if replace { unfinished.persist(file) } else { unfinished.persist_noclobber(file) };
    renamed.map_err(|error| failed(error.to_string()))?;
    if let Ok(folder) = std::fs::File::open(folder) {
        // Systems without this rely on the rename alone.
        let _ = folder.sync_all();
    }
    Ok(backup)
}

pub(crate) async fn restore(flags: RestoreFlags) -> Result<(), Failure> {
    let settings = flags.data.settings()?;
    let database = settings.database();
    if is_postgres(database) {
        return Err(Failure::new(
            "the database is PostgreSQL, which has its own program for this; stop all nodes first:\n  \
             pg_restore --clean --if-exists --single-transaction --dbname=ADDRESS service.dump\n\
             ADDRESS is the database setting of the service",
        ));
    }
    create_folder_of(Path::new(database))
        .map_err(|error| Failure::new(format!("cannot create the folder of {database}: {error}")))?;
    let kept = ops::restore(&flags.file, database, flags.replace).await?;
    let kept = kept.map(|path| path.display().to_string());
    let key = settings.key_file();
    let shown = json!({ "database": database, "kept": kept });
    say(flags.json, &shown, || {
        let mut text = format!("{database} is restored from {}.", flags.file.display());
        if let Some(kept) = &kept {
            let _ = write!(text, "\nThe previous data is in {kept}: delete it when you no longer need it.");
        }
        if !key.exists() {
            let _ = write!(
                text,
                "\nThe key file {} is missing: put its copy there before you start the service.",
                key.display()
            );
        }
        text
    });
    Ok(())
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Self {
        match &error {
            BackupError::Open(open) if open.is_transient() => Self::transient(format!(
                "{error}\nTo restore, stop the service first; a backup can be made while it runs"
            )),
            _ => Self::new(error.to_string()),
        }
    }
}
