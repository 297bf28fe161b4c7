//! Removes erased words from where SQLite keeps them after their rows are gone: the segments of the full-text
//! index, and the write-ahead log. Free pages are overwritten as they are freed (`PRAGMA secure_delete`).
//!
//! PostgreSQL keeps dead rows until it reuses their space, and has no command that overwrites them.

use crate::db::{Db, DbError, Dialect, Tx, args, transaction};

/// The service value that says when scrubbing is due.
const DUE: &str = "scrub_due";
/// Pages of the full-text index that one transaction merges.
const MERGED_PAGES: i64 = 200;
/// Maximum transactions of one scrub. The next one goes on.
const MAX_MERGES: u32 = 10_000;
/// Merges the indexes that hold the words of visitors.
const MERGES: [&str; 1] = ["INSERT INTO message_terms (message_terms, rank) VALUES ('merge', $1)"];

/// Requests a scrub, in the transaction of the erasure: a crash does not lose it.
pub(crate) async fn request(tx: &mut Tx, now_ms: i64) -> Result<(), DbError> {
    if tx.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let sql = "INSERT INTO service_values (name, value) VALUES ($1, $2)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    tx.execute(sql, args![DUE, now_ms.to_string()]).await?;
    Ok(())
}

/// Requests a scrub by a time, unless one is due earlier, in the transaction that removes something. A scrub
/// costs time that grows with the index, so that what is removed little by little shares one.
pub(crate) async fn request_by(tx: &mut Tx, due_ms: i64) -> Result<(), DbError> {
    if tx.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let sql = "INSERT INTO service_values (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    tx.execute(sql, args![DUE, due_ms.to_string()]).await?;
    Ok(())
}

/// Scrubs the file if that is due. Returns false if others read at that moment, so that it has to be
/// repeated.
pub(crate) async fn scrub(db: &Db, now_ms: i64) -> Result<bool, DbError> {
    if db.dialect() == Dialect::Postgres {
        return Ok(true);
    }
    let Some(due) = db.optional("SELECT value FROM service_values WHERE name = $1", args![DUE]).await? else {
        return Ok(true);
    };
    let due = due.text(0)?;
    // A value that is no time is due, too.
    if due.parse().is_ok_and(|due_ms: i64| due_ms > now_ms) {
        return Ok(true);
    }
    for sql in MERGES {
        merge(db, sql).await?;
    }
    if !checkpoint(db).await? {
        return Ok(false);
    }
    // A request that came in the meantime stays.
    let done: Result<(), DbError> = transaction!(db, |tx| {
        let sql = "DELETE FROM service_values WHERE name = $1 AND value = $2";
        tx.execute(sql, args![DUE, due]).await.map(drop)
    })
    .await;
    done?;
    Ok(true)
}

/// Merges the segments of a full-text index little by little, which drops the terms of deleted rows. A
/// negative number of pages begins a merge of all segments.
async fn merge(db: &Db, sql: &'static str) -> Result<(), DbError> {
    for number in 0..MAX_MERGES {
        let pages = if number == 0 { -MERGED_PAGES } else { MERGED_PAGES };
        let changed: Result<i64, DbError> = transaction!(db, |tx| {
            let before = tx.one("SELECT total_changes()", args![]).await?.int(0)?;
            tx.execute(sql, args![pages]).await?;
            Ok(tx.one("SELECT total_changes()", args![]).await?.int(0)? - before)
        })
        .await;
        // The statement itself is one change: see "merge" in the documentation of FTS5.
        if changed? < 2 {
            break;
        }
    }
    Ok(())
}

/// Moves the write-ahead log into the file, and empties it. Returns false if a reader prevented it.
async fn checkpoint(db: &Db) -> Result<bool, DbError> {
    Ok(db.one("PRAGMA wal_checkpoint(TRUNCATE)", args![]).await?.int(0)? == 0)
}
