//! Warns the owners of a tenant by e-mail when most AI replies of a site's month are used.

use crate::Service;
use crate::clock::month_ends_ms;
use crate::db::{DbError, Tx, args};
use crate::email_queue;
use crate::mail_texts::Texts;
use crate::sites::Site;

/// The part of the month's replies, in percent, from which on the owners are warned.
const WARNING_PERCENT: i64 = 80;

/// Queues the warning, once for each limit in a month, in the transaction that counts the reply.
pub(super) async fn warn(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    used: i64,
    limit: i64,
) -> Result<(), DbError> {
    if service.0.options.smtp.is_none()
        || used.saturating_mul(100) < limit.saturating_mul(WARNING_PERCENT)
        || !is_first(tx, now_ms, &site.id, limit).await?
    {
        return Ok(());
    }
    let owners = tx
        .all(
            "SELECT email, email_locale FROM operators
             WHERE tenant_id = $1 AND role = 'owner' AND disabled_ms IS NULL ORDER BY id",
            args![&site.tenant_id],
        )
        .await?;
    let origin = service.0.options.public_origin.as_deref().map(|origin| origin.trim_end_matches('/'));
    let link = origin.map(|origin| format!("\n{origin}/console/settings/quotas\n")).unwrap_or_default();
    for owner in &owners {
        let locale = owner.optional_text(1)?;
        let texts = Texts::of([locale.as_deref(), site.primary_locale.as_deref()]);
        let text = format!("{}: {used} / {limit}\n\n{}\n{link}", site.name, texts.quota_end);
        email_queue::add(tx, &service.0.options.key, now_ms, &owner.text(0)?, texts.quota, &text).await?;
    }
    Ok(())
}

/// Returns whether this is the first warning about a limit in a month. Replies that fail are given back, so
/// that the number of used ones can come to the same value again.
async fn is_first(tx: &mut Tx, now_ms: i64, site_id: &str, limit: i64) -> Result<bool, DbError> {
    let sql =
        "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING";
    let key = format!("ai warning {site_id} {limit}");
    Ok(tx.execute(sql, args![key, month_ends_ms(now_ms)]).await? > 0)
}
