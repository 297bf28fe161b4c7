//! Everything that has a time of its own to end at.

use super::{DAY_MS, Purge, Stopped};
use crate::db::args;

/// The time after which a console that was not seen is gone for good. A tenant's last one stays: it says when
/// somebody was last there.
const CONSOLE_MS: i64 = DAY_MS;
/// The time for which a webhook's deliveries can be replayed.
const DELIVERY_MS: i64 = 30 * DAY_MS;
/// The time for which notifications are kept, sent or not.
const NOTIFICATION_MS: i64 = 30 * DAY_MS;
/// The time for which e-mails are kept that were not handed over, also where SMTP was switched off.
const EMAIL_MS: i64 = 10 * DAY_MS;
/// The time for which it is known what devices were told.
const PUSH_MS: i64 = DAY_MS;
/// The time for which entries of the audit log are kept.
const AUDIT_MS: i64 = 730 * DAY_MS;
/// The time for which finished jobs are listed.
const JOB_MS: i64 = 90 * DAY_MS;

pub(super) async fn purge(purge: &mut Purge<'_>) -> Result<(), Stopped> {
    let now_ms = purge.now_ms;
    for (sql, before_ms) in [
        (
            "DELETE FROM idempotency WHERE (site_id, scope, key) IN
             (SELECT site_id, scope, key FROM idempotency WHERE expires_ms <= $1 LIMIT $2)",
            now_ms,
        ),
        (
            "DELETE FROM operator_sessions WHERE id IN
             (SELECT id FROM operator_sessions WHERE expires_ms <= $1 LIMIT $2)",
            now_ms,
        ),
        (
            "DELETE FROM invitations WHERE id IN
             (SELECT id FROM invitations WHERE expires_ms <= $1 LIMIT $2)",
            now_ms,
        ),
        (
            "DELETE FROM consoles WHERE id IN
             (SELECT c.id FROM consoles c WHERE c.seen_ms <= $1 AND EXISTS
                 (SELECT 1 FROM consoles n WHERE n.tenant_id = c.tenant_id AND n.seen_ms > c.seen_ms) LIMIT $2)",
            now_ms - CONSOLE_MS,
        ),
        (
            "DELETE FROM rate_counters WHERE (key, window_ends_ms) IN
             (SELECT key, window_ends_ms FROM rate_counters WHERE window_ends_ms <= $1 LIMIT $2)",
            now_ms,
        ),
        (
            "DELETE FROM deliveries WHERE no IN
             (SELECT no FROM deliveries WHERE status <> 'pending' AND finished_ms <= $1 LIMIT $2)",
            now_ms - DELIVERY_MS,
        ),
        (
            "DELETE FROM notifications WHERE no IN
             (SELECT no FROM notifications WHERE sent_ms <= $1 LIMIT $2)",
            now_ms - NOTIFICATION_MS,
        ),
        (
            "DELETE FROM notifications WHERE no IN
             (SELECT no FROM notifications WHERE sent_ms IS NULL AND due_ms <= $1 LIMIT $2)",
            now_ms - NOTIFICATION_MS,
        ),
        (
            "DELETE FROM emails WHERE no IN (SELECT no FROM emails WHERE created_ms <= $1 LIMIT $2)",
            now_ms - EMAIL_MS,
        ),
        (
            "DELETE FROM pushes WHERE no IN (SELECT no FROM pushes WHERE queued_ms <= $1 LIMIT $2)",
            now_ms - PUSH_MS,
        ),
        ("DELETE FROM audit WHERE no IN (SELECT no FROM audit WHERE at_ms <= $1 LIMIT $2)", now_ms - AUDIT_MS),
        (
            "DELETE FROM jobs WHERE no IN
             (SELECT no FROM jobs WHERE status IN ('succeeded', 'failed') AND completed_ms <= $1 LIMIT $2)",
            now_ms - JOB_MS,
        ),
    ] {
        purge.repeat(sql, args![before_ms]).await?;
    }
    Ok(())
}
