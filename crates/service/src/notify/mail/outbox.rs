//! E-mails that wait for the SMTP server.

use sqlx::AssertSqlSafe;

use super::mailer::{Composed, SendError};
use crate::db::{Db, DbError, Dialect, Tx, args};
use crate::{ServiceKey, email_queue};

/// The time after which another node takes over an e-mail. Longer than the timeout for sending.
const LEASE_MS: i64 = 2 * 60 * 1000;
/// Attempts to send an e-mail that the server refuses. A refusal can be a mistake in the server's settings.
const MAX_REFUSALS: i64 = 5;
/// The first waiting time after a failed attempt; it doubles with each further one.
const MIN_RETRY_MS: i64 = 10_000;
/// Maximum waiting time after a failed attempt.
const MAX_RETRY_MS: i64 = 5 * 60 * 1000;
/// The time after which an e-mail is given up.
const MAX_AGE_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// The retention of failed e-mails, whose errors help to find the cause.
const FAILED_RETENTION_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// An e-mail that this node sends.
#[derive(Clone, Debug)]
pub(in crate::notify) struct Claimed {
    pub(super) no: i64,
    pub(super) id: String,
    pub(super) tenant_id: Option<String>,
    pub(super) recipient: String,
    /// `None` for notifications.
    content: Option<Vec<u8>>,
    /// The number of this attempt. It is also the claim's proof: a later claim has a higher one.
    attempt: i64,
    created_ms: i64,
}

/// Claims e-mails that are due. Nodes that claim at the same time get different ones.
pub(super) async fn claim(tx: &mut Tx, now_ms: i64, limit: usize) -> Result<Vec<Claimed>, DbError> {
    let lock = match tx.dialect() {
        Dialect::Sqlite => "",
        Dialect::Postgres => "FOR UPDATE SKIP LOCKED",
    };
    let sql = AssertSqlSafe(format!(
        "UPDATE emails SET attempts = attempts + 1, next_ms = $2 WHERE no IN \
         (SELECT no FROM emails WHERE status = 'pending' AND next_ms <= $1 \
          ORDER BY next_ms, no LIMIT $3 {lock}) \
         RETURNING no, id, tenant_id, recipient, content, attempts, created_ms"
    ));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut claimed = Vec::new();
    for row in tx.all(sql, args![now_ms, now_ms.saturating_add(LEASE_MS), limit]).await? {
        claimed.push(Claimed {
            no: row.int(0)?,
            id: row.text(1)?,
            tenant_id: row.optional_text(2)?,
            recipient: row.text(3)?,
            content: row.optional_bytes(4)?,
            attempt: row.int(5)?,
            created_ms: row.int(6)?,
        });
    }
    Ok(claimed)
}

impl Claimed {
    /// Decrypts the text of an e-mail of the service; `None` for notifications.
    pub(super) fn content(&self, key: &ServiceKey) -> Result<Option<Composed>, SendError> {
        let Some(sealed) = &self.content else { return Ok(None) };
        let (subject, text) = email_queue::unseal(key, &self.id, sealed)
            .map_err(|error| SendError::Refused(error.to_string()))?;
        Ok(Some(Composed { subject, text, html: None }))
    }

    /// Deletes the e-mail, which was handed over or has nothing to tell any more.
    pub(super) async fn delete(&self, tx: &mut Tx) -> Result<(), DbError> {
        let sql = "DELETE FROM emails WHERE no = $1 AND attempts = $2";
        tx.execute(sql, args![self.no, self.attempt]).await?;
        Ok(())
    }

    /// Stores a failed attempt: the e-mail is tried again, or given up.
    pub(super) async fn postpone(&self, tx: &mut Tx, now_ms: i64, error: &SendError) -> Result<(), DbError> {
        let refused = matches!(error, SendError::Refused(_)) && self.attempt >= MAX_REFUSALS;
        let too_old = now_ms.saturating_sub(self.created_ms) >= MAX_AGE_MS;
        let text: String = error.to_string().chars().filter(|letter| *letter != '\0').take(500).collect();
        if refused || too_old {
            let sql = "UPDATE emails SET status = 'failed', content = NULL, error = $3, next_ms = $4 \
                       WHERE no = $1 AND attempts = $2";
            tx.execute(sql, args![self.no, self.attempt, text, now_ms]).await?;
        } else {
            let sql = "UPDATE emails SET next_ms = $4, error = $3 WHERE no = $1 AND attempts = $2";
            let next_ms = now_ms.saturating_add(retry_ms(self.attempt));
            tx.execute(sql, args![self.no, self.attempt, text, next_ms]).await?;
        }
        Ok(())
    }
}

/// Returns the waiting time after a failed attempt, numbered from 1.
pub(crate) fn retry_ms(attempt: i64) -> i64 {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(0).min(16);
    (MIN_RETRY_MS << doublings).min(MAX_RETRY_MS)
}

/// Returns when the next e-mail is due.
pub(super) async fn next_due_ms(db: &Db) -> Result<Option<i64>, DbError> {
    db.one("SELECT min(next_ms) FROM emails WHERE status = 'pending'", args![]).await?.optional_int(0)
}

/// Removes e-mails that were given up long ago.
pub(super) async fn remove_failed(tx: &mut Tx, now_ms: i64) -> Result<(), DbError> {
    let sql = "DELETE FROM emails WHERE status = 'failed' AND next_ms < $1";
    tx.execute(sql, args![now_ms.saturating_sub(FAILED_RETENTION_MS)]).await?;
    Ok(())
}
