//! Stores what came of an e-mail, and tells it to the operators.

use super::due::Claimed;
use crate::conversations;
use crate::conversations::notes::{self, Event};
use crate::db::{DbError, Tx, args};
use crate::notify::mail::{SendError, retry_ms};

/// The time after which an e-mail that the SMTP server postpones is given up.
const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1000;
/// Maximum characters of an SMTP server's answer that is stored.
const MAX_REASON_LENGTH: usize = 200;

/// Stores the outcome of an attempt. `recipient` is `None` if the e-mail was not needed any more.
pub(super) async fn store(
    tx: &mut Tx,
    now_ms: i64,
    claimed: &Claimed,
    recipient: Option<&str>,
    outcome: Result<(), SendError>,
) -> Result<(), DbError> {
    let Some(recipient) = recipient else {
        let sql = "DELETE FROM reply_mails WHERE no = $1 AND attempts = $2 AND status = 'sending'";
        return tx.execute(sql, args![claimed.no, claimed.attempt]).await.map(drop);
    };
    let error = match outcome {
        Ok(()) => return end(tx, now_ms, claimed, "accepted", Event::Mailed(recipient)).await,
        Err(error) => error,
    };
    let reason: String =
        error.to_string().chars().filter(|c| !c.is_control()).take(MAX_REASON_LENGTH).collect();
    match error {
        SendError::Refused(_) => end(tx, now_ms, claimed, "failed", Event::MailFailed(&reason)).await,
        SendError::Unanswered(_) => end(tx, now_ms, claimed, "unknown", Event::MailUnknown).await,
        // The server has certainly not accepted it.
        SendError::Postponed(_) | SendError::Server(_) => {
            let sql = "UPDATE reply_mails SET status = 'waiting', next_ms = $3
                       WHERE no = $1 AND attempts = $2 AND status = 'sending' AND created_ms > $4";
            let next_ms = now_ms.saturating_add(retry_ms(claimed.attempt));
            let values = args![claimed.no, claimed.attempt, next_ms, now_ms - MAX_AGE_MS];
            if tx.execute(sql, values).await? > 0 {
                return Ok(());
            }
            end(tx, now_ms, claimed, "failed", Event::MailFailed(&reason)).await
        }
    }
}

/// Ends what nodes have left that died while they sent: the SMTP server may have it, so that it is not sent
/// again.
pub(super) async fn end_abandoned(tx: &mut Tx, now_ms: i64) -> Result<(), DbError> {
    let sql = "SELECT no, attempts FROM reply_mails WHERE status = 'sending' AND next_ms <= $1 ORDER BY no LIMIT 100";
    for row in tx.all(sql, args![now_ms]).await? {
        let claimed = Claimed { no: row.int(0)?, attempt: row.int(1)? };
        end(tx, now_ms, &claimed, "unknown", Event::MailUnknown).await?;
    }
    Ok(())
}

async fn end(
    tx: &mut Tx,
    now_ms: i64,
    claimed: &Claimed,
    status: &str,
    event: Event<'_>,
) -> Result<(), DbError> {
    let sql = "UPDATE reply_mails SET status = $3 WHERE no = $1 AND attempts = $2 AND status = 'sending'
               RETURNING conversation_no, tenant_id";
    let Some(row) = tx.optional(sql, args![claimed.no, claimed.attempt, status]).await? else {
        return Ok(());
    };
    let (no, tenant_id) = (row.int(0)?, row.text(1)?);
    let Some(row) = tx.optional(conversations::select("WHERE c.no = $1"), args![no]).await? else {
        return Ok(());
    };
    let conversation = conversations::read(&row)?;
    notes::record(tx, now_ms, &conversation, None, event).await?;
    tx.wake(conversation.wake(&tenant_id));
    Ok(())
}
