//! The queue of deliveries, which nodes share. A delivery that a node works on is not due until its lease
//! ends.

use axum::http::StatusCode;
use sqlx::AssertSqlSafe;

use super::store;
use crate::db::{Db, DbError, Dialect, Row, Tx, args};
use crate::notify::attempt::{Next, paused_until_ms};
use crate::notify::http::Outcome;

/// The time after which another node takes over a delivery. Longer than the timeout of a request.
const LEASE_MS: i64 = 60_000;
/// Maximum deliveries of a disabled webhook that fail in one transaction.
const MAX_CANCELLED: u32 = 500;
/// A webhook is disabled that has failed for this time.
const MAX_FAILING_MS: i64 = 5 * 24 * 60 * 60 * 1000;

/// A webhook with pending deliveries.
#[derive(Clone, Debug)]
pub(in crate::notify) struct PendingWebhook {
    pub(super) id: String,
    pub(super) disabled: bool,
    pub(super) failing: bool,
    /// The time at which the next delivery is due.
    pub(super) due_ms: i64,
}

/// Returns the webhooks with pending deliveries. The cost grows with their number, not with that of the
/// deliveries: each step of the recursion looks up the next webhook in an index.
pub(super) async fn pending(db: &Db) -> Result<Vec<PendingWebhook>, DbError> {
    let sql = "WITH RECURSIVE waiting (webhook_id) AS ( \
                   SELECT min(webhook_id) FROM deliveries WHERE status = 'pending' \
                   UNION ALL \
                   SELECT (SELECT min(d.webhook_id) FROM deliveries d \
                           WHERE d.status = 'pending' AND d.webhook_id > waiting.webhook_id) \
                   FROM waiting WHERE waiting.webhook_id IS NOT NULL) \
               SELECT w.id, w.disabled_ms, w.failing_since_ms, w.paused_until_ms, \
                      (SELECT min(d.next_ms) FROM deliveries d \
                       WHERE d.webhook_id = w.id AND d.status = 'pending') \
               FROM waiting JOIN webhooks w ON w.id = waiting.webhook_id";
    let rows = db.all(sql, args![]).await?;
    let mut pending = Vec::with_capacity(rows.len());
    for row in rows {
        let disabled = !row.is_null(1)?;
        // Delivered by another node in between.
        let Some(next_ms) = row.optional_int(4)? else { continue };
        pending.push(PendingWebhook {
            id: row.text(0)?,
            disabled,
            failing: !row.is_null(2)?,
            due_ms: if disabled { 0 } else { next_ms.max(row.int(3)?) },
        });
    }
    Ok(pending)
}

/// A delivery that this node works on.
#[derive(Clone, Debug)]
pub(in crate::notify) struct Claimed {
    no: i64,
    pub(super) webhook_id: String,
    pub(super) event_id: String,
    pub(super) body: String,
    /// The number of this attempt. It is also the claim's proof: a later claim has a higher one.
    attempt: i64,
    earlier_attempts: i64,
    pub(super) url: String,
    pub(super) secret: Vec<u8>,
    /// The secret before the last rotation, while it is still used.
    pub(super) previous_secret: Option<Vec<u8>>,
}

impl Claimed {
    /// Returns the number of this attempt since the delivery was queued or replayed, from 1.
    pub(super) fn attempt(&self) -> i64 {
        self.attempt - self.earlier_attempts
    }
}

/// Claims due deliveries of a webhook, at most `limit`. Nodes that claim at the same time get different ones.
pub(super) async fn claim(
    tx: &mut Tx,
    now_ms: i64,
    webhook_id: &str,
    limit: usize,
) -> Result<Vec<Claimed>, DbError> {
    let sql = "SELECT url, secret, previous_secret, previous_until_ms FROM webhooks \
               WHERE id = $1 AND disabled_ms IS NULL";
    let Some(webhook) = tx.optional(sql, args![webhook_id]).await? else { return Ok(Vec::new()) };
    let lock = match tx.dialect() {
        Dialect::Sqlite => "",
        Dialect::Postgres => "FOR UPDATE SKIP LOCKED",
    };
    let sql = AssertSqlSafe(format!(
        "UPDATE deliveries SET attempts = attempts + 1, next_ms = $4, lease_until_ms = $4 \
         WHERE no IN (SELECT no FROM deliveries WHERE webhook_id = $1 AND status = 'pending' \
                      AND next_ms <= $2 ORDER BY next_ms, no LIMIT $3 {lock}) \
         RETURNING no, event_id, body, attempts, earlier_attempts"
    ));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let arguments = args![webhook_id, now_ms, limit, now_ms.saturating_add(LEASE_MS)];
    let rows = tx.all(sql, arguments).await?;
    rows.iter().map(|row| claimed_row(webhook_id, &webhook, row, now_ms)).collect()
}

fn claimed_row(webhook_id: &str, webhook: &Row, row: &Row, now_ms: i64) -> Result<Claimed, DbError> {
    let overlaps = webhook.int(3)? > now_ms;
    Ok(Claimed {
        no: row.int(0)?,
        webhook_id: webhook_id.to_owned(),
        event_id: row.text(1)?,
        body: row.text(2)?,
        attempt: row.int(3)?,
        earlier_attempts: row.int(4)?,
        url: webhook.text(0)?,
        secret: webhook.bytes(1)?,
        previous_secret: webhook.optional_bytes(2)?.filter(|_| overlaps),
    })
}

/// Lets pending deliveries of a disabled webhook fail, except those that are being sent, and returns their
/// number. They can be replayed.
pub(super) async fn cancel(tx: &mut Tx, now_ms: i64, webhook_id: &str) -> Result<u64, DbError> {
    let sql = "UPDATE deliveries SET status = 'failed', finished_ms = $2 WHERE no IN \
               (SELECT no FROM deliveries WHERE webhook_id = $1 AND status = 'pending' \
                AND lease_until_ms <= $2 LIMIT $3) \
               AND EXISTS (SELECT 1 FROM webhooks WHERE id = $1 AND disabled_ms IS NOT NULL)";
    tx.execute(sql, args![webhook_id, now_ms, MAX_CANCELLED]).await
}

/// Stores what came of an attempt. Nothing is stored when the lease had ended and another node has claimed
/// the delivery since.
pub(super) async fn record(
    tx: &mut Tx,
    now_ms: i64,
    claimed: &Claimed,
    outcome: &Outcome,
    next: Next,
) -> Result<(), DbError> {
    let (status, next_ms, finished_ms) = match next {
        Next::Delivered => ("delivered", now_ms, Some(now_ms)),
        Next::Failed => ("failed", now_ms, Some(now_ms)),
        Next::Retry { at_ms } => ("pending", at_ms, None),
    };
    let sql = "UPDATE deliveries SET status = $3, next_ms = $4, finished_ms = $5, lease_until_ms = 0 \
               WHERE no = $1 AND attempts = $2 AND status = 'pending'";
    let arguments = args![claimed.no, claimed.attempt, status, next_ms, finished_ms];
    if tx.execute(sql, arguments).await? == 0 {
        return Ok(());
    }
    let sql = "INSERT INTO delivery_attempts (delivery_no, attempt, at_ms, status, error, duration_ms) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let http_status = outcome.status.map(|status| i64::from(status.as_u16()));
    let error = outcome.error.as_deref();
    let at_ms = now_ms.saturating_sub(outcome.duration_ms);
    let arguments = args![claimed.no, claimed.attempt, at_ms, http_status, error, outcome.duration_ms];
    tx.execute(sql, arguments).await?;
    if next == Next::Delivered {
        let sql = "UPDATE webhooks SET failing_since_ms = NULL, paused_until_ms = 0 \
                   WHERE id = $1 AND (failing_since_ms IS NOT NULL OR paused_until_ms > 0)";
        tx.execute(sql, args![&claimed.webhook_id]).await?;
        return Ok(());
    }
    let sql = "UPDATE webhooks SET failing_since_ms = coalesce(failing_since_ms, $2), \
               paused_until_ms = CASE WHEN paused_until_ms > $3 THEN paused_until_ms ELSE $3 END \
               WHERE id = $1 AND disabled_ms IS NULL RETURNING tenant_id, failing_since_ms";
    let arguments = args![&claimed.webhook_id, now_ms, paused_until_ms(outcome, now_ms)];
    let Some(row) = tx.optional(sql, arguments).await? else { return Ok(()) };
    if let Some(reason) = reason_to_disable(outcome, now_ms, row.int(1)?) {
        store::disable(tx, now_ms, &claimed.webhook_id, reason).await?;
        super::audit_disabled(tx, now_ms, &row.text(0)?, &claimed.webhook_id, reason).await?;
    }
    Ok(())
}

/// Returns why a webhook is disabled after a failed attempt, if it is.
fn reason_to_disable(outcome: &Outcome, now_ms: i64, failing_since_ms: i64) -> Option<&'static str> {
    if outcome.status == Some(StatusCode::GONE) {
        return Some("the receiver answered 410 Gone");
    }
    (now_ms.saturating_sub(failing_since_ms) >= MAX_FAILING_MS).then_some("it has failed for 5 days")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_disabled_that_is_gone_or_has_failed_for_five_days() {
        let failed = Outcome::not_sent("refused");
        assert_eq!(reason_to_disable(&failed, MAX_FAILING_MS - 1, 0), None);
        assert!(reason_to_disable(&failed, MAX_FAILING_MS, 0).is_some());
        let gone = Outcome { status: Some(StatusCode::GONE), ..failed };
        assert!(reason_to_disable(&gone, 0, 0).is_some());
    }
}
