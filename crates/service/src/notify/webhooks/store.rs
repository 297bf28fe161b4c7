//! The webhooks of a tenant.

use chat_protocol::Value;
use serde::Deserialize;
use utoipa::ToSchema;

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

const COLUMNS: &str = "id, site_id, url, events, created_ms, disabled_ms, disabled_reason, failing_since_ms";

/// A webhook, without its secret.
#[derive(Clone, Debug)]
pub(in crate::notify) struct Webhook {
    pub(in crate::notify) id: String,
    site_id: Option<String>,
    pub(in crate::notify) url: String,
    events: String,
    created_ms: i64,
    pub(in crate::notify) disabled_ms: Option<i64>,
    pub(in crate::notify) disabled_reason: Option<String>,
    pub(in crate::notify) failing_since_ms: Option<i64>,
}

impl Webhook {
    fn from_row(row: &Row) -> Result<Self, DbError> {
        Ok(Self {
            id: row.text(0)?,
            site_id: row.optional_text(1)?,
            url: row.text(2)?,
            events: row.text(3)?,
            created_ms: row.int(4)?,
            disabled_ms: row.optional_int(5)?,
            disabled_reason: row.optional_text(6)?,
            failing_since_ms: row.optional_int(7)?,
        })
    }

    pub(in crate::notify) fn to_value(&self) -> Value {
        Value::object([
            ("id", self.id.as_str().into()),
            ("siteId", self.site_id.as_deref().into()),
            ("url", self.url.as_str().into()),
            ("events", chosen(&self.events).into_iter().collect()),
            ("enabled", self.disabled_ms.is_none().into()),
            ("createdAt", iso(self.created_ms).into()),
            ("disabledAt", self.disabled_ms.map(iso).into()),
            ("disabledReason", self.disabled_reason.as_deref().into()),
            ("failingSince", self.failing_since_ms.map(iso).into()),
        ])
    }
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
    Ok(Value::from_iter(events).to_json())
}

/// A webhook to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::notify) struct NewWebhook {
    /// The address that receives the events, with `https://`.
    pub(in crate::notify) url: String,
    /// The site whose events are sent; all sites of the tenant without it.
    #[serde(default)]
    pub(in crate::notify) site_id: Option<String>,
    /// The names of the events; an empty list is all of them.
    #[serde(default)]
    pub(in crate::notify) events: Vec<String>,
}

impl NewWebhook {
    /// Creates the webhook, and returns its secret, which is not shown again.
    pub(in crate::notify) async fn create(
        &self,
        tx: &mut Tx,
        key: &ServiceKey,
        private: bool,
        now_ms: i64,
        tenant_id: &str,
    ) -> Result<(Webhook, WebhookSecret), ApiError> {
        let url = TargetUrl::parse(&self.url, private)?.to_string();
        let events = check_events(&self.events)?;
        // Locks the tenant, so that the number of webhooks holds for requests at the same time.
        tx.execute("UPDATE tenants SET name = name WHERE id = $1", args![tenant_id]).await?;
        let count = tx.one("SELECT count(*) FROM webhooks WHERE tenant_id = $1", args![tenant_id]).await?;
        if count.int(0)? >= MAX_WEBHOOKS {
            return Err(ApiError::Conflict(format!(
                "A tenant may have at most {MAX_WEBHOOKS} webhooks: delete one."
            )));
        }
        if let Some(site_id) = &self.site_id {
            let sql = "SELECT 1 FROM sites WHERE id = $1 AND tenant_id = $2 AND deleted_ms IS NULL";
            tx.optional(sql, args![site_id, tenant_id]).await?.ok_or(ApiError::NotFound("This site"))?;
        }
        let id = new_id("wh");
        let secret = WebhookSecret::random();
        let sql = "INSERT INTO webhooks (id, tenant_id, site_id, url, secret, events, created_ms) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let sealed = secret.seal(key, &id);
        tx.execute(sql, args![&id, tenant_id, self.site_id.as_deref(), url, sealed, events, now_ms]).await?;
        Ok((Webhook::find(tx, tenant_id, &id).await?, secret))
    }
}

/// Changes of a webhook. Fields that are missing stay as they are.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::notify) struct WebhookChange {
    pub(in crate::notify) url: Option<String>,
    /// The names of the events; an empty list is all of them.
    pub(in crate::notify) events: Option<Vec<String>>,
    pub(in crate::notify) enabled: Option<bool>,
}

impl WebhookChange {
    pub(in crate::notify) async fn apply(
        &self,
        tx: &mut Tx,
        private: bool,
        now_ms: i64,
        tenant_id: &str,
        id: &str,
    ) -> Result<Webhook, ApiError> {
        Webhook::find(tx, tenant_id, id).await?;
        if let Some(url) = &self.url {
            let url = TargetUrl::parse(url, private)?.to_string();
            // Another receiver has not failed yet.
            let sql = "UPDATE webhooks SET url = $2, failing_since_ms = NULL, paused_until_ms = 0 \
                       WHERE id = $1 AND url <> $2";
            tx.execute(sql, args![id, url]).await?;
        }
        if let Some(events) = &self.events {
            let events = check_events(events)?;
            tx.execute("UPDATE webhooks SET events = $2 WHERE id = $1", args![id, events]).await?;
        }
        match self.enabled {
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
        Webhook::find(tx, tenant_id, id).await
    }
}

/// Disables a webhook, and returns whether it was enabled. Its pending deliveries fail.
pub(super) async fn disable(tx: &mut Tx, now_ms: i64, id: &str, reason: &str) -> Result<bool, DbError> {
    let sql =
        "UPDATE webhooks SET disabled_ms = $2, disabled_reason = $3 WHERE id = $1 AND disabled_ms IS NULL";
    Ok(tx.execute(sql, args![id, now_ms, reason]).await? > 0)
}

impl Webhook {
    /// Returns a webhook of a tenant.
    pub(super) async fn find(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<Self, ApiError> {
        let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE id = $1 AND tenant_id = $2");
        let row = tx.optional(sqlx::AssertSqlSafe(sql), args![id, tenant_id]).await?;
        Ok(Self::from_row(&row.ok_or(ApiError::NotFound("This webhook"))?)?)
    }

    /// Returns a webhook of a tenant, outside of any transaction.
    pub(in crate::notify) async fn get(db: &Db, tenant_id: &str, id: &str) -> Result<Self, ApiError> {
        let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE id = $1 AND tenant_id = $2");
        let row = db.optional(sqlx::AssertSqlSafe(sql), args![id, tenant_id]).await?;
        Ok(Self::from_row(&row.ok_or(ApiError::NotFound("This webhook"))?)?)
    }

    /// Returns the webhooks of a tenant, oldest first.
    pub(in crate::notify) async fn list(db: &Db, tenant_id: &str) -> Result<Vec<Self>, DbError> {
        let sql = format!("SELECT {COLUMNS} FROM webhooks WHERE tenant_id = $1 ORDER BY created_ms, id");
        let rows = db.all(sqlx::AssertSqlSafe(sql), args![tenant_id]).await?;
        rows.iter().map(Self::from_row).collect()
    }

    /// Deletes the webhook, with its log of deliveries.
    pub(in crate::notify) async fn delete(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<(), ApiError> {
        let sql = "DELETE FROM webhooks WHERE id = $1 AND tenant_id = $2";
        match tx.execute(sql, args![id, tenant_id]).await? {
            0 => Err(ApiError::NotFound("This webhook")),
            _ => Ok(()),
        }
    }

    /// Creates a new secret. Requests are signed with the old one too, for [`OVERLAP_MS`].
    pub(in crate::notify) async fn rotate(
        &self,
        tx: &mut Tx,
        key: &ServiceKey,
        now_ms: i64,
    ) -> Result<WebhookSecret, DbError> {
        let secret = WebhookSecret::random();
        let sql = "UPDATE webhooks SET previous_secret = secret, previous_until_ms = $3, secret = $2 \
                   WHERE id = $1";
        let sealed = secret.seal(key, &self.id);
        tx.execute(sql, args![&self.id, sealed, now_ms.saturating_add(OVERLAP_MS)]).await?;
        Ok(secret)
    }
}
