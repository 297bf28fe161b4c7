//! Checks that the service's key is the one that the database was created with.
//!
//! A service with another key would start, and fail later, at the first secret that it needs.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::ServiceKey;
use crate::db::{Db, DbError, OpenError, args, transaction};

/// The name of the stored check value.
const NAME: &str = "key-check";
/// The purpose that the check value is encrypted for.
const PURPOSE: &str = "key check";

/// Compares the key with the database's. A database without one keeps this key's check value.
pub(crate) async fn check_key(db: &Db, key: &ServiceKey) -> Result<(), OpenError> {
    let stored = "SELECT value FROM service_values WHERE name = $1";
    if db.optional(stored, args![NAME]).await?.is_none() {
        let value = BASE64_STANDARD.encode(key.seal(PURPOSE, PURPOSE));
        // Of two nodes that start at the same time, the first one's key counts.
        let insert: Result<u64, DbError> = transaction!(db, |tx| {
            let sql = "INSERT INTO service_values (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            tx.execute(sql, args![NAME, value]).await
        })
        .await;
        insert?;
    }
    let value = db.one(stored, args![NAME]).await.and_then(|row| row.text(0))?;
    is_sealed_by(key, &value).then_some(()).ok_or(OpenError::Key)
}

/// Returns whether a stored check value was encrypted with this key.
pub(super) fn is_sealed_by(key: &ServiceKey, value: &str) -> bool {
    BASE64_STANDARD.decode(value).is_ok_and(|sealed| key.unseal(PURPOSE, &sealed).is_ok())
}

/// Returns whether an SQLite file belongs to a key. A file that cannot be read may belong to one.
pub async fn has_key(file: &Path) -> bool {
    let options = SqliteConnectOptions::new().filename(file).disable_statement_logging();
    let Ok(mut connection) = options.connect().await else { return true };
    let sql = "SELECT count(*) FROM service_values WHERE name = $1";
    let found: Result<i64, _> = sqlx::query_scalar(sql).bind(NAME).fetch_one(&mut connection).await;
    let _ = connection.close().await;
    found.map_or(true, |count| count > 0)
}

/// Returns the stored check value, if there is one.
pub(super) async fn stored(db: &Db) -> Result<Option<String>, DbError> {
    let row = db.optional("SELECT value FROM service_values WHERE name = $1", args![NAME]).await?;
    row.map(|row| row.text(0)).transpose()
}
