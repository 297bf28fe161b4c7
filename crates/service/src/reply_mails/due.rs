//! Decides whether the replies of a conversation that is due are mailed.

use super::address_hash;
use crate::Service;
use crate::conversations::notes::{self, Event};
use crate::conversations::{self, Conversation};
use crate::db::{DbError, Dialect, Tx, args};
use crate::secrets::new_id;

/// Maximum replies of one e-mail. Later ones have another.
const MAX_REPLIES: i64 = 20;
/// Replies that could not be mailed for so long, such as before an SMTP server was set, are mailed no more.
const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1000;
/// The time after which nobody sends an e-mail any more. Longer than the timeout for sending.
pub(super) const LEASE_MS: i64 = 2 * 60 * 1000;

/// Replies to mail.
#[derive(Debug)]
pub(super) struct Candidate {
    conversation: Conversation,
    tenant_id: String,
    mailed_seq: i64,
    first_seq: i64,
    last_seq: i64,
    pub(super) email: String,
    pub(super) proved: bool,
    stopped: bool,
}

impl Candidate {
    pub(super) fn tenant_id(&self) -> &str {
        &self.tenant_id
    }

    pub(super) fn site_id(&self) -> &str {
        &self.conversation.site_id
    }

    /// Returns whether the visitor has said that they want no e-mails of the site.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }
}

/// An e-mail that this node sends.
#[derive(Clone, Debug)]
pub(super) struct Claimed {
    pub(super) no: i64,
    /// The number of this attempt. It is also the claim's proof: a later claim has a higher one.
    pub(super) attempt: i64,
}

/// Looks at a conversation that is due. If nothing is to be mailed, now or at all, this is stored.
pub(super) async fn look(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    no: i64,
) -> Result<Option<Candidate>, DbError> {
    let Some(conversation) = lock(tx, no).await? else { return Ok(None) };
    let sql = "SELECT c.mail_due_ms, c.mailed_seq, s.tenant_id, s.mail_replies, s.mail_replies_after_ms,
                   s.disabled_ms, s.deleted_ms
               FROM conversations c JOIN sites s ON s.id = c.site_id WHERE c.no = $1";
    let row = tx.one(sql, args![no]).await?;
    // Another node was faster.
    let Some(due_ms) = row.optional_int(0)?.filter(|due_ms| *due_ms <= now_ms) else { return Ok(None) };
    let (mailed_seq, tenant_id, wait_ms) = (row.int(1)?, row.text(2)?, row.int(4)?);
    let is_on = row.flag(3)? && row.is_null(5)? && row.is_null(6)? && !conversation.blocked;
    let email = conversation.email().map(str::to_owned);
    let (true, Some(email)) = (is_on && now_ms.saturating_sub(due_ms) < MAX_AGE_MS, email) else {
        return settle(tx, no, None).await;
    };
    let address = address_hash(service, &conversation.site_id, &email);
    let proved = conversation.is_email_verified() || has_opened(tx, no, &address).await?;
    let replies = unseen(tx, &conversation, mailed_seq, proved).await?;
    let (Some(first), Some(last)) = (replies.first(), replies.last()) else {
        return settle(tx, no, None).await;
    };
    // The first reply may be seen by now, and the oldest that is not, be newer.
    let due_ms = first.created_ms.saturating_add(wait_ms);
    if due_ms > now_ms {
        return settle(tx, no, Some(due_ms)).await;
    }
    let sql = "SELECT 1 FROM mail_stops WHERE site_id = $1 AND address = $2";
    let stopped = tx.optional(sql, args![&conversation.site_id, address]).await?.is_some();
    let (first_seq, last_seq) = (first.seq, last.seq);
    Ok(Some(Candidate { conversation, tenant_id, mailed_seq, first_seq, last_seq, email, proved, stopped }))
}

/// Stores an e-mail that this node sends from now on. `None` if another node was faster.
pub(super) async fn claim(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    candidate: &Candidate,
) -> Result<Option<Claimed>, DbError> {
    if !finish(tx, candidate).await? {
        return Ok(None);
    }
    let Candidate { conversation, tenant_id, first_seq, last_seq, email, proved, .. } = candidate;
    let sql = "INSERT INTO reply_mails
                   (id, tenant_id, site_id, conversation_no, address, proved, first_seq, last_seq, status, next_ms,
                    created_ms)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'sending', $9, $10) RETURNING no";
    let address = address_hash(service, &conversation.site_id, email);
    let lease_ms = now_ms.saturating_add(LEASE_MS);
    let (id, site_id, no) = (new_id("reply"), &conversation.site_id, conversation.no);
    let values = args![id, tenant_id, site_id, no, address, *proved, *first_seq, *last_seq, lease_ms, now_ms];
    let row = tx.one(sql, values).await?;
    Ok(Some(Claimed { no: row.int(0)?, attempt: 1 }))
}

/// Stores that replies are not mailed, and why.
pub(super) async fn refuse(
    tx: &mut Tx,
    now_ms: i64,
    candidate: &Candidate,
    reason: Event<'_>,
) -> Result<(), DbError> {
    if finish(tx, candidate).await? {
        notes::record(tx, now_ms, &candidate.conversation, None, reason).await?;
        tx.wake(candidate.conversation.wake(&candidate.tenant_id));
    }
    Ok(())
}

/// Claims e-mails whose next attempt is due. Nodes that claim at the same time get different ones.
pub(super) async fn claim_again(tx: &mut Tx, now_ms: i64, limit: usize) -> Result<Vec<Claimed>, DbError> {
    let lock = match tx.dialect() {
        Dialect::Sqlite => "",
        Dialect::Postgres => "FOR UPDATE SKIP LOCKED",
    };
    let sql = sqlx::AssertSqlSafe(format!(
        "UPDATE reply_mails SET status = 'sending', attempts = attempts + 1, next_ms = $2 WHERE no IN
             (SELECT no FROM reply_mails WHERE status = 'waiting' AND next_ms <= $1
              ORDER BY next_ms, no LIMIT $3 {lock})
         RETURNING no, attempts"
    ));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = tx.all(sql, args![now_ms, now_ms.saturating_add(LEASE_MS), limit]).await?;
    rows.iter().map(|row| Ok(Claimed { no: row.int(0)?, attempt: row.int(1)? })).collect()
}

/// Returns a locked conversation.
async fn lock(tx: &mut Tx, no: i64) -> Result<Option<Conversation>, DbError> {
    let sql = match tx.dialect() {
        // The only writer has the lock already.
        Dialect::Sqlite => conversations::select("WHERE c.no = $1"),
        Dialect::Postgres => conversations::select("WHERE c.no = $1 FOR UPDATE"),
    };
    tx.optional(sql, args![no]).await?.as_ref().map(conversations::read).transpose()
}

/// Stores when to look again, or that there is nothing to mail.
async fn settle(tx: &mut Tx, no: i64, due_ms: Option<i64>) -> Result<Option<Candidate>, DbError> {
    tx.execute("UPDATE conversations SET mail_due_ms = $2 WHERE no = $1", args![no, due_ms]).await?;
    Ok(None)
}

/// Marks the replies as done. Returns false if another node was faster. If more replies have come meanwhile,
/// it is looked again.
async fn finish(tx: &mut Tx, candidate: &Candidate) -> Result<bool, DbError> {
    let Candidate { conversation, mailed_seq, last_seq, .. } = candidate;
    let sql = "UPDATE conversations SET mailed_seq = $3,
                   mail_due_ms = CASE WHEN last_reply_seq > $3 THEN mail_due_ms ELSE NULL END
               WHERE no = $1 AND mailed_seq = $2 AND mail_due_ms IS NOT NULL";
    Ok(tx.execute(sql, args![conversation.no, *mailed_seq, *last_seq]).await? > 0)
}

/// Returns whether somebody who reads the mailbox has opened a link of this conversation.
async fn has_opened(tx: &mut Tx, conversation_no: i64, address: &[u8]) -> Result<bool, DbError> {
    let sql =
        "SELECT 1 FROM reply_mails WHERE conversation_no = $1 AND address = $2 AND opened_ms IS NOT NULL
               LIMIT 1";
    Ok(tx.optional(sql, args![conversation_no, address]).await?.is_some())
}

/// A reply that the visitor has not seen.
struct Reply {
    seq: i64,
    created_ms: i64,
}

/// Returns the replies that the visitor's widget has not polled past, and that no e-mail has, oldest first.
///
/// Replies of the AI are mailed to proved addresses only, as they may repeat words of the person who typed
/// the address. A reply before the visitor's last message is left out: the response to that message had it.
async fn unseen(
    tx: &mut Tx,
    conversation: &Conversation,
    mailed_seq: i64,
    proved: bool,
) -> Result<Vec<Reply>, DbError> {
    let sql = "SELECT seq, created_ms FROM messages
               WHERE conversation_no = $1 AND seq > $2 AND (role = 'operator' OR (role = 'assistant' AND $3 = 1
                   AND seq > (SELECT coalesce(max(seq), 0) FROM messages
                              WHERE conversation_no = $1 AND role = 'visitor')))
               ORDER BY seq LIMIT $4";
    let after = conversation.seen_seq.max(mailed_seq);
    let rows = tx.all(sql, args![conversation.no, after, proved, MAX_REPLIES]).await?;
    let mut replies = Vec::new();
    for row in rows {
        replies.push(Reply { seq: row.int(0)?, created_ms: row.int(1)? });
    }
    Ok(replies)
}
