//! Opens the data file: restricts its permissions, and creates or migrates the schema.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use rusqlite::{Connection, params};

use crate::fingerprint::fingerprint;

const SCHEMA: &str = include_str!("schema.sql");

/// The version of the schema.
const SCHEMA_VERSION: i64 = 2;

/// A data file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file cannot be created or read.
    #[error("cannot use {path} as the sandbox's data file: {source}")]
    File {
        /// The file.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file is not a database, cannot be written, or is locked by another process.
    #[error("cannot use {path} as the sandbox's data file: {source}")]
    Database {
        /// The file.
        path: String,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The file was written by another version.
    #[error(
        "invalid schema version of {path}: expected 1 to {SCHEMA_VERSION}, got {found}; choose another file"
    )]
    Schema {
        /// The file.
        path: String,
        /// The version of its schema.
        found: i64,
    },
}

/// Opens the database in a file, which is created if missing; without a file, a database in memory.
pub(super) fn open(file: Option<&Path>) -> Result<Connection, OpenError> {
    let path = file.map_or_else(|| ":memory:".to_owned(), |file| file.display().to_string());
    let broken = |source| OpenError::Database { path: path.clone(), source };
    let db = match file {
        Some(file) => {
            // SQLite creates the `-wal` and `-shm` files with the same mode.
            restrict_to_owner(file).map_err(|source| OpenError::File { path: path.clone(), source })?;
            Connection::open(file)
        }
        None => Connection::open_in_memory(),
    }
    .map_err(broken)?;
    // A killed sandbox may lose its last transactions, but never the file.
    db.pragma_update(None, "journal_mode", "WAL").map_err(broken)?;
    db.pragma_update(None, "synchronous", "NORMAL").map_err(broken)?;
    // Temporary tables contain the same private data as the file.
    db.pragma_update(None, "temp_store", "MEMORY").map_err(broken)?;
    match db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(broken)? {
        0 => db.execute_batch(&format!("BEGIN; {SCHEMA} COMMIT;")).map_err(broken)?,
        1 => migrate(&db).map_err(broken)?,
        SCHEMA_VERSION => return Ok(db),
        found => return Err(OpenError::Schema { path, found }),
    }
    db.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(broken)?;
    Ok(db)
}

/// Creates the file if missing, and restricts it to its owner: it contains personal data of visitors.
fn restrict_to_owner(file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OWNER_ONLY);
    let opened = options.open(file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let set = |file: &std::fs::File| file.set_permissions(std::fs::Permissions::from_mode(OWNER_ONLY));
        set(&opened)?;
        for suffix in ["-wal", "-shm"] {
            let mut path = file.as_os_str().to_owned();
            path.push(suffix);
            if let Ok(sidecar) = OpenOptions::new().write(true).open(path) {
                set(&sidecar)?;
            }
        }
    }
    drop(opened);
    Ok(())
}

#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

/// Migrates from schema 1: stores requests as hashes, drops the search table, and indexes the list of
/// conversations.
fn migrate(db: &Connection) -> rusqlite::Result<()> {
    let change = db.unchecked_transaction()?;
    change.execute_batch(
        "DROP TABLE content_words;
         ALTER TABLE conversations ADD COLUMN last_message INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE conversations ADD COLUMN wants_person INTEGER NOT NULL DEFAULT 0;
         UPDATE conversations SET
             last_message = coalesce((SELECT max(position) FROM messages WHERE conversation = conversations.id), 0),
             wants_person = coalesce(json_extract(notes, '$.wants_person') AND NOT
                 coalesce(json_extract(notes, '$.person_answered'), 0), 0);
         CREATE INDEX conversations_by_message ON conversations (wants_person, last_message);",
    )?;
    {
        let mut known = change.prepare("SELECT rowid, request FROM answers")?;
        let mut rows = known.query([])?;
        while let Some(row) = rows.next()? {
            let request = fingerprint(&[row.get_ref(1)?.as_blob()?]);
            change
                .prepare_cached("UPDATE answers SET request = ? WHERE rowid = ?")?
                .execute(params![&request[..], row.get::<_, i64>(0)?])?;
        }
    }
    change.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_has_at_least_the_expected_version() {
        assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_data_files() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("sandbox.sqlite");
        let modes = || {
            let entries = std::fs::read_dir(directory.path()).expect("a directory");
            let modes = entries.map(|entry| {
                let mode = entry.expect("an entry").metadata().expect("metadata").permissions().mode();
                mode & 0o777
            });
            modes.collect::<Vec<_>>()
        };
        let first = open(Some(&file)).expect("a database");
        first.execute("INSERT INTO answers VALUES ('a', 'b', 'c', 1, 'd', 'e', 1)", []).expect("written");
        assert_eq!(modes(), [OWNER_ONLY; 3]);
        // The mode that an earlier version left.
        for entry in std::fs::read_dir(directory.path()).expect("a directory") {
            let open_to_all = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(entry.expect("an entry").path(), open_to_all).expect("a mode");
        }
        let second = open(Some(&file)).expect("a database");
        assert_eq!(modes(), [OWNER_ONLY; 3]);
        drop((first, second));
    }

    #[test]
    fn migrates_a_file_of_schema_1() {
        const FIRST: &str = include_str!("../../tests/schemas/1.sql");
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("sandbox.sqlite");
        let before = Connection::open(&file).expect("a database");
        before.execute_batch(FIRST).expect("the first schema");
        drop(before);
        let db = open(Some(&file)).expect("a database");
        let request: Vec<u8> =
            db.query_row("SELECT request FROM answers", [], |row| row.get(0)).expect("an answer");
        assert_eq!(request, fingerprint(&[b"/chat/messages"]));
        let listed: Vec<(String, i64, bool)> = {
            let mut list = db
                .prepare("SELECT id, last_message, wants_person FROM conversations ORDER BY position")
                .expect("columns");
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            list.query_map([], row).expect("rows").collect::<Result<_, _>>().expect("conversations")
        };
        let expected = [("asked", 2, true), ("answered", 1, false), ("empty", 0, false)];
        assert_eq!(listed, expected.map(|(id, last, wants)| (id.to_owned(), last, wants)));
        drop(db);
        open(Some(&file)).expect("opened once more");
    }
}
