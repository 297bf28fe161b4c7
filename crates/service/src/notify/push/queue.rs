//! The queue of pushes, which nodes share: one row for each device and conversation.
//!
//! A device gets one push at a time, and the next one some seconds later: it tells of all conversations for
//! which something happened meanwhile. `paused_until_ms` of a device is the time of its next push at the
//! earliest, or the end of the lease of the node that sends one.

use std::collections::HashMap;

use sqlx::AssertSqlSafe;

use crate::Service;
use crate::db::{Db, DbError, Dialect, Tx, Wake, args};
use crate::notify::attempt::{Next, paused_until_ms};
use crate::notify::http::Outcome;
use crate::presence::CONSOLE_TIMEOUT_MS;

/// The minimum time between two pushes to a device, which thus gets at most six in a minute. What happens
/// meanwhile, in however many conversations, is told together.
const MIN_INTERVAL_MS: i64 = 10_000;
/// Maximum conversations that wait for one device, so that the work for many that begin at once, as in an
/// attack, is bounded.
const MAX_PENDING: i64 = 30;
/// The time after which another node takes over a push. Longer than the timeout of a request.
const LEASE_MS: i64 = 60_000;
/// A push that could not be delivered for this time is given up.
const MAX_AGE_MS: i64 = 60 * 60 * 1000;
/// A device is removed when its push service has refused this many pushes in succession.
const MAX_REFUSALS: i64 = 3;

/// The reason for a push, from the least to the most urgent one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The visitor has written.
    Message,
    /// The AI could not answer the visitor, who waits for a person.
    Unanswered,
    /// The visitor asks for a person.
    WantsPerson,
}

impl Cause {
    const ALL: [Self; 3] = [Self::Message, Self::Unanswered, Self::WantsPerson];

    /// Returns the cause with a stored name.
    pub(super) fn from_stored(name: &str) -> Self {
        Self::ALL.into_iter().find(|cause| cause.as_str() == name).unwrap_or(Self::Message)
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Unanswered => "unanswered",
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
    // When the assigned operator is disabled, all others are told. The order of the devices is the same in
    // all transactions, so that none waits for another one in a circle.
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
               ORDER BY d.id \
               ON CONFLICT (device_id, conversation_id) DO UPDATE SET \
                   cause = CASE WHEN pushes.next_ms IS NOT NULL AND (pushes.cause = 'wants_person' \
                           OR pushes.cause = 'unanswered' AND excluded.cause = 'message') \
                       THEN pushes.cause ELSE excluded.cause END, \
                   version = pushes.version + 1, attempts = 0, queued_ms = excluded.queued_ms, \
                   next_ms = excluded.queued_ms";
    let PushEvent { tenant_id, conversation_id, assignee_id, cause } = event;
    let arguments = args![
        tenant_id,
        conversation_id,
        cause.as_str(),
        now_ms,
        assignee_id,
        now_ms - CONSOLE_TIMEOUT_MS,
        MAX_PENDING,
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

/// A push that this node sends to a device, about one or more conversations.
#[derive(Clone, Debug)]
pub(in crate::notify) struct Claimed {
    pub(super) device_id: String,
    /// The end of the lease. It is also the claim's proof: a later claim has a later one.
    pub(super) leased_until_ms: i64,
    events: Vec<ClaimedEvent>,
}

/// An event of one conversation in a claimed push.
#[derive(Clone, Debug)]
struct ClaimedEvent {
    no: i64,
    version: i64,
    attempt: i64,
    queued_ms: i64,
}

/// Claims what is due for at most `limit` devices, those first that wait longest. Nodes that claim at the
/// same time get different ones.
pub(super) async fn claim(tx: &mut Tx, now_ms: i64, limit: usize) -> Result<Vec<Claimed>, DbError> {
    // The weaker lock: the transaction of a visitor's message refers to the device meanwhile.
    let [lock_devices, lock_pushes] = match tx.dialect() {
        Dialect::Sqlite => ["", ""],
        Dialect::Postgres => ["FOR NO KEY UPDATE OF d SKIP LOCKED", "FOR UPDATE SKIP LOCKED"],
    };
    let sql = AssertSqlSafe(format!(
        "UPDATE push_devices SET paused_until_ms = $2 WHERE id IN \
         (SELECT d.id FROM push_devices d WHERE d.paused_until_ms <= $1 \
          AND d.id IN (SELECT p.device_id FROM pushes p WHERE p.next_ms <= $1) \
          ORDER BY (SELECT min(p.next_ms) FROM pushes p WHERE p.device_id = d.id), d.id \
          LIMIT $3 {lock_devices}) \
         RETURNING id"
    ));
    let leased_until_ms = now_ms.saturating_add(LEASE_MS);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut claimed = Vec::new();
    for device in tx.all(sql, args![now_ms, leased_until_ms, limit]).await? {
        let device_id = device.text(0)?;
        let sql = AssertSqlSafe(format!(
            "UPDATE pushes SET attempts = attempts + 1, next_ms = $3 WHERE no IN \
             (SELECT no FROM pushes WHERE device_id = $1 AND next_ms <= $2 {lock_pushes}) \
             RETURNING no, version, attempts, queued_ms"
        ));
        let mut events = Vec::new();
        for row in tx.all(sql, args![&device_id, now_ms, leased_until_ms]).await? {
            events.push(ClaimedEvent {
                no: row.int(0)?,
                version: row.int(1)?,
                attempt: row.int(2)?,
                queued_ms: row.int(3)?,
            });
        }
        let device = Claimed { device_id, leased_until_ms, events };
        if device.events.is_empty() {
            // All were locked by transactions in progress.
            device.release(tx, now_ms).await?;
        } else {
            claimed.push(device);
        }
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
    /// Gives up a push that nobody wants any more. The device has got nothing, and need not pause.
    pub(super) async fn drop_events(&self, tx: &mut Tx, now_ms: i64) -> Result<(), DbError> {
        self.release(tx, now_ms).await?;
        self.end(tx).await
    }

    /// Removes the device, which gets nothing any more.
    pub(super) async fn remove_device(&self, tx: &mut Tx) -> Result<(), DbError> {
        tx.execute("DELETE FROM push_devices WHERE id = $1", args![&self.device_id]).await?;
        Ok(())
    }

    /// Stores what came of an attempt, and removes a device that its push service does not know. `told` has
    /// the numbers of the events that the push told about; nobody wants the others any more.
    pub(super) async fn record(
        &self,
        tx: &mut Tx,
        now_ms: i64,
        told: &[i64],
        outcome: &Outcome,
        jitter: i64,
    ) -> Result<(), DbError> {
        let pause_ms = now_ms.saturating_add(MIN_INTERVAL_MS).max(paused_until_ms(outcome, now_ms));
        self.release(tx, pause_ms).await?;
        if outcome.is_delivered() {
            let sql = "UPDATE push_devices SET used_ms = $2, failures = 0 WHERE id = $1";
            tx.execute(sql, args![&self.device_id, now_ms]).await?;
            for no in told {
                tx.execute("UPDATE pushes SET sent_ms = $2 WHERE no = $1", args![*no, now_ms]).await?;
            }
            return self.end(tx).await;
        }
        match outcome.status.map(|status| status.as_u16()) {
            Some(404 | 410) => self.remove_device(tx).await,
            Some(400..=428 | 430..=499) => self.count_refusal(tx).await,
            _ => {
                for event in &self.events {
                    let next_ms = match Next::after(event.attempt, outcome, now_ms, jitter) {
                        Next::Retry { at_ms }
                            if told.contains(&event.no) && at_ms - event.queued_ms < MAX_AGE_MS =>
                        {
                            Some(at_ms)
                        }
                        _ => None,
                    };
                    event.end(tx, next_ms).await?;
                }
                Ok(())
            }
        }
    }

    /// Counts a refused push, which is not repeated: it would be refused again.
    async fn count_refusal(&self, tx: &mut Tx) -> Result<(), DbError> {
        let sql = "UPDATE push_devices SET failures = failures + 1 WHERE id = $1 RETURNING failures";
        match tx.optional(sql, args![&self.device_id]).await? {
            Some(row) if row.int(0)? >= MAX_REFUSALS => self.remove_device(tx).await,
            _ => self.end(tx).await,
        }
    }

    /// Ends the lease of the device, which gets nothing before a time, unless another node has claimed it.
    async fn release(&self, tx: &mut Tx, until_ms: i64) -> Result<(), DbError> {
        let sql = "UPDATE push_devices SET paused_until_ms = $2 WHERE id = $1 AND paused_until_ms = $3";
        tx.execute(sql, args![&self.device_id, until_ms, self.leased_until_ms]).await?;
        Ok(())
    }

    /// Ends all events.
    async fn end(&self, tx: &mut Tx) -> Result<(), DbError> {
        for event in &self.events {
            event.end(tx, None).await?;
        }
        Ok(())
    }
}

impl ClaimedEvent {
    /// Sets the time of the next attempt, unless something has happened in the conversation meanwhile.
    async fn end(&self, tx: &mut Tx, next_ms: Option<i64>) -> Result<(), DbError> {
        let sql = "UPDATE pushes SET next_ms = $4 \
                   WHERE no = $1 AND version = $2 AND attempts = $3 AND next_ms IS NOT NULL";
        tx.execute(sql, args![self.no, self.version, self.attempt, next_ms]).await?;
        Ok(())
    }
}
