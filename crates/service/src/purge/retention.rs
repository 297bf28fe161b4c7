//! Conversations, events and visitors that are older than their site keeps them.

use super::{DAY_MS, Purge, Stopped};
use crate::conversations::Status;
use crate::db::{DbError, Tx, args, work};
use crate::visitors::removal::{self, BATCH, Removed};

/// Days for which a site that names none keeps events, and visitors who never wrote.
const EVENT_DAYS: i64 = 365;
/// Maximum conversations of a batch.
const MAX_CONVERSATIONS: i64 = 20;

pub(super) async fn purge(purge: &mut Purge<'_>) -> Result<(), Stopped> {
    let sql = "SELECT id, tenant_id, retention_days FROM sites WHERE deleted_ms IS NULL";
    for row in purge.service.db().all(sql, args![]).await? {
        let (site_id, tenant_id) = (row.text(0)?, row.text(1)?);
        let days = row.optional_int(2)?;
        let before = |days: i64| purge.now_ms.saturating_sub(days.saturating_mul(DAY_MS));
        let events_before = before(days.unwrap_or(EVENT_DAYS));
        if let Some(days) = days {
            let before_ms = before(days);
            conversations(purge, &tenant_id, &site_id, before_ms).await?;
        }
        purge
            .repeat(
                "DELETE FROM events WHERE no IN (SELECT no FROM events
                     WHERE site_id = $1 AND received_ms < $2 ORDER BY received_ms LIMIT $3)",
                args![&site_id, events_before],
            )
            .await?;
        purge
            .repeat(
                "DELETE FROM visitors WHERE no IN (SELECT no FROM visitors v
                     WHERE site_id = $1 AND last_seen_ms < $2
                         AND NOT EXISTS (SELECT 1 FROM conversations WHERE visitor_no = v.no)
                     ORDER BY last_seen_ms LIMIT $3)",
                args![&site_id, events_before],
            )
            .await?;
    }
    Ok(())
}

/// Removes the conversations of a site in which nobody has written since a time.
async fn conversations(
    purge: &mut Purge<'_>,
    tenant_id: &str,
    site_id: &str,
    before_ms: i64,
) -> Result<(), Stopped> {
    for status in Status::ALL.map(Status::as_str) {
        loop {
            let (site, tenant) = (site_id.to_owned(), tenant_id.to_owned());
            let removed =
                purge.batch(work!(|tx| silent(tx, &tenant, &site, status, before_ms).await)).await?;
            if removed == 0 {
                break;
            }
            purge.pause().await?;
        }
    }
    Ok(())
}

async fn silent(
    tx: &mut Tx,
    tenant_id: &str,
    site_id: &str,
    status: &str,
    before_ms: i64,
) -> Result<u64, DbError> {
    let sql = "SELECT no, id FROM conversations WHERE site_id = $1 AND status = $2 AND updated_ms < $3
               ORDER BY updated_ms LIMIT $4";
    let rows = tx.all(sql, args![site_id, status, before_ms, MAX_CONVERSATIONS]).await?;
    let mut found = Vec::new();
    for row in rows {
        let (site_id, tenant_id) = (site_id.to_owned(), tenant_id.to_owned());
        found.push(Removed { no: row.int(0)?, id: row.text(1)?, site_id, tenant_id });
    }
    remove_all(tx, found).await
}

/// Removes conversations, up to a batch of rows. Returns the number of removed rows.
pub(super) async fn remove_all(tx: &mut Tx, conversations: Vec<Removed>) -> Result<u64, DbError> {
    let (mut limit, mut removed) = (BATCH, 0);
    for conversation in conversations {
        let (messages, gone) = removal::remove(tx, &conversation, limit).await?;
        limit -= messages;
        removed += messages.unsigned_abs() + u64::from(gone);
        if !gone {
            break;
        }
    }
    Ok(removed)
}
