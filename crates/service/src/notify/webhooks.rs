//! Webhooks: events are queued in the transaction of the change, and delivered until the receiver accepts
//! them, as the Standard Webhooks specification describes.

mod client;
pub(super) mod deliveries;
mod queue;
mod secret;
pub(super) mod store;
mod webhooks_routes;
mod worker;

use chat_protocol::Value;

use super::EventName;
use crate::audit;
use crate::clock::iso;
use crate::db::{DbError, Tx, args};
use crate::secrets::new_id;

pub(crate) use webhooks_routes::{WebhooksApi, routes};
pub(super) use worker::WebhookQueue;

#[cfg(test)]
pub(super) use secret::WebhookSecret;

/// Returns the webhooks of a tenant that receive an event of a site.
pub(super) async fn subscribed(
    tx: &mut Tx,
    tenant_id: &str,
    site_id: &str,
    name: EventName,
) -> Result<Vec<String>, DbError> {
    let sql = "SELECT id, events FROM webhooks \
               WHERE tenant_id = $1 AND disabled_ms IS NULL AND (site_id IS NULL OR site_id = $2)";
    let mut subscribed = Vec::new();
    for row in tx.all(sql, args![tenant_id, site_id]).await? {
        if store::receives(&row.text(1)?, name) {
            subscribed.push(row.text(0)?);
        }
    }
    Ok(subscribed)
}

/// Returns the body of a request. `data` depends on the event.
pub(super) fn body(
    event_id: &str,
    now_ms: i64,
    site_id: Option<&str>,
    name: EventName,
    data: Value,
) -> String {
    Value::object([
        ("id", event_id.into()),
        ("type", name.as_str().into()),
        ("createdAt", iso(now_ms).into()),
        ("siteId", site_id.into()),
        ("data", data),
    ])
    .to_json()
}

/// An event for one webhook.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewDelivery<'a> {
    pub(super) webhook_id: &'a str,
    pub(super) event_id: &'a str,
    pub(super) name: EventName,
    pub(super) body: &'a str,
    pub(super) conversation_id: Option<&'a str>,
}

impl NewDelivery<'_> {
    /// Queues the delivery, and returns its id.
    pub(super) async fn insert(self, tx: &mut Tx, now_ms: i64) -> Result<String, DbError> {
        let id = new_id("dlv");
        let sql = "INSERT INTO deliveries \
                   (id, webhook_id, event_id, event, body, conversation_id, status, next_ms, created_ms) \
                   VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $7)";
        let name = self.name.as_str();
        let arguments =
            args![&id, self.webhook_id, self.event_id, name, self.body, self.conversation_id, now_ms];
        tx.execute(sql, arguments).await?;
        Ok(id)
    }
}

/// Records that the service itself disabled a webhook.
async fn audit_disabled(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    webhook_id: &str,
    reason: &str,
) -> Result<(), DbError> {
    let entry = audit::Entry {
        tenant_id,
        actor_id: "service",
        actor: "service",
        action: "webhook.disable",
        target: webhook_id,
        detail: audit::Entry::NONE,
        address: "",
        at_ms: now_ms,
    };
    audit::record(tx, &entry.with(&Value::object([("reason", reason.into())]))).await
}
