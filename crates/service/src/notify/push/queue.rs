//! The queue of pushes, which nodes share: one row for each device and conversation. A push that a node works
//! on is not due until its lease ends.

use std::collections::HashMap;

use sqlx::AssertSqlSafe;

use crate::Service;
use crate::db::{Db, DbError, Dialect, Tx, Wake, args};
use crate::notify::attempt::{Next, paused_until_ms};
use crate::notify::http::Outcome;
use crate::presence::CONSOLE_TIMEOUT_MS;

/// The minimum time between two pushes about a conversation. What comes meanwhile is told together.
const MIN_INTERVAL_MS: i64 = 10_000;
/// Maximum pushes that wait for one device, so that many conversations that begin at once, as in an attack,
/// do not flood it.
const MAX_PENDING: i64 = 30;
/// The time after which another node takes over a push. Longer than the timeout of a request.
const LEASE_MS: i64 = 60_000;
/// A push that could not be delivered for this time is given up.
const MAX_AGE_MS: i64 = 60 * 60 * 1000;
/// A device is removed when its push service has refused this many pushes in succession.
const MAX_REFUSALS: i64 = 3;

/// The reason for a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The visitor has written.
    Message,
    /// The visitor begins to wait for a person.
    WantsPerson,
}

impl Cause {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::WantsPerson => "wants_person",
        }
    }
}

/// Something that operators are told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushEvent<'a> {
    pub(crate) tenant_id: &'a str,
    pub(crate) conversation_id: &'a str,
    /// The operator whom alone it concerns; `None`: everybody.
    pub(crate) assignee_id: Option<&'a str>,
    pub(crate) cause: Cause,
}

/// Queues a push to each device of the operators who are concerned and have no console in use, in the
/// transaction of its cause. A tenant without devices costs one statement that finds none.
pub(crate) async fn queue(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    event: PushEvent<'_>,
) -> Result<(), DbError> {
    if !service.0.options.web_push {
        return Ok(());
    }
    // When the assigned operator is disabled, all others are told.
    let sql = "INSERT INTO pushes (device_id, conversation_id, cause, next_ms, queued_ms) \
               SELECT d.id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($4 AS BIGINT) \
               FROM operators o JOIN push_devices d ON d.operator_id = o.id \
               WHERE o.tenant_id = $1 AND o.disabled_ms IS NULL \
               AND (CAST($5 AS TEXT) IS NULL OR o.id = $5 OR EXISTS \
                   (SELECT 1 FROM operators a WHERE a.id = $5 AND a.disabled_ms IS NOT NULL)) \
               AND NOT EXISTS (SELECT 1 FROM consoles c WHERE c.tenant_id = $1 AND c.operator_id = o.id \
                   AND c.open = 1 AND c.idle = 0 AND c.seen_ms > $6) \
               AND (SELECT count(*) FROM pushes w \
                    WHERE w.device_id = d.id AND w.next_ms IS NOT NULL AND w.conversation_id <> $2) < $7 \
               ON CONFLICT (device_id, conversation_id) DO UPDATE SET \
                   cause = CASE WHEN pushes.next_ms IS NOT NULL AND pushes.cause = 'wants_person' \
                       THEN pushes.cause ELSE excluded.cause END, \
                   version = pushes.version + 1, attempts = 0, queued_ms = excluded.queued_ms, \
                   next_ms = CASE WHEN coalesce(pushes.sent_ms, 0) > excluded.queued_ms - $8 \
                       THEN pushes.sent_ms + $8 ELSE excluded.queued_ms END";
    let PushEvent { tenant_id, conversation_id, assignee_id, cause } = event;
    let arguments = args![
        tenant_id,
        conversation_id,
        cause.as_str(),
        now_ms,
        assignee_id,
        now_ms - CONSOLE_TIMEOUT_MS,
        MAX_PENDING,
        MIN_INTERVAL_MS,
    ];
    if tx.execute(sql, arguments).await? > 0 {
        tx.wake(Wake::Queue);
    }
    Ok(())
}

/// Cancels the pushes about a conversation in which somebody has answered, or which is closed.
pub(crate) async fn answered(tx: &mut Tx, conversation_id: &str) -> Result<(), DbError> {
    let sql = "UPDATE pushes SET next_ms = NULL WHERE conversation_id = $1 AND next_ms IS NOT NULL";
    tx.execute(sql, args![conversation_id]).await?;
    Ok(())
}

/// Returns when the operators of a tenant were last told about conversations by a push, by the ids of the
/// operator and the conversation.
pub(crate) async fn told(
    tx: &mut Tx,
    tenant_id: &str,
    since_ms: i64,
) -> Result<HashMap<(String, String), i64>, DbError> {
    let sql = "SELECT o.id, p.conversation_id, max(p.sent_ms) \
               FROM pushes p JOIN push_devices d ON d.id = p.device_id JOIN operators o ON o.id = d.operator_id \
               WHERE o.tenant_id = $1 AND p.sent_ms >= $2 GROUP BY o.id, p.conversation_id";
    let rows = tx.all(sql, args![tenant_id, since_ms]).await?;
    rows.iter().map(|row| Ok(((row.text(0)?, row.text(1)?), row.int(2)?))).collect()
}

/// A push that this node sends.
#[derive(Clone, Debug)]
pub(in crate::notify) struct Claimed {
    no: i64,
    pub(super) device_id: String,
    pub(super) conversation_id: String,
    pub(super) wants_person: bool,
    version: i64,
    attempt: i64,
    queued_ms: i64,
}

/// Claims pushes that are due. Nodes that claim at the same time get different ones.
pub(super) async fn claim(tx: &mut Tx, now_ms: i64, limit: usize) -> Result<Vec<Claimed>, DbError> {
    let lock = match tx.dialect() {
        Dialect::Sqlite => "",
        Dialect::Postgres => "FOR UPDATE OF p SKIP LOCKED",
    };
    let sql = AssertSqlSafe(format!(
        "UPDATE pushes SET attempts = attempts + 1, next_ms = $2 WHERE no IN \
         (SELECT p.no FROM pushes p JOIN push_devices d ON d.id = p.device_id \
          WHERE p.next_ms <= $1 AND d.paused_until_ms <= $1 ORDER BY p.next_ms, p.no LIMIT $3 {lock}) \
         RETURNING no, device_id, conversation_id, cause, version, attempts, queued_ms"
    ));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut claimed = Vec::new();
    for row in tx.all(sql, args![now_ms, now_ms.saturating_add(LEASE_MS), limit]).await? {
        claimed.push(Claimed {
            no: row.int(0)?,
            device_id: row.text(1)?,
            conversation_id: row.text(2)?,
            wants_person: row.text(3)? == Cause::WantsPerson.as_str(),
            version: row.int(4)?,
            attempt: row.int(5)?,
            queued_ms: row.int(6)?,
        });
    }
    Ok(claimed)
}

/// Returns when the next push is due.
pub(super) async fn next_due_ms(db: &Db) -> Result<Option<i64>, DbError> {
    let sql = "SELECT min(CASE WHEN d.paused_until_ms > p.next_ms THEN d.paused_until_ms ELSE p.next_ms END) \
               FROM pushes p JOIN push_devices d ON d.id = p.device_id WHERE p.next_ms IS NOT NULL";
    db.one(sql, args![]).await?.optional_int(0)
}

impl Claimed {
    /// Gives up a push that nobody wants any more.
    pub(super) async fn drop_event(&self, tx: &mut Tx) -> Result<(), DbError> {
        self.end(tx, None).await
    }

    /// Removes the device, which gets nothing any more.
    pub(super) async fn remove_device(&self, tx: &mut Tx) -> Result<(), DbError> {
        tx.execute("DELETE FROM push_devices WHERE id = $1", args![&self.device_id]).await?;
        Ok(())
    }

    /// Stores what came of an attempt, and removes a device that its push service does not know.
    pub(super) async fn record(
        &self,
        tx: &mut Tx,
        now_ms: i64,
        outcome: &Outcome,
        jitter: i64,
    ) -> Result<(), DbError> {
        if outcome.is_delivered() {
            let sql = "UPDATE pushes SET sent_ms = $2 WHERE no = $1";
            tx.execute(sql, args![self.no, now_ms]).await?;
            let sql = "UPDATE push_devices SET used_ms = $2, failures = 0 WHERE id = $1";
            tx.execute(sql, args![&self.device_id, now_ms]).await?;
            return self.end(tx, None).await;
        }
        match outcome.status.map(|status| status.as_u16()) {
            Some(404 | 410) => self.remove_device(tx).await,
            Some(400..=428 | 430..=499) => self.count_refusal(tx).await,
            _ => {
                let sql =
                    "UPDATE push_devices SET paused_until_ms = $2 WHERE id = $1 AND paused_until_ms < $2";
                tx.execute(sql, args![&self.device_id, paused_until_ms(outcome, now_ms)]).await?;
                let next_ms = match Next::after(self.attempt, outcome, now_ms, jitter) {
                    Next::Retry { at_ms } if at_ms - self.queued_ms < MAX_AGE_MS => Some(at_ms),
                    _ => None,
                };
                self.end(tx, next_ms).await
            }
        }
    }

    /// Counts a refused push, which is not repeated: it would be refused again.
    async fn count_refusal(&self, tx: &mut Tx) -> Result<(), DbError> {
        let sql = "UPDATE push_devices SET failures = failures + 1 WHERE id = $1 RETURNING failures";
        match tx.optional(sql, args![&self.device_id]).await? {
            Some(row) if row.int(0)? >= MAX_REFUSALS => self.remove_device(tx).await,
            _ => self.end(tx, None).await,
        }
    }

    /// Sets the time of the next attempt, unless something has happened in the conversation meanwhile.
    async fn end(&self, tx: &mut Tx, next_ms: Option<i64>) -> Result<(), DbError> {
        let sql = "UPDATE pushes SET next_ms = $4 \
                   WHERE no = $1 AND version = $2 AND attempts = $3 AND next_ms IS NOT NULL";
        tx.execute(sql, args![self.no, self.version, self.attempt, next_ms]).await?;
        Ok(())
    }
}
