//! The sources of a site: listed, added, changed and removed.

use std::time::Duration;

use chat_protocol::FieldError;
use chat_protocol::admin::settings::{
    NewSource, Refresh, SkipReason, SkippedPage, Source, SourceChange, SourceState,
};
use reqwest::Url;

use super::claim::Claimed;
use super::fetch::Fetcher;
use crate::Service;
use crate::clock::{iso, millis};
use crate::content::address_key;
use crate::db::{Db, DbError, Row, Tx, Wake, args, transaction};
use crate::error::ApiError;
use crate::limits::{MAX_URL_LENGTH, check_text};
use crate::secrets::new_id;

/// Maximum sources of a site.
pub(super) const MAX_SOURCES: i64 = 10;
/// Maximum pages of a source, and those of one without a number.
pub(super) const MAX_PAGES: i64 = 500;
const DEFAULT_PAGES: i64 = 200;
/// Maximum skipped pages in the list of sources.
const MAX_LISTED: i64 = 50;
/// Maximum rows of a transaction that removes pages.
const BATCH: i64 = 100;

const DAY: Duration = Duration::from_hours(24);
const NO_SOURCE: ApiError = ApiError::NotFound("This source");

/// Returns the time between two runs.
fn interval_ms(refresh: Refresh) -> Option<i64> {
    match refresh {
        Refresh::Off => None,
        Refresh::Daily => Some(millis(DAY)),
        Refresh::Weekly => Some(millis(7 * DAY)),
    }
}

fn check_pages(pages: i64) -> Result<i64, FieldError> {
    if (1..=MAX_PAGES).contains(&pages) {
        return Ok(pages);
    }
    Err(FieldError::new("maxPages", format!("must be a number from 1 to {MAX_PAGES}")))
}

/// Checks the address of a website or a sitemap.
fn check_address(fetcher: &Fetcher, address: &str) -> Result<Url, FieldError> {
    let address = check_text("address", address, 1, MAX_URL_LENGTH)?;
    let invalid = || FieldError::new("address", "must be an address such as https://shop.example/");
    let mut url: Url = address.parse().map_err(|_| invalid())?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    if !is_web || !url.username().is_empty() || url.password().is_some() {
        return Err(invalid());
    }
    if !fetcher.may_request(&url) {
        return Err(FieldError::new("address", "must be a public address, not one of a private network"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Adds a source of a site, which is read soon.
pub(super) async fn add(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    new: &NewSource,
    fetcher: &Fetcher,
) -> Result<String, ApiError> {
    let url = check_address(fetcher, &new.address)?;
    let max_pages = check_pages(new.max_pages.unwrap_or(DEFAULT_PAGES))?;
    // Operators of one site add sources one after the other, so that the limit holds.
    tx.execute("UPDATE sites SET name = name WHERE id = $1", args![site_id]).await?;
    let sql = "SELECT address FROM sources WHERE site_id = $1 AND deleted_ms IS NULL";
    let known = tx.all(sql, args![site_id]).await?;
    if i64::try_from(known.len()).unwrap_or(i64::MAX) >= MAX_SOURCES {
        return Err(ApiError::Conflict(format!(
            "This site has {MAX_SOURCES} sources, which is the maximum: remove one first."
        )));
    }
    for row in &known {
        let known = row.text(0)?;
        if known.parse().is_ok_and(|known| address_key(&known) == address_key(&url)) {
            return Err(FieldError::new("address", "must be another one: this one is read already").into());
        }
    }
    let id = new_id("source");
    tx.execute(
        "INSERT INTO sources (id, site_id, address, max_pages, refresh, created_ms, state, due_ms)
         VALUES ($1, $2, $3, $4, $5, $6, 'waiting', $6)",
        args![&id, site_id, url.as_str(), max_pages, new.refresh.as_str(), now_ms],
    )
    .await?;
    tx.wake(Wake::Queue);
    Ok(id)
}

/// Changes a source.
pub(super) async fn change(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    change: &SourceChange,
) -> Result<(), ApiError> {
    if let Some(pages) = change.max_pages {
        let sql = "UPDATE sources SET max_pages = $3 WHERE site_id = $1 AND id = $2 AND deleted_ms IS NULL";
        existing(tx.execute(sql, args![site_id, id, check_pages(pages)?]).await?)?;
    }
    if let Some(refresh) = change.refresh {
        let sql = "UPDATE sources SET refresh = $3 WHERE site_id = $1 AND id = $2 AND deleted_ms IS NULL";
        existing(tx.execute(sql, args![site_id, id, refresh.as_str()]).await?)?;
        let interval = interval_ms(refresh);
        let sql = "UPDATE sources SET due_ms = coalesce(read_ms, CAST($4 AS BIGINT)) + $3
                   WHERE site_id = $1 AND id = $2 AND state IN ('read', 'failed')";
        tx.execute(sql, args![site_id, id, interval, now_ms]).await?;
        tx.wake(Wake::Queue);
    }
    let sql = "SELECT 1 FROM sources WHERE site_id = $1 AND id = $2 AND deleted_ms IS NULL";
    tx.optional(sql, args![site_id, id]).await?.map(drop).ok_or(NO_SOURCE)
}

fn existing(changed: u64) -> Result<(), ApiError> {
    if changed == 0 { Err(NO_SOURCE) } else { Ok(()) }
}

/// Lets a source be read again soon. One that is being read goes on.
pub(super) async fn read_again(tx: &mut Tx, now_ms: i64, site_id: &str, id: &str) -> Result<(), ApiError> {
    let sql = "UPDATE sources SET state = CASE WHEN state = 'reading' THEN state ELSE 'waiting' END,
                   due_ms = CASE WHEN state = 'reading' THEN due_ms ELSE CAST($3 AS BIGINT) END
               WHERE site_id = $1 AND id = $2 AND deleted_ms IS NULL";
    tx.wake(Wake::Queue);
    existing(tx.execute(sql, args![site_id, id, now_ms]).await?)
}

/// Marks a source as removed. [`remove_pages`] does the rest, now or after a crash.
pub(super) async fn mark_removed(tx: &mut Tx, now_ms: i64, site_id: &str, id: &str) -> Result<(), ApiError> {
    let sql = "UPDATE sources SET deleted_ms = $3, due_ms = $3, lease = NULL, lease_until_ms = 0
               WHERE site_id = $1 AND id = $2 AND deleted_ms IS NULL";
    existing(tx.execute(sql, args![site_id, id, now_ms]).await?)?;
    tx.wake(Wake::Queue);
    Ok(())
}

/// Removes the pages of a removed source with their content, little by little, and then the source.
pub(super) async fn remove_pages(db: &Db, id: &str) -> Result<(), DbError> {
    loop {
        let source_id = id.to_owned();
        let removed = transaction!(db, |tx| {
            // As in a sync: one change of a site's content at a time.
            let lock = "UPDATE sites SET name = name WHERE id = (SELECT site_id FROM sources WHERE id = $1)";
            tx.execute(lock, args![&source_id]).await?;
            let sql = "DELETE FROM source_pages WHERE no IN (SELECT p.no FROM source_pages p
                           JOIN sources s ON s.id = p.source_id
                           WHERE s.id = $1 AND s.deleted_ms IS NOT NULL LIMIT $2)";
            let removed = tx.execute(sql, args![&source_id, BATCH]).await?;
            if removed == 0 {
                let sql = "DELETE FROM sources WHERE id = $1 AND deleted_ms IS NOT NULL";
                tx.execute(sql, args![&source_id]).await?;
            }
            Ok::<_, DbError>(removed)
        })
        .await?;
        if removed == 0 {
            return Ok(());
        }
    }
}

/// Ends a run: as a failure with this reason, or with what could not be read.
pub(super) async fn finish(
    service: &Service,
    tenant_id: &str,
    source: &Claimed,
    failure: Option<SkipReason>,
    problem: Option<SkipReason>,
) -> Result<(), DbError> {
    let (lease, site_id, now_ms) = (source.lease.clone(), source.site_id.clone(), service.now_ms());
    let tenant_id = tenant_id.to_owned();
    service.0.sources.forget_robots(&lease.source_id);
    transaction!(service.db(), |tx| {
        let sql = "SELECT refresh FROM sources WHERE id = $1 AND lease = $2";
        let Some(row) = tx.optional(sql, args![&lease.source_id, &lease.token]).await? else { return Ok(()) };
        let refresh = Refresh::parse(&row.text(0)?).unwrap_or_default();
        let due_ms = interval_ms(refresh).map(|interval| now_ms.saturating_add(interval));
        let state = if failure.is_some() { SourceState::Failed } else { SourceState::Read };
        let problem = failure.or(problem).map(SkipReason::as_str);
        let sql =
            "UPDATE sources SET state = $3, problem = $4, due_ms = $5, lease = NULL, lease_until_ms = 0,
                       read_ms = CASE WHEN $3 = 'read' THEN CAST($6 AS BIGINT) ELSE read_ms END,
                       failing_since_ms = CASE WHEN $3 = 'read' THEN NULL ELSE failing_since_ms END
                   WHERE id = $1 AND lease = $2";
        let values = args![&lease.source_id, &lease.token, state.as_str(), problem, due_ms, now_ms];
        tx.execute(sql, values).await?;
        tx.wake(Wake::Site { tenant: tenant_id, site: site_id });
        Ok(())
    })
    .await
}

/// Returns a site's sources, oldest first.
pub(super) async fn list(db: &Db, site_id: &str) -> Result<Vec<Source>, DbError> {
    let sql = "SELECT id, address, max_pages, refresh, state, problem, read_ms, due_ms, run,
                   (SELECT count(DISTINCT p.no) FROM source_pages p JOIN content c ON c.source_page = p.no
                    WHERE p.source_id = s.id)
               FROM sources s WHERE site_id = $1 AND deleted_ms IS NULL ORDER BY created_ms, id";
    let mut sources = Vec::new();
    for row in db.all(sql, args![site_id]).await? {
        sources.push(read(db, &row).await?);
    }
    Ok(sources)
}

/// Returns a source of a site.
pub(super) async fn find(db: &Db, site_id: &str, id: &str) -> Result<Source, ApiError> {
    list(db, site_id).await?.into_iter().find(|source| source.id == id).ok_or(NO_SOURCE)
}

async fn read(db: &Db, row: &Row) -> Result<Source, DbError> {
    let (id, run, max_pages) = (row.text(0)?, row.int(8)?, row.int(2)?);
    let state = SourceState::parse(&row.text(4)?).unwrap_or_default();
    let (mut done, mut found) = (0, 0);
    let mut skipped_count = 0;
    let sql = "SELECT state, count(*) FROM source_pages WHERE source_id = $1 AND run = $2 GROUP BY state";
    for row in db.all(sql, args![&id, run]).await? {
        let (state, count) = (row.text(0)?, row.int(1)?);
        if matches!(state.as_str(), "moved" | "sitemap") {
            continue;
        }
        found += count;
        done += if state == "queued" { 0 } else { count };
        skipped_count += if state == "skipped" { count } else { 0 };
    }
    let sql =
        "SELECT address, reason FROM source_pages WHERE source_id = $1 AND run = $2 AND state = 'skipped'
               ORDER BY no LIMIT $3";
    let mut skipped = Vec::new();
    for row in db.all(sql, args![&id, run, MAX_LISTED]).await? {
        if let Some(reason) = SkipReason::parse(&row.optional_text(1)?.unwrap_or_default()) {
            skipped.push(SkippedPage { address: row.text(0)?, reason });
        }
    }
    let is_reading = state == SourceState::Reading;
    let most = max_pages.saturating_add(skipped_count).min(found);
    Ok(Source {
        address: row.text(1)?,
        max_pages,
        refresh: Refresh::parse(&row.text(3)?).unwrap_or_default(),
        state,
        problem: row.optional_text(5)?.and_then(|name| SkipReason::parse(&name)),
        pages: row.int(9)?,
        done: if is_reading { done.min(most) } else { 0 },
        found: if is_reading { most } else { 0 },
        read_at: row.optional_int(6)?.map(iso),
        next_at: row.optional_int(7)?.filter(|_| !is_reading && state != SourceState::Waiting).map(iso),
        skipped_count,
        skipped,
        id,
    })
}
