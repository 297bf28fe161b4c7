//! The webhooks of a tenant.

use chat_protocol::admin::settings::{NewWebhook, Webhook, WebhookChange};
use sqlx::AssertSqlSafe;

use super::secret::WebhookSecret;
use crate::clock::iso;
use crate::db::{Db, Row, Tx, args};
use crate::error::ApiError;
use crate::notify::EventName;
use crate::notify::target::TargetUrl;
use crate::secrets::new_id;
use crate::{ServiceKey, db::DbError};

/// Maximum webhooks of a tenant.
const MAX_WEBHOOKS: i64 = 20;
/// The time for which requests are signed with the old secret too, after a rotation.
pub(super) const OVERLAP_MS: i64 = 24 * 60 * 60 * 1000;

const NO_WEBHOOK: ApiError = ApiError::NotFound("This webhook");

const COLUMNS: &str = "id, site_id, url, events, created_ms, disabled_ms, disabled_reason, failing_since_ms";

fn read(row: &Row) -> Result<Webhook, DbError> {
    let disabled_ms = row.optional_int(5)?;
    Ok(Webhook {
        id: row.text(0)?,
        site_id: row.optional_text(1)?,
        url: row.text(2)?,
        events: chosen(&row.text(3)?),
        enabled: disabled_ms.is_none(),
        created_at: iso(row.int(4)?),
        disabled_at: disabled_ms.map(iso),
        disabled_reason: row.optional_text(6)?,
        failing_since: row.optional_int(7)?.map(iso),
    })
}

/// Returns the names of the events in a stored list.
fn chosen(events: &str) -> Vec<String> {
    serde_json::from_str(events).unwrap_or_default()
}

/// Returns whether a stored list of events contains one. An empty list contains all.
pub(super) fn receives(events: &str, name: EventName) -> bool {
    let chosen = chosen(events);
    chosen.is_empty() || chosen.iter().any(|chosen| chosen == name.as_str())
}

fn check_events(events: &[String]) -> Result<String, ApiError> {
    let known = EventName::ALL.map(EventName::as_str);
    if let Some(unknown) = events.iter().find(|event| !known.contains(&event.as_str())) {
        let known = known.join(", ");
        let unknown: String = unknown.chars().take(64).collect();
        return Err(ApiError::InvalidRequest(format!("invalid events: expected {known}, got {unknown}.")));
    }
    let mut events = events.to_vec();
    events.sort();
    events.dedup();
    serde_json::to_string(&events).map_err(|_| ApiError::Internal)
}

/// Creates a webhook, and returns its secret, which is not shown again.
pub(in crate::notify) async fn create(
    tx: &mut Tx,
    new: &NewWebhook,
    key: &ServiceKey,
    private: bool,
    now_ms: i64,
    tenant_id: &str,
) -> Result<(Webhook, WebhookSecret), ApiError> {
    let url = TargetUrl::parse(&new.url, private)?.to_string();
    let events = check_events(&new.events)?;
    // Locks the tenant, so that the number of webhooks holds for requests at the same time.
    tx.execute("UPDATE tenants SET name = name WHERE id = $1", args![tenant_id]).await?;
    let count = tx.one("SELECT count(*) FROM webhooks WHERE tenant_id = $1", args![tenant_id]).await?;
    if count.int(0)? >= MAX_WEBHOOKS {
        return Err(ApiError::Conflict(format!(
            "A tenant may have at most {MAX_WEBHOOKS} webhooks: delete one."
        )));
    }
    if let Some(site_id) = &new.site_id {
        let sql = "SELECT 1 FROM sites WHERE id = $1 AND tenant_id = $2 AND deleted_ms IS NULL";
        tx.optional(sql, args![site_id, tenant_id]).await?.ok_or(ApiError::NotFound("This site"))?;
    }
    let id = new_id("wh");
    let secret = WebhookSecret::random();
    let sql = "INSERT INTO webhooks (id, tenant_id, site_id, url, secret, events, created_ms) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let sealed = secret.seal(key, &id);
    tx.execute(sql, args![&id, tenant_id, new.site_id.as_deref(), url, sealed, events, now_ms]).await?;
    Ok((find(tx, tenant_id, &id).await?, secret))
}

/// Changes a webhook, and returns it as it is now.
pub(in crate::notify) async fn change(
    tx: &mut Tx,
    change: &WebhookChange,
    private: bool,
    now_ms: i64,
    tenant_id: &str,
    id: &str,
) -> Result<Webhook, ApiError> {
    find(tx, tenant_id, id).await?;
    if let Some(url) = &change.url {
        let url = TargetUrl::parse(url, private)?.to_string();
        // Another receiver has not failed yet.
        let sql = "UPDATE webhooks SET url = $2, failing_since_ms = NULL, paused_until_ms = 0 \
                   WHERE id = $1 AND url <> $2";
        tx.execute(sql, args![id, url]).await?;
    }
    if let Some(events) = &change.events {
        let events = check_events(events)?;
        tx.execute("UPDATE webhooks SET events = $2 WHERE id = $1", args![id, events]).await?;
    }
    match change.enabled {
        Some(true) => {
            let sql = "UPDATE webhooks SET disabled_ms = NULL, disabled_reason = NULL, \
                       failing_since_ms = NULL, paused_until_ms = 0 \
                       WHERE id = $1 AND disabled_ms IS NOT NULL";
            tx.execute(sql, args![id]).await?;
        }
        Some(false) => {
            disable(tx, now_ms, id, "an operator disabled it").await?;
        }
        None => {}
    }
    find(tx, tenant_id, id).await
}

/// Disables a webhook, and returns whether it was enabled. Its pending deliveries fail.
pub(super) async fn disable(tx: &mut Tx, now_ms: i64, id: &str, reason: &str) -> Result<bool, DbError> {
    let sql =
        "UPDATE webhooks SET disabled_ms = $2, disabled_reason = $3 WHERE id = $1 AND disabled_ms IS NULL";
    Ok(tx.execute(sql, args![id, now_ms, reason]).await? > 0)
}

/// Returns a webhook of a tenant.
pub(super) async fn find(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<Webhook, ApiError> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE id = $1 AND tenant_id = $2");
    let row = tx.optional(AssertSqlSafe(sql), args![id, tenant_id]).await?;
    Ok(read(&row.ok_or(NO_WEBHOOK)?)?)
}

/// Returns a webhook of a tenant, outside of any transaction.
pub(in crate::notify) async fn get(db: &Db, tenant_id: &str, id: &str) -> Result<Webhook, ApiError> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE id = $1 AND tenant_id = $2");
    let row = db.optional(AssertSqlSafe(sql), args![id, tenant_id]).await?;
    Ok(read(&row.ok_or(NO_WEBHOOK)?)?)
}

/// Returns the webhooks of a tenant, oldest first.
pub(super) async fn list(db: &Db, tenant_id: &str) -> Result<Vec<Webhook>, DbError> {
    let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE tenant_id = $1 ORDER BY created_ms, id");
    let rows = db.all(AssertSqlSafe(sql), args![tenant_id]).await?;
    rows.iter().map(read).collect()
}

/// Deletes a webhook, with its log of deliveries.
pub(super) async fn delete(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<(), ApiError> {
    let sql = "DELETE FROM webhooks WHERE id = $1 AND tenant_id = $2";
    match tx.execute(sql, args![id, tenant_id]).await? {
        0 => Err(NO_WEBHOOK),
        _ => Ok(()),
    }
}

/// Creates a new secret for a webhook. Requests are signed with the old one too, for [`OVERLAP_MS`].
pub(in crate::notify) async fn rotate(
    tx: &mut Tx,
    key: &ServiceKey,
    now_ms: i64,
    id: &str,
) -> Result<WebhookSecret, DbError> {
    let secret = WebhookSecret::random();
    let sql = "UPDATE webhooks SET previous_secret = secret, previous_until_ms = $3, secret = $2 \
               WHERE id = $1";
    let sealed = secret.seal(key, id);
    tx.execute(sql, args![id, sealed, now_ms.saturating_add(OVERLAP_MS)]).await?;
    Ok(secret)
}
