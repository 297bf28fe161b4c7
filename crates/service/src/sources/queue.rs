//! The addresses of a source: the queue of a run, and what came of each.

use std::collections::HashSet;

use chat_protocol::admin::settings::SkipReason;

use super::claim::{Claimed, Phase};
use super::fetch::Validators;
use crate::content::remove_read;
use crate::db::{Db, DbError, Row, Tx, args};

/// An address that is to be read.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) no: i64,
    pub(super) address: String,
    pub(super) key: String,
    pub(super) attempts: i64,
    pub(super) validators: Validators,
    /// Whether an earlier run has read it.
    pub(super) was_read: bool,
    /// The bytes of the page that an earlier run has read.
    pub(super) page_bytes: usize,
}

/// An address and its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Link {
    pub(super) address: String,
    pub(super) key: String,
}

/// What came of an address.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The page, packed.
    Read {
        page: Vec<u8>,
        validators: Validators,
    },
    /// It is as it was.
    Unchanged,
    Skipped(SkipReason),
    /// It leads to another address of the website.
    Moved,
    /// The server is busy, and is asked again.
    Again,
}

const COLUMNS: &str = "SELECT no, address, address_key, attempts, etag, modified,
         CAST(CASE WHEN page IS NULL THEN 0 ELSE 1 END AS BIGINT),
         CAST(coalesce(octet_length(page), 0) AS BIGINT) FROM source_pages";

fn entry(row: &Row) -> Result<Entry, DbError> {
    Ok(Entry {
        no: row.int(0)?,
        address: row.text(1)?,
        key: row.text(2)?,
        attempts: row.int(3)?,
        validators: Validators { etag: row.optional_text(4)?, modified: row.optional_text(5)? },
        was_read: row.flag(6)?,
        page_bytes: usize::try_from(row.int(7)?).unwrap_or_default(),
    })
}

/// Returns the next address of a run.
pub(super) async fn next(db: &Db, source_id: &str, run: i64) -> Result<Option<Entry>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE source_id = $1 AND state = 'queued' AND run = $2 ORDER BY no LIMIT 1"
    ));
    db.optional(sql, args![source_id, run]).await?.as_ref().map(entry).transpose()
}

/// Returns the next sitemap of a run.
pub(super) async fn next_sitemap(db: &Db, source_id: &str, run: i64) -> Result<Option<Entry>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE source_id = $1 AND state = 'sitemap' AND run = $2 ORDER BY no LIMIT 1"
    ));
    db.optional(sql, args![source_id, run]).await?.as_ref().map(entry).transpose()
}

/// Returns the numbers of sitemaps that a run has read, and of pages that it has found.
pub(super) async fn count_sitemaps(db: &Db, source_id: &str, run: i64) -> Result<(usize, usize), DbError> {
    let sql = "SELECT count(CASE WHEN state IN ('moved', 'skipped') THEN 1 END),
                   count(CASE WHEN state = 'queued' THEN 1 END)
               FROM source_pages WHERE source_id = $1 AND run = $2";
    let row = db.one(sql, args![source_id, run]).await?;
    let count = |column| row.int(column).map(|count| usize::try_from(count).unwrap_or_default());
    Ok((count(0)?, count(1)?))
}

/// Returns the reason of the first address of a run that cannot be read.
pub(super) async fn first_reason(db: &Db, source_id: &str, run: i64) -> Result<Option<SkipReason>, DbError> {
    let sql = "SELECT reason FROM source_pages WHERE source_id = $1 AND run = $2 AND state = 'skipped'
               ORDER BY no LIMIT 1";
    let row = db.optional(sql, args![source_id, run]).await?;
    Ok(row.map(|row| row.text(0)).transpose()?.and_then(|name| SkipReason::parse(&name)))
}

/// Returns the next page of an earlier run that nothing led to in this one.
pub(super) async fn next_unfound(db: &Db, source_id: &str, run: i64) -> Result<Option<Entry>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE source_id = $1 AND page IS NOT NULL AND run < $2 AND checked < $2
         ORDER BY no LIMIT 1"
    ));
    db.optional(sql, args![source_id, run]).await?.as_ref().map(entry).transpose()
}

/// Returns the keys of the addresses that a run has found.
pub(super) async fn found(db: &Db, source_id: &str, run: i64) -> Result<HashSet<String>, DbError> {
    let sql = "SELECT address_key FROM source_pages WHERE source_id = $1 AND run = $2";
    db.all(sql, args![source_id, run]).await?.iter().map(|row| row.text(0)).collect()
}

/// Returns the keys of all addresses of a source.
pub(super) async fn known(db: &Db, source_id: &str) -> Result<HashSet<String>, DbError> {
    let sql = "SELECT address_key FROM source_pages WHERE source_id = $1";
    db.all(sql, args![source_id]).await?.iter().map(|row| row.text(0)).collect()
}

/// Returns the number of pages that a run has read.
pub(super) async fn count_read(db: &Db, source_id: &str, run: i64) -> Result<i64, DbError> {
    let sql = "SELECT count(*) FROM source_pages WHERE source_id = $1 AND run = $2 AND state = 'read'";
    db.one(sql, args![source_id, run]).await?.int(0)
}

/// Returns the packed page of an address that was read.
pub(super) async fn page(db: &Db, no: i64) -> Result<Option<Vec<u8>>, DbError> {
    let row = db.optional("SELECT page FROM source_pages WHERE no = $1", args![no]).await?;
    row.map(|row| row.optional_bytes(0)).transpose().map(Option::flatten)
}

/// Adds addresses to the queue of a run.
pub(super) async fn add(tx: &mut Tx, source: &Claimed, links: &[Link]) -> Result<(), DbError> {
    add_as(tx, source, links, "queued").await
}

/// Adds sitemaps to those that a run is to read.
pub(super) async fn add_sitemaps(tx: &mut Tx, source: &Claimed, links: &[Link]) -> Result<(), DbError> {
    add_as(tx, source, links, "sitemap").await
}

async fn add_as(tx: &mut Tx, source: &Claimed, links: &[Link], state: &'static str) -> Result<(), DbError> {
    for Link { address, key } in links {
        tx.execute(
            "INSERT INTO source_pages (source_id, site_id, address, address_key, run, state)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (source_id, address_key) DO UPDATE SET run = excluded.run, state = excluded.state,
                 address = excluded.address, reason = NULL, moved_to = NULL, attempts = 0
             WHERE source_pages.run < excluded.run",
            args![&source.lease.source_id, &source.site_id, address, key, source.run, state],
        )
        .await?;
    }
    Ok(())
}

/// Goes on with the next part of a run.
pub(super) async fn set_phase(
    tx: &mut Tx,
    source: &Claimed,
    phase: Phase,
    problem: Option<SkipReason>,
) -> Result<(), DbError> {
    let sql =
        "UPDATE sources SET phase = $2, problem = $3, follows_links = $4, is_partial = $5 WHERE id = $1";
    let (id, problem) = (&source.lease.source_id, problem.map(SkipReason::as_str));
    let values = args![id, phase.as_str(), problem, source.follows_links, source.is_partial];
    tx.execute(sql, values).await.map(drop)
}

/// Stores what came of an address of a run. What an earlier run has read stays until the end of this one.
/// `moved_to` is the key of the address that the page has moved to for good.
pub(super) async fn record(
    tx: &mut Tx,
    entry: &Entry,
    outcome: &Outcome,
    moved_to: Option<&str>,
) -> Result<(), DbError> {
    match outcome {
        Outcome::Read { page, validators } => {
            let sql = "UPDATE source_pages SET state = 'read', reason = NULL, moved_to = NULL, missed = 0,
                           missed_since_ms = NULL, page = $2, etag = $3, modified = $4, address = $5
                       WHERE no = $1";
            let values = args![
                entry.no,
                page.clone(),
                validators.etag.clone(),
                validators.modified.clone(),
                &entry.address
            ];
            tx.execute(sql, values).await.map(drop)
        }
        Outcome::Unchanged => {
            let sql = "UPDATE source_pages SET state = 'read', reason = NULL, moved_to = NULL, missed = 0,
                           missed_since_ms = NULL
                       WHERE no = $1";
            tx.execute(sql, args![entry.no]).await.map(drop)
        }
        Outcome::Again => {
            let sql = "UPDATE source_pages SET attempts = attempts + 1 WHERE no = $1";
            tx.execute(sql, args![entry.no]).await.map(drop)
        }
        Outcome::Skipped(_) | Outcome::Moved => {
            let (state, reason) = state_of(outcome);
            let sql = "UPDATE source_pages SET state = $2, reason = $3, moved_to = $4 WHERE no = $1";
            let reason = reason.map(SkipReason::as_str);
            let moved_to = moved_to.map(str::to_owned);
            tx.execute(sql, args![entry.no, state, reason, moved_to]).await.map(drop)
        }
    }
}

/// Returns the state and the reason that an outcome is stored with.
fn state_of(outcome: &Outcome) -> (&'static str, Option<SkipReason>) {
    match outcome {
        Outcome::Read { .. } | Outcome::Unchanged => ("read", None),
        Outcome::Skipped(reason) => ("skipped", Some(*reason)),
        Outcome::Moved => ("moved", None),
        Outcome::Again => ("skipped", Some(SkipReason::ServerError)),
    }
}

/// Stores why a page is not read, and removes what was made of it.
pub(super) async fn skip(tx: &mut Tx, no: i64, reason: SkipReason) -> Result<(), DbError> {
    let sql = "UPDATE source_pages SET state = 'skipped', reason = $2 WHERE no = $1";
    tx.execute(sql, args![no, reason.as_str()]).await?;
    forget(tx, no).await
}

/// Removes what was made of a page, but not its address. The page is changed before its content, in the order
/// of all other changes, so that no two of them wait for each other.
pub(super) async fn forget(tx: &mut Tx, no: i64) -> Result<(), DbError> {
    let sql =
        "UPDATE source_pages SET page = NULL, etag = NULL, modified = NULL, stored = NULL, moved_to = NULL,
                   missed = 0, missed_since_ms = NULL
               WHERE no = $1";
    tx.execute(sql, args![no]).await?;
    remove_read(tx, no).await.map(drop)
}

/// Stores what came of a page that nothing led to, until the end of the run.
pub(super) async fn record_unfound(
    tx: &mut Tx,
    entry: &Entry,
    run: i64,
    outcome: &Outcome,
    moved_to: Option<&str>,
) -> Result<(), DbError> {
    let (state, reason) = state_of(outcome);
    let sql = "UPDATE source_pages SET state = $2, reason = $3, moved_to = $4, checked = $5 WHERE no = $1";
    let reason = reason.map(SkipReason::as_str);
    let moved_to = moved_to.map(str::to_owned);
    tx.execute(sql, args![entry.no, state, reason, moved_to, run]).await.map(drop)
}

/// Stores what came of an address under the one that it redirects to.
pub(super) async fn record_moved(
    tx: &mut Tx,
    source: &Claimed,
    link: &Link,
    outcome: &Outcome,
    moved_to: Option<&str>,
) -> Result<(), DbError> {
    add(tx, source, std::slice::from_ref(link)).await?;
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE source_id = $1 AND address_key = $2 AND state = 'queued'"
    ));
    match tx.optional(sql, args![&source.lease.source_id, &link.key]).await? {
        Some(row) => record(tx, &entry(&row)?, outcome, moved_to).await,
        None => Ok(()),
    }
}
