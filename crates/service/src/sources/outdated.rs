//! Decides which pages of a website are gone, at the end of a run.
//!
//! A page is removed at once if its server says that it does not exist, if it or `robots.txt` asks for it,
//! and if it has moved for good to a page that was read. Everything else may be a fault of today: such a page
//! is missed, and removed when that lasts. A run that mostly failed says nothing about any page.

use std::time::Duration;

use chat_protocol::admin::settings::SkipReason;
use reqwest::Url;

use super::discover::max_addresses;
use super::queue;
use super::store::change;
use super::visit::{Stopped, Visit};
use crate::clock::millis;
use crate::db::{Arg, DbError, Tx, args, work};

/// The runs in a row after which a page that is missed is removed.
const MAX_MISSED: i64 = 2;
/// The time for which it must have been missed.
pub(super) const MISSED_TIME: Duration = Duration::from_hours(3 * 24);
/// Maximum rows of a transaction.
const BATCH: i64 = 50;

/// A page `p` with a text, of this or an earlier run, that was asked for in the run `$2`.
macro_rules! asked {
    () => {
        "(p.page IS NOT NULL AND p.state <> 'queued' AND (p.run = $2 OR p.checked = $2))"
    };
}

/// It is gone for sure, or has moved for good to a page that was read.
macro_rules! gone {
    () => {
        "((p.state = 'skipped' AND p.reason IN ('notFound', 'noindex', 'robots'))
          OR (p.state <> 'read' AND p.moved_to IS NOT NULL AND EXISTS (SELECT 1 FROM source_pages t
              WHERE t.source_id = p.source_id AND t.address_key = p.moved_to AND t.run = $2
                  AND t.state = 'read')))"
    };
}

/// Decides whether a run says anything. It failed if the address of the source did, or more pages of earlier
/// runs than were read. Notes whether pages that nothing led to can be missed.
pub(super) async fn judge(visit: &mut Visit<'_>) -> Result<(), Stopped> {
    let (db, run) = (visit.service.db(), visit.source.run);
    let source_id = visit.source.lease.source_id.clone();
    let start: Option<Url> = visit.source.address.parse().ok();
    let start = start.and_then(|start| visit.scope.page(visit.fetcher, start)).map(|link| link.key);
    let sql = concat!(
        "SELECT count(CASE WHEN ",
        asked!(),
        " AND p.state <> 'read' AND NOT ",
        gone!(),
        " THEN 1 END),
             count(CASE WHEN ",
        asked!(),
        " AND p.state = 'read' THEN 1 END),
             count(CASE WHEN ",
        asked!(),
        " AND p.address_key = $3 AND p.state = 'skipped' AND p.reason IN
                 ('serverError', 'timeout', 'unreachable', 'robotsUnavailable', 'forbidden') THEN 1 END),
             count(CASE WHEN ",
        asked!(),
        " AND p.run = $2 AND p.state <> 'read'
                 AND NOT ",
        gone!(),
        " THEN 1 END),
             count(CASE WHEN p.run = $2 THEN 1 END)
         FROM source_pages p WHERE p.source_id = $1"
    );
    let row = db.one(sql, args![&source_id, run, start.unwrap_or_default()]).await?;
    let (failed, read, failed_start, failed_found) = (row.int(0)?, row.int(1)?, row.int(2)?, row.int(3)?);
    if failed > read || failed_start > 0 {
        let sql = concat!(
            "SELECT p.reason FROM source_pages p WHERE p.source_id = $1 AND p.reason IS NOT NULL
                 AND p.state <> 'read' AND ",
            asked!(),
            " AND NOT ",
            gone!(),
            " ORDER BY p.no LIMIT 1"
        );
        let reason = db.optional(sql, args![&source_id, run]).await?.map(|row| row.text(0)).transpose()?;
        let reason = reason.and_then(|name| SkipReason::parse(&name));
        // Pages that all redirect to another one have no reason of their own.
        return Err(Stopped::Failed(reason.unwrap_or(SkipReason::Elsewhere)));
    }
    let addresses = usize::try_from(row.int(4)?).unwrap_or_default();
    // Links of a page that could not be read are not known, nor are those beyond the maximum.
    visit.source.is_partial |= failed_found > 0 || addresses >= max_addresses(visit.source.max_pages);
    Ok(())
}

/// Removes pages that are gone, and addresses that the run did not find; pages beyond the maximum as well, if
/// `is_full`. Pages that were to be read when the run had to end stay as they were.
pub(super) async fn remove(visit: &Visit<'_>, is_full: bool) -> Result<(), Stopped> {
    let (source_id, run) = (visit.source.lease.source_id.clone(), visit.source.run);
    let (now_ms, is_partial) = (visit.service.now_ms(), visit.source.is_partial);
    // A page is missed once in a run, also if this part of it is repeated.
    let sql = concat!(
        "UPDATE source_pages SET missed = missed + 1, missed_run = $2,
             missed_since_ms = coalesce(missed_since_ms, CAST($3 AS BIGINT))
         WHERE no IN (SELECT p.no FROM source_pages p WHERE p.source_id = $1 AND p.missed_run < $2
             AND ",
        asked!(),
        " AND NOT ",
        gone!(),
        "
             AND ((p.run = $2 AND p.state <> 'read') OR (p.run < $2 AND CAST($4 AS BIGINT) = 0)) LIMIT $5)"
    );
    loop {
        let values = args![&source_id, run, now_ms, is_partial, BATCH];
        if is_last(change(visit, work!(|tx| tx.execute(sql, values).await)).await?) {
            break;
        }
    }
    let sql = concat!(
        "SELECT p.no FROM source_pages p WHERE p.source_id = $1 AND ",
        asked!(),
        " AND (",
        gone!(),
        "
             OR (p.missed_run = $2 AND p.missed >= $3 AND p.missed_since_ms <= $4)) ORDER BY p.no LIMIT $5"
    );
    loop {
        let values = args![&source_id, run, MAX_MISSED, now_ms - millis(MISSED_TIME), BATCH];
        if is_last(change(visit, work!(|tx| forget_all(tx, sql, values).await)).await?) {
            break;
        }
    }
    for sql in [
        "DELETE FROM source_pages WHERE no IN (SELECT no FROM source_pages WHERE source_id = $1
             AND ((page IS NULL AND (run < $2 OR state IN ('queued', 'moved', 'sitemap')))
                 OR (CAST($3 AS BIGINT) = 1 AND (run < $2 OR state = 'queued'))) LIMIT $4)",
        "UPDATE source_pages SET state = 'read' WHERE no IN (SELECT no FROM source_pages
             WHERE source_id = $1 AND run = $2 AND state = 'queued' AND page IS NOT NULL
                 AND CAST($3 AS BIGINT) = 0 LIMIT $4)",
    ] {
        loop {
            let values = args![&source_id, run, is_full, BATCH];
            if is_last(change(visit, work!(|tx| tx.execute(sql, values).await)).await?) {
                break;
            }
        }
    }
    Ok(())
}

/// Returns whether a transaction had fewer rows than it may have, so that it was the last one.
fn is_last(rows: u64) -> bool {
    rows < BATCH.unsigned_abs()
}

/// Removes what was made of the pages that a query finds. Returns their number.
async fn forget_all(tx: &mut Tx, sql: &'static str, values: Vec<Arg>) -> Result<u64, DbError> {
    let mut forgotten = 0;
    for row in tx.all(sql, values).await? {
        queue::forget(tx, row.int(0)?).await?;
        forgotten += 1;
    }
    Ok(forgotten)
}
