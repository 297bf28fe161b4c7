//! Puts due notifications into e-mails: one for each operator of a tenant. What a push has told an operator
//! is not told again.

use std::collections::{BTreeSet, HashMap};

use super::NoticeKind;
use crate::Service;
use crate::accounts::{preferences, quiet_hours};
use crate::db::{DbError, Tx, args, transaction};
use crate::notify::push;
use crate::secrets::new_id;

/// The minimum time between two e-mails about one conversation and kind.
const MIN_INTERVAL_MS: i64 = 15 * 60 * 1000;
/// The minimum time between two batches of a tenant, so that many conversations that begin at once, as in an
/// attack, make few e-mails.
const MIN_BATCH_INTERVAL_MS: i64 = 60 * 1000;
/// Maximum notifications of one e-mail.
const MAX_NOTIFICATIONS: u32 = 200;

/// Queues the e-mails for all notifications that are due, and returns when the next one is due.
pub(in crate::notify) async fn collect(service: &Service, now_ms: i64) -> Result<Option<i64>, DbError> {
    let db = service.db();
    let sql = "SELECT DISTINCT tenant_id FROM notifications WHERE sent_ms IS NULL AND due_ms <= $1";
    for row in db.all(sql, args![now_ms]).await? {
        let tenant_id = row.text(0)?;
        transaction!(db, |tx| collect_tenant(tx, now_ms, &tenant_id).await).await?;
    }
    let sql = "SELECT min(due_ms) FROM notifications WHERE sent_ms IS NULL";
    db.one(sql, args![]).await?.optional_int(0)
}

/// A notification that is due.
struct Due {
    no: i64,
    kind: NoticeKind,
    conversation_id: String,
    created_ms: i64,
}

impl Due {
    /// Returns whether an operator has got a push about the same, accepted at this time.
    fn was_pushed(&self, pushed_ms: Option<&i64>) -> bool {
        let is_pushed = matches!(self.kind, NoticeKind::Unanswered | NoticeKind::HandOff);
        is_pushed && pushed_ms.is_some_and(|pushed_ms| *pushed_ms >= self.created_ms)
    }
}

async fn collect_tenant(tx: &mut Tx, now_ms: i64, tenant_id: &str) -> Result<(), DbError> {
    postpone_batch(tx, now_ms, tenant_id).await?;
    postpone(tx, now_ms, tenant_id).await?;
    let due = take_due(tx, now_ms, tenant_id).await?;
    if due.is_empty() {
        return Ok(());
    }
    let assignees = assignees(tx, &due).await?;
    let since_ms = due.iter().map(|due| due.created_ms).min().unwrap_or(now_ms);
    let pushed = push::told(tx, tenant_id, since_ms).await?;
    let sql = "SELECT id, email, email_kinds, availability, preferences FROM operators
               WHERE tenant_id = $1 AND disabled_ms IS NULL";
    for operator in tx.all(sql, args![tenant_id]).await? {
        let quiet = preferences::stored(&operator, 3)?.quiet_hours;
        if quiet.is_some_and(|hours| quiet_hours::contain(&hours, now_ms)) {
            continue;
        }
        let (operator_id, recipient) = (operator.text(0)?, operator.text(1)?);
        let kinds: Vec<String> = serde_json::from_str(&operator.text(2)?).unwrap_or_default();
        let wanted = due.iter().filter(|due| {
            let assignee = assignees.get(&due.conversation_id);
            kinds.iter().any(|kind| kind == due.kind.as_str())
                && assignee.is_none_or(|assignee| *assignee == operator_id)
                && !due.was_pushed(pushed.get(&(operator_id.clone(), due.conversation_id.clone())))
        });
        let numbers: Vec<i64> = wanted.map(|due| due.no).collect();
        if !numbers.is_empty() {
            insert(tx, now_ms, tenant_id, &recipient, &numbers).await?;
        }
    }
    Ok(())
}

/// Takes the notifications that are due. Each is taken once, also when two nodes do this at the same time.
async fn take_due(tx: &mut Tx, now_ms: i64, tenant_id: &str) -> Result<Vec<Due>, DbError> {
    let sql = "UPDATE notifications SET sent_ms = $2 WHERE no IN \
               (SELECT no FROM notifications WHERE tenant_id = $1 AND sent_ms IS NULL AND due_ms <= $2 \
                ORDER BY due_ms, no LIMIT $3) AND sent_ms IS NULL \
               RETURNING no, kind, conversation_id, created_ms";
    let mut due = Vec::new();
    for row in tx.all(sql, args![tenant_id, now_ms, MAX_NOTIFICATIONS]).await? {
        let Some(kind) = NoticeKind::stored(&row.text(1)?) else { continue };
        due.push(Due { no: row.int(0)?, kind, conversation_id: row.text(2)?, created_ms: row.int(3)? });
    }
    due.sort_by_key(|due| due.no);
    // Several of one conversation and kind are one.
    let mut seen = BTreeSet::new();
    due.retain(|due| seen.insert((due.conversation_id.clone(), due.kind)));
    Ok(due)
}

/// Postpones all notifications of a tenant that was told something a moment ago.
async fn postpone_batch(tx: &mut Tx, now_ms: i64, tenant_id: &str) -> Result<(), DbError> {
    let sql = "SELECT max(sent_ms) FROM notifications WHERE tenant_id = $1 AND sent_ms > $2";
    let recently_ms = now_ms.saturating_sub(MIN_BATCH_INTERVAL_MS);
    let Some(told_ms) = tx.one(sql, args![tenant_id, recently_ms]).await?.optional_int(0)? else {
        return Ok(());
    };
    let sql =
        "UPDATE notifications SET due_ms = $3 WHERE tenant_id = $1 AND sent_ms IS NULL AND due_ms <= $2";
    tx.execute(sql, args![tenant_id, now_ms, told_ms.saturating_add(MIN_BATCH_INTERVAL_MS)]).await?;
    Ok(())
}

/// Postpones notifications about conversations of which an e-mail told recently.
async fn postpone(tx: &mut Tx, now_ms: i64, tenant_id: &str) -> Result<(), DbError> {
    let sql = "UPDATE notifications SET due_ms = $3 + \
                   (SELECT max(sent.sent_ms) FROM notifications sent \
                    WHERE sent.conversation_id = notifications.conversation_id \
                    AND sent.kind = notifications.kind) \
               WHERE tenant_id = $1 AND sent_ms IS NULL AND due_ms <= $2 AND EXISTS \
                   (SELECT 1 FROM notifications sent \
                    WHERE sent.conversation_id = notifications.conversation_id \
                    AND sent.kind = notifications.kind AND sent.sent_ms > $2 - $3)";
    tx.execute(sql, args![tenant_id, now_ms, MIN_INTERVAL_MS]).await?;
    Ok(())
}

/// Returns the operators that conversations are assigned to, who alone are told about them. When that
/// operator is disabled, all others are told.
async fn assignees(tx: &mut Tx, due: &[Due]) -> Result<HashMap<String, String>, DbError> {
    let sql = "SELECT o.id FROM conversations c JOIN operators o ON o.id = c.assignee_id \
               WHERE c.id = $1 AND o.disabled_ms IS NULL";
    let mut assignees = HashMap::new();
    for due in due {
        if let Some(row) = tx.optional(sql, args![&due.conversation_id]).await? {
            assignees.insert(due.conversation_id.clone(), row.text(0)?);
        }
    }
    Ok(assignees)
}

async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    recipient: &str,
    numbers: &[i64],
) -> Result<(), DbError> {
    let sql = "INSERT INTO emails (id, tenant_id, recipient, next_ms, created_ms) \
               VALUES ($1, $2, $3, $4, $4) RETURNING no";
    let email_no = tx.one(sql, args![new_id("mail"), tenant_id, recipient, now_ms]).await?.int(0)?;
    let sql = "INSERT INTO email_notifications (email_no, notification_no) VALUES ($1, $2)";
    for number in numbers {
        tx.execute(sql, args![email_no, *number]).await?;
    }
    Ok(())
}
