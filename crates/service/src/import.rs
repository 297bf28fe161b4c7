//! Imports the data file of the sandbox, the single-site service of earlier versions.
//!
//! A file of its schemas 1 and 2 is first copied beside itself. Then its tables get other names, the file
//! gets the service's schema, and the rows are copied. Each step is one transaction, so that an import that
//! was interrupted goes on at the next start.

mod conversations;
mod keys;
mod site;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;

use chat_protocol::Value;
use jiff::Timestamp;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};
use tracing::info;

use crate::clock::Clock;
use crate::db::sqlite::{restrict_to_owner, with_suffix};
use crate::db::{OpenError, Tx};
use crate::demo_site;
use crate::error::ApiError;

/// The tables of the sandbox.
const TABLES: [&str; 8] =
    ["conversations", "messages", "events", "answers", "site", "content", "reviews", "jobs"];
/// The prefix of a table that is not imported yet.
const PREFIX: &str = "sandbox_";

/// Returns whether a file is one of the sandbox. Such a file has no service key yet.
pub async fn is_sandbox_file(path: &Path) -> bool {
    // SQLite reads the log beside the file as well, which has everything of a sandbox that was killed.
    let Ok(mut connection) = SqliteConnectOptions::new().filename(path).connect().await else {
        return false;
    };
    matches!(schema_version(&mut connection).await, Ok(Some(_)))
}

/// Returns the version of the sandbox's schema; `None` in any other file.
async fn schema_version(connection: &mut SqliteConnection) -> sqlx::Result<Option<i64>> {
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    let found: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('answers', 'site', 'reviews')
         AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations')",
    )
    .fetch_one(&mut *connection)
    .await?;
    Ok((matches!(version, 1 | 2) && found == 3).then_some(version))
}

#[expect(clippy::needless_pass_by_value, reason = "the argument of map_err")]
fn failed(error: impl ToString) -> OpenError {
    OpenError::Import(error.to_string())
}

/// Copies a file of the sandbox beside itself, and renames its tables. Does nothing to any other file.
pub(crate) async fn set_aside(connection: &mut SqliteConnection, path: &Path) -> Result<(), OpenError> {
    let Some(version) = schema_version(connection).await.map_err(failed)? else { return Ok(()) };
    let copy = with_suffix(path, &format!(".sandbox-{version}"));
    info!("importing the sandbox's data; a copy of the file is {}", copy.display());
    let unfinished = with_suffix(&copy, ".tmp");
    // A copy that was interrupted is not usable. `VACUUM INTO` accepts an empty file.
    match std::fs::remove_file(&unfinished) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    restrict_to_owner(&unfinished, true).map_err(failed)?;
    let target = unfinished.to_string_lossy().into_owned();
    sqlx::query("VACUUM INTO $1").bind(target).execute(&mut *connection).await.map_err(failed)?;
    std::fs::rename(&unfinished, &copy).map_err(failed)?;
    let indexes: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
            .fetch_all(&mut *connection)
            .await
            .map_err(failed)?;
    // The search table of schema 1.
    let mut sql = "BEGIN IMMEDIATE; DROP TABLE IF EXISTS content_words;".to_owned();
    for index in indexes {
        let _ = write!(sql, "DROP INDEX \"{}\";", index.replace('"', "\"\""));
    }
    for table in TABLES {
        let _ = write!(sql, "ALTER TABLE {table} RENAME TO {PREFIX}{table};");
    }
    // The order in which rows are read.
    sql.push_str(
        "CREATE INDEX sandbox_messages_of ON sandbox_messages (conversation, position);
         PRAGMA user_version = 0; COMMIT;",
    );
    if version == 1 {
        // Schema 1 stored whole requests, where schema 2 stores their hashes.
        sql = sql.replace(
            "PRAGMA user_version = 0;",
            "ALTER TABLE sandbox_answers ADD COLUMN whole INTEGER; PRAGMA user_version = 0;",
        );
    }
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *connection).await.map_err(failed)?;
    Ok(())
}

/// Imports the tables that were renamed, and removes them. Does nothing to any other file.
pub(crate) async fn import(tx: &mut Tx) -> Result<(), OpenError> {
    let renamed = "SELECT 1 FROM sqlite_schema WHERE name = 'sandbox_conversations'";
    if tx.optional(renamed, Vec::new()).await.map_err(failed)?.is_none() {
        return Ok(());
    }
    tx.execute("BEGIN IMMEDIATE", Vec::new()).await.map_err(failed)?;
    match import_all(tx).await {
        Ok(()) => {
            tx.execute("COMMIT", Vec::new()).await.map_err(failed)?;
            Ok(())
        }
        Err(error) => {
            // The connection is closed with the error.
            let _ = tx.execute("ROLLBACK", Vec::new()).await;
            Err(failed(error))
        }
    }
}

async fn import_all(tx: &mut Tx) -> Result<(), ApiError> {
    let now_ms = Clock::start().now_ms();
    demo_site::create(tx, now_ms).await?;
    site::import_site(tx, now_ms).await?;
    site::import_content(tx, now_ms).await?;
    site::import_reviews(tx, now_ms).await?;
    site::import_jobs(tx, now_ms).await?;
    let imported = conversations::import_conversations(tx, now_ms).await?;
    conversations::import_events(tx, now_ms).await?;
    keys::import_keys(tx, now_ms, &imported).await?;
    for table in TABLES {
        tx.execute(AssertSqlSafe(format!("DROP TABLE {PREFIX}{table}")), Vec::new()).await?;
    }
    Ok(())
}

/// Reads a stored time; `otherwise` where there is none.
fn time(text: &str, otherwise: i64) -> i64 {
    text.parse::<Timestamp>().map_or(otherwise, Timestamp::as_millisecond)
}

/// Reads stored JSON; null if it is invalid, as after an edit by hand.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
