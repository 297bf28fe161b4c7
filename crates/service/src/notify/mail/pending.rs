//! Notifications that wait until they are due.

use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Tx, Wake, args};
use crate::queue_runner::POLL_INTERVAL;

/// The time between a lead or a hand-off and its e-mail, so that what follows at once joins it.
const GATHER_MS: i64 = 10_000;

/// The reason for an e-mail about a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NoticeKind {
    /// The visitor has waited for an answer for a while.
    Unanswered,
    /// The visitor has left contact details.
    Lead,
    /// The visitor wants to talk to a person.
    HandOff,
}

impl NoticeKind {
    pub(crate) const ALL: [Self; 3] = [Self::Unanswered, Self::Lead, Self::HandOff];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unanswered => "unanswered",
            Self::Lead => "lead",
            Self::HandOff => "hand_off",
        }
    }

    /// Returns the kind of a stored name.
    pub(super) fn stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A reason to tell operators about a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice<'a> {
    pub(crate) tenant_id: &'a str,
    pub(crate) site_id: &'a str,
    pub(crate) conversation_id: &'a str,
    pub(crate) kind: NoticeKind,
}

/// Stores a notification, in the transaction of its cause. While one of the same kind waits for the same
/// conversation, nothing is added. Without an SMTP server, nothing is stored.
pub(crate) async fn notify(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    notice: Notice<'_>,
) -> Result<(), DbError> {
    let Some(smtp) = &service.0.options.smtp else { return Ok(()) };
    let delay_ms = match notice.kind {
        NoticeKind::Unanswered => millis(smtp.unanswered_after),
        NoticeKind::Lead | NoticeKind::HandOff => GATHER_MS,
    };
    let sql = "INSERT INTO notifications (tenant_id, site_id, conversation_id, kind, created_ms, due_ms) \
               SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), \
                      CAST($5 AS BIGINT), CAST($6 AS BIGINT) \
               WHERE NOT EXISTS (SELECT 1 FROM notifications \
                                 WHERE conversation_id = $3 AND kind = $4 AND sent_ms IS NULL)";
    let due_ms = now_ms.saturating_add(delay_ms);
    let Notice { tenant_id, site_id, conversation_id, kind } = notice;
    let arguments = args![tenant_id, site_id, conversation_id, kind.as_str(), now_ms, due_ms];
    // A worker looks by itself after the poll interval.
    if tx.execute(sql, arguments).await? > 0 && delay_ms < millis(POLL_INTERVAL) {
        tx.wake(Wake::Queue);
    }
    Ok(())
}

/// Cancels what is no longer true when somebody has answered: that the visitor waits.
pub(crate) async fn answered(tx: &mut Tx, conversation_id: &str) -> Result<(), DbError> {
    let sql = "DELETE FROM notifications \
               WHERE conversation_id = $1 AND kind IN ('unanswered', 'hand_off') AND sent_ms IS NULL";
    tx.execute(sql, args![conversation_id]).await?;
    Ok(())
}
