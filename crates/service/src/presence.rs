//! The operators' presence, and the polling intervals that are suggested to clients (2.6).
//!
//! An open console is a row that its node renews. A console whose node died is offline after
//! [`CONSOLE_TIMEOUT_MS`].

use std::sync::Arc;
use std::time::Duration;

use chat_protocol::{Presence, Value};

use crate::Service;
use crate::clock::iso;
use crate::db::{Tx, Wake, args};
use crate::error::ApiError;
use crate::secrets::new_id;
use crate::sites::Site;

/// Milliseconds after which a console that was not renewed is closed.
pub(crate) const CONSOLE_TIMEOUT_MS: i64 = 45_000;
/// The interval between the renewals of an open console.
pub(crate) const RENEWAL_INTERVAL: Duration = Duration::from_secs(15);

/// The polling intervals that are suggested to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Used while an operator is online.
    pub online: Intervals,
    /// Used while no operator is online.
    pub away: Intervals,
}

/// Polling intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// The interval between reads of new messages.
    pub messages: Duration,
    /// The interval between reads of presence.
    pub presence: Duration,
}

impl Default for Pace {
    /// Messages every 2 s and presence every 4 s while an operator is online, else 10 s and 15 s.
    fn default() -> Self {
        let every = |messages, presence| Intervals {
            messages: Duration::from_secs(messages),
            presence: Duration::from_secs(presence),
        };
        Self { online: every(2, 4), away: every(10, 15) }
    }
}

/// The operators of a tenant that are online.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperatorsOnline {
    /// The number of open consoles.
    pub(crate) consoles: i64,
    last_seen_ms: Option<i64>,
}

impl OperatorsOnline {
    pub(crate) fn is_online(&self) -> bool {
        self.consoles > 0
    }
}

/// Returns the operators of a tenant that are online.
pub(crate) async fn operators_online(
    service: &Service,
    tenant_id: &str,
) -> Result<Arc<OperatorsOnline>, ApiError> {
    let cache = &service.0.caches.presence;
    let version = match cache.get(&tenant_id.to_owned()) {
        Ok(online) => return Ok(online),
        Err(version) => version,
    };
    let since_ms = service.now_ms() - CONSOLE_TIMEOUT_MS;
    let row = service
        .db()
        .one(
            "SELECT CAST(coalesce(sum(CASE WHEN open = 1 AND seen_ms > $1 THEN 1 ELSE 0 END), 0) AS BIGINT),
                 max(seen_ms) FROM consoles WHERE tenant_id = $2",
            args![since_ms, tenant_id],
        )
        .await?;
    let online = Arc::new(OperatorsOnline { consoles: row.int(0)?, last_seen_ms: row.optional_int(1)? });
    cache.put(version, tenant_id.to_owned(), Arc::clone(&online));
    Ok(online)
}

/// Returns the `data` of `GET /chat/presence`. `conversation_exists`: whether the visitor has a conversation.
pub(crate) async fn presence(
    service: &Service,
    site: &Site,
    conversation_exists: bool,
) -> Result<Value, ApiError> {
    let online = operators_online(service, &site.tenant_id).await?;
    let pace = &service.0.options.pace;
    let intervals = if online.is_online() { pace.online } else { pace.away };
    let millis = |interval: Duration| i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
    let presence = Presence {
        operator_online: online.is_online(),
        operator_active_sessions: Some(online.consoles),
        operator_last_seen_at: online.last_seen_ms.map(iso),
        should_poll_messages: conversation_exists,
        presence_interval_ms: Some(millis(intervals.presence)),
        message_interval_ms: Some(millis(intervals.messages)),
    };
    let mut members = vec![
        ("tenantId".to_owned(), site.tenant_id.as_str().into()),
        ("siteId".to_owned(), site.id.as_str().into()),
    ];
    if let Value::Object(rest) = Value::from(&presence) {
        members.extend(rest);
    }
    Ok(Value::Object(members))
}

/// Opens a console, and returns its id.
pub(crate) async fn open_console(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    operator_id: &str,
) -> Result<String, ApiError> {
    let id = new_id("console");
    tx.execute(
        "INSERT INTO consoles (id, tenant_id, operator_id, seen_ms, open) VALUES ($1, $2, $3, $4, 1)",
        args![&id, tenant_id, operator_id, now_ms],
    )
    .await?;
    tx.wake(Wake::Presence { tenant: tenant_id.to_owned() });
    Ok(id)
}

/// Renews a console, or closes it.
pub(crate) async fn renew_console(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    id: &str,
    open: bool,
) -> Result<(), ApiError> {
    let sql = "UPDATE consoles SET seen_ms = $1, open = $2 WHERE tenant_id = $3 AND id = $4";
    tx.execute(sql, args![now_ms, open, tenant_id, id]).await?;
    if !open {
        tx.wake(Wake::Presence { tenant: tenant_id.to_owned() });
    }
    Ok(())
}
