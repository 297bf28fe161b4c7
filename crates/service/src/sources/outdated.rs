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
use super::visit::{Stopped, Visit};
use crate::clock::millis;
use crate::db::{Arg, DbError, Tx, args, work};

/// The runs in a row after which a page that is missed is removed.
const MAX_MISSED: i64 = 2;
/// The time for which it must have been missed.
pub(super) const MISSED_TIME: Duration = Duration::from_hours(3 * 24);
/// The pages of which it is noticed that they are most pages of a website.
const MIN_LOST: i64 = 3;
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

/// It is gone for sure, and has not moved.
macro_rules! removed {
    () => {
        "(p.state = 'skipped' AND p.reason IN ('notFound', 'noindex', 'robots'))"
    };
}

/// Decides whether a run says anything. It says nothing if the address of the source has failed, if more
/// pages of earlier runs failed than were read, or if several of them are gone or have become copies of each
/// other and fewer are left: a deployment that is down, a maintenance page and a block look like this. If the
/// website answers so for [`MISSED_TIME`], it has changed. Notes whether pages that nothing led to can be
/// missed.
pub(super) async fn judge(visit: &mut Visit<'_>) -> Result<(), Stopped> {
    let (db, run) = (visit.service.db(), visit.source.run);
    let source_id = visit.source.lease.source_id.clone();
    let start: Option<Url> = visit.source.address.parse().ok();
    let start = start.and_then(|start| visit.scope.page(visit.fetcher, start)).map(|link| link.key);
    let start = start.unwrap_or_default();
    // Pages that are new in this run say nothing about the others: an error page is new as well.
    let sql = concat!(
        "SELECT count(CASE WHEN p.state <> 'read' AND NOT ",
        gone!(),
        " THEN 1 END),
             count(CASE WHEN ",
        removed!(),
        " THEN 1 END),
             count(CASE WHEN p.state = 'read' THEN 1 END),
             count(DISTINCT CASE WHEN p.state = 'read' THEN p.page END),
             count(CASE WHEN p.address_key = $3 AND (p.state = 'skipped' OR (p.state = 'moved' AND NOT ",
        gone!(),
        ")) THEN 1 END)
         FROM source_pages p WHERE p.source_id = $1 AND p.stored IS NOT NULL AND ",
        asked!()
    );
    let row = db.one(sql, args![&source_id, run, &start]).await?;
    let (failed, removed, kept, different) = (row.int(0)?, row.int(1)?, row.int(2)?, row.int(3)?);
    let is_lost = failed > kept || is_most(failed + removed, kept);
    let has_copies = is_most(kept - different, different);
    let sql = concat!(
        "SELECT count(CASE WHEN p.address_key = $3 AND p.state = 'skipped' AND p.reason IN
                 ('serverError', 'timeout', 'unreachable', 'robotsUnavailable', 'forbidden') THEN 1 END),
             count(CASE WHEN p.page IS NOT NULL AND p.state NOT IN ('read', 'queued') AND NOT ",
        gone!(),
        " THEN 1 END)
         FROM source_pages p WHERE p.source_id = $1 AND p.run = $2"
    );
    let now = db.one(sql, args![&source_id, run, &start]).await?;
    if is_lost || has_copies || row.int(4)? > 0 || now.int(0)? > 0 {
        let reason =
            if is_lost || !has_copies { reason(visit, &start).await? } else { SkipReason::Duplicate };
        if !is_failing_for_long(visit, reason).await? {
            return Err(Stopped::Failed(reason));
        }
    }
    // Links of a page that could not be read are not known.
    visit.source.is_partial |= now.int(1)? > 0;
    Ok(())
}

/// Returns whether this many pages are several, and more than the others.
fn is_most(pages: i64, others: i64) -> bool {
    pages >= MIN_LOST && pages > others
}

/// Returns why a run says nothing: the reason of the source's address, or else of the first page.
async fn reason(visit: &Visit<'_>, start: &str) -> Result<SkipReason, DbError> {
    let sql = concat!(
        "SELECT p.reason FROM source_pages p WHERE p.source_id = $1 AND p.reason IS NOT NULL
             AND p.state <> 'read' AND ((p.stored IS NOT NULL AND ",
        asked!(),
        ") OR (p.address_key = $3 AND p.run = $2))
         ORDER BY CASE WHEN p.address_key = $3 THEN 0 ELSE 1 END, p.no LIMIT 1"
    );
    let values = args![&visit.source.lease.source_id, visit.source.run, start];
    let reason = visit.service.db().optional(sql, values).await?.map(|row| row.text(0)).transpose()?;
    // Pages that all redirect to another one have no reason of their own.
    Ok(reason.and_then(|name| SkipReason::parse(&name)).unwrap_or(SkipReason::Moved))
}

/// Notes that a website answers as if it had changed, and returns whether that has lasted. A server that does
/// not let the pages be read can do so for ever, and says nothing about them.
async fn is_failing_for_long(visit: &Visit<'_>, reason: SkipReason) -> Result<bool, Stopped> {
    let is_fault = matches!(
        reason,
        SkipReason::ServerError
            | SkipReason::Timeout
            | SkipReason::Unreachable
            | SkipReason::RobotsUnavailable
            | SkipReason::Forbidden
    );
    if is_fault {
        return Ok(false);
    }
    let (id, now_ms) = (visit.source.lease.source_id.clone(), visit.service.now_ms());
    let work = work!(|tx| {
        let sql = "UPDATE sources SET failing_since_ms = coalesce(failing_since_ms, CAST($2 AS BIGINT))
                   WHERE id = $1 RETURNING failing_since_ms";
        tx.one(sql, args![&id, now_ms]).await?.int(0)
    });
    let since_ms = visit.change(work).await?;
    Ok(since_ms <= now_ms - millis(MISSED_TIME))
}

/// Removes pages that are gone, those beyond the maximum, and addresses that the run did not find. Pages that
/// were to be read when the run had to end stay as they were.
pub(super) async fn remove(visit: &Visit<'_>) -> Result<(), Stopped> {
    let (source_id, run) = (visit.source.lease.source_id.clone(), visit.source.run);
    let (now_ms, is_partial, max_pages) =
        (visit.service.now_ms(), visit.source.is_partial, visit.source.max_pages);
    let sql = "SELECT count(*) FROM source_pages WHERE source_id = $1 AND run = $2";
    let addresses = visit.service.db().one(sql, args![&source_id, run]).await?.int(0)?;
    // Links beyond the maximum are not known either.
    let is_cut_off = usize::try_from(addresses).is_ok_and(|count| count >= max_addresses(max_pages));
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
        let values = args![&source_id, run, now_ms, is_partial || is_cut_off, BATCH];
        if is_last(visit.change(work!(|tx| tx.execute(sql, values).await)).await?) {
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
        if is_last(visit.change(work!(|tx| forget_all(tx, sql, values).await)).await?) {
            break;
        }
    }
    // While a part of the website cannot be read, pages beyond the maximum may be the better ones.
    let most = max_pages * if is_partial { 2 } else { 1 };
    for (sql, values) in [
        (
            "DELETE FROM source_pages WHERE no IN (SELECT no FROM source_pages WHERE source_id = $1
                 AND page IS NULL AND (run < $2 OR state IN ('queued', 'moved', 'sitemap')) LIMIT $3)",
            args![&source_id, run, BATCH],
        ),
        (
            "DELETE FROM source_pages WHERE no IN (SELECT no FROM source_pages WHERE source_id = $1
                 AND page IS NOT NULL
                 ORDER BY CASE WHEN run = $2 AND state = 'read' THEN 0 ELSE 1 END, run DESC, no
                 LIMIT $3 OFFSET $4)",
            args![&source_id, run, BATCH, most],
        ),
        (
            "UPDATE source_pages SET state = 'read' WHERE no IN (SELECT no FROM source_pages
                 WHERE source_id = $1 AND run = $2 AND state = 'queued' AND page IS NOT NULL LIMIT $3)",
            args![&source_id, run, BATCH],
        ),
    ] {
        loop {
            let values = values.clone();
            if is_last(visit.change(work!(|tx| tx.execute(sql, values).await)).await?) {
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
