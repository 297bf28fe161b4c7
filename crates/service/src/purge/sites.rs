//! The data of deleted sites.

use super::retention::remove_all;
use super::{Purge, Stopped};
use crate::db::{DbError, Dialect, Tx, args, work};
use crate::visitors::removal::Removed;
use crate::visitors::scrub;

/// Maximum conversations of a batch.
const MAX_CONVERSATIONS: i64 = 20;
/// Maximum pages of content of a batch: a page can have a hundred kilobytes.
const MAX_PAGES: i64 = 50;

/// The tables whose rows are removed by their site, before the site itself.
const ROWS: [&str; 8] = [
    "DELETE FROM events WHERE no IN (SELECT no FROM events WHERE site_id = $1 LIMIT $2)",
    "DELETE FROM visitors WHERE no IN (SELECT no FROM visitors WHERE site_id = $1 LIMIT $2)",
    "DELETE FROM source_pages WHERE no IN (SELECT no FROM source_pages WHERE site_id = $1 LIMIT $2)",
    "DELETE FROM jobs WHERE no IN (SELECT no FROM jobs WHERE site_id = $1 LIMIT $2)",
    "DELETE FROM reviews WHERE no IN (SELECT no FROM reviews WHERE site_id = $1 LIMIT $2)",
    "DELETE FROM notifications WHERE no IN (SELECT no FROM notifications WHERE site_id = $1 LIMIT $2)",
    "DELETE FROM deliveries WHERE no IN (SELECT d.no FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id
         WHERE w.site_id = $1 LIMIT $2)",
    "DELETE FROM idempotency WHERE (site_id, scope, key) IN
         (SELECT site_id, scope, key FROM idempotency WHERE site_id = $1 LIMIT $2)",
];

pub(super) async fn purge(purge: &mut Purge<'_>) -> Result<(), Stopped> {
    let sql = "SELECT id, tenant_id FROM sites WHERE deleted_ms IS NOT NULL";
    for row in purge.service.db().all(sql, args![]).await? {
        let (site_id, tenant_id) = (row.text(0)?, row.text(1)?);
        conversations(purge, &tenant_id, &site_id).await?;
        for [terms, rows] in [
            [
                "DELETE FROM content_terms WHERE rowid IN
                     (SELECT no FROM content WHERE site_id = $1 ORDER BY no LIMIT $2)",
                "DELETE FROM content WHERE no IN
                     (SELECT no FROM content WHERE site_id = $1 ORDER BY no LIMIT $2)",
            ],
            [
                "DELETE FROM answer_terms WHERE rowid IN
                     (SELECT no FROM answers WHERE site_id = $1 ORDER BY no LIMIT $2)",
                "DELETE FROM answers WHERE no IN
                     (SELECT no FROM answers WHERE site_id = $1 ORDER BY no LIMIT $2)",
            ],
        ] {
            pages(purge, &site_id, terms, rows).await?;
        }
        for sql in ROWS {
            purge.repeat(sql, args![&site_id]).await?;
        }
        let now_ms = purge.now_ms;
        purge
            .batch(work!(|tx| {
                scrub::request(tx, now_ms).await?;
                // The remaining rows are few, and are deleted with the site.
                let removed = tx.execute("DELETE FROM sites WHERE id = $1", args![&site_id]).await?;
                tx.execute("DELETE FROM storage WHERE site_id = $1", args![&site_id]).await?;
                Ok(removed)
            }))
            .await?;
    }
    Ok(())
}

async fn conversations(purge: &mut Purge<'_>, tenant_id: &str, site_id: &str) -> Result<(), Stopped> {
    loop {
        let (site, tenant) = (site_id.to_owned(), tenant_id.to_owned());
        let removed = purge.batch(work!(|tx| some(tx, &tenant, &site).await)).await?;
        if removed == 0 {
            return Ok(());
        }
        purge.pause().await?;
    }
}

async fn some(tx: &mut Tx, tenant_id: &str, site_id: &str) -> Result<u64, DbError> {
    let sql = "SELECT no, id FROM conversations WHERE site_id = $1 LIMIT $2";
    let mut found = Vec::new();
    for row in tx.all(sql, args![site_id, MAX_CONVERSATIONS]).await? {
        let (site_id, tenant_id) = (site_id.to_owned(), tenant_id.to_owned());
        found.push(Removed { no: row.int(0)?, id: row.text(1)?, site_id, tenant_id });
    }
    remove_all(tx, found).await
}

/// Removes texts with their search terms, which on PostgreSQL go by themselves.
async fn pages(
    purge: &mut Purge<'_>,
    site_id: &str,
    terms: &'static str,
    rows: &'static str,
) -> Result<(), Stopped> {
    loop {
        let site = site_id.to_owned();
        let removed = purge
            .batch(work!(|tx| {
                if tx.dialect() == Dialect::Sqlite {
                    tx.execute(terms, args![&site, MAX_PAGES]).await?;
                }
                tx.execute(rows, args![&site, MAX_PAGES]).await
            }))
            .await?;
        if removed < MAX_PAGES.unsigned_abs() {
            return Ok(());
        }
        purge.pause().await?;
    }
}
