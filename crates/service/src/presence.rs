//! The operators' presence, and the polling intervals that are suggested to clients (2.6).
//!
//! An open console is a row that its node renews. A console whose node died is offline after
//! [`CONSOLE_TIMEOUT_MS`]. An operator is online while a console of theirs is in use, unless they
//! say otherwise.

use std::sync::Arc;
use std::time::Duration;

use chat_protocol::{Presence, Value};

use crate::Service;
use crate::clock::iso;
use crate::db::{Arg, DbError, Tx, Wake, args, placeholders, transaction, work};
use crate::error::ApiError;
use crate::secrets::new_id;
use crate::sites::Site;

/// Milliseconds after which a console that was not renewed is closed.
pub(crate) const CONSOLE_TIMEOUT_MS: i64 = 45_000;
/// Maximum open consoles of an operator.
const MAX_CONSOLES: i64 = 100;
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
    /// The number of open consoles that are in use, of operators who want to be online.
    in_use: i64,
    last_seen_ms: Option<i64>,
}

impl OperatorsOnline {
    pub(crate) fn is_online(&self) -> bool {
        self.in_use > 0
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
            "SELECT CAST(coalesce(sum(CASE WHEN c.open = 1 AND c.seen_ms > $1 AND c.idle = 0
                     AND coalesce(o.availability, 'automatic') = 'automatic' THEN 1 ELSE 0 END), 0) AS BIGINT),
                 max(c.seen_ms)
             FROM consoles c LEFT JOIN operators o ON o.id = c.operator_id WHERE c.tenant_id = $2",
            args![since_ms, tenant_id],
        )
        .await?;
    let online = Arc::new(OperatorsOnline { in_use: row.int(0)?, last_seen_ms: row.optional_int(1)? });
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
    // Nobody is offered where the AI answers alone.
    let is_online = online.is_online() && !site.is_ai_only();
    let last_seen_ms = online.last_seen_ms.filter(|_| !site.is_ai_only());
    let pace = &service.0.options.pace;
    let intervals = if is_online { pace.online } else { pace.away };
    let millis = |interval: Duration| i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
    let presence = Presence {
        operator_online: is_online,
        // How many people work there is nobody's business.
        operator_active_sessions: Some(is_online.into()),
        operator_last_seen_at: last_seen_ms.map(iso),
        should_poll_messages: conversation_exists,
        presence_interval_ms: Some(millis(intervals.presence)),
        message_interval_ms: Some(millis(intervals.messages)),
    };
    let mut members = vec![
        ("tenantId".to_owned(), site.opaque_tenant_id().into()),
        ("siteId".to_owned(), site.id.as_str().into()),
    ];
    if let Value::Object(rest) = Value::from(&presence) {
        members.extend(rest);
    }
    Ok(Value::Object(members))
}

/// Opens a console, and returns its id; an error if the operator has the maximum open.
pub(crate) async fn open_console(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    operator_id: &str,
) -> Result<String, ApiError> {
    // Consoles of one operator are opened one after the other, so that the limit holds.
    let lock = "UPDATE operators SET name = name WHERE id = $1 AND tenant_id = $2";
    tx.execute(lock, args![operator_id, tenant_id]).await?;
    let sql = "SELECT count(*) FROM consoles
               WHERE tenant_id = $1 AND operator_id = $2 AND open = 1 AND seen_ms > $3";
    let open = tx.one(sql, args![tenant_id, operator_id, now_ms - CONSOLE_TIMEOUT_MS]).await?.int(0)?;
    if open >= MAX_CONSOLES {
        return Err(ApiError::TooManyConsoles);
    }
    let id = new_id("console");
    tx.execute(
        "INSERT INTO consoles (id, tenant_id, operator_id, seen_ms, open) VALUES ($1, $2, $3, $4, 1)",
        args![&id, tenant_id, operator_id, now_ms],
    )
    .await?;
    tx.wake(Wake::Presence { tenant: tenant_id.to_owned() });
    Ok(id)
}

/// Stores whether a console of an operator is in use.
pub(crate) async fn set_idle(
    tx: &mut Tx,
    tenant_id: &str,
    operator_id: &str,
    id: &str,
    idle: bool,
) -> Result<(), ApiError> {
    let sql =
        "UPDATE consoles SET idle = $1 WHERE id = $2 AND tenant_id = $3 AND operator_id = $4 AND open = 1";
    if tx.execute(sql, args![idle, id, tenant_id, operator_id]).await? == 0 {
        return Err(ApiError::NotFound("This console"));
    }
    tx.wake(Wake::Presence { tenant: tenant_id.to_owned() });
    Ok(())
}

/// Consoles that one statement changes.
const BATCH: usize = 100;

/// Renews consoles of a tenant.
pub(crate) async fn renew_consoles(
    service: &Service,
    tenant_id: &str,
    consoles: Vec<String>,
) -> Result<(), DbError> {
    let (now_ms, tenant_id) = (service.now_ms(), tenant_id.to_owned());
    let write =
        service
            .db()
            .write_unflushed(work!(|tx| change(tx, now_ms, &tenant_id, &consoles, "seen_ms = $1").await));
    write.await
}

/// Closes consoles of a tenant.
pub(crate) async fn close_consoles(
    service: &Service,
    tenant_id: &str,
    consoles: Vec<String>,
) -> Result<(), DbError> {
    let (now_ms, tenant_id) = (service.now_ms(), tenant_id.to_owned());
    transaction!(service.db(), |tx| {
        change(tx, now_ms, &tenant_id, &consoles, "seen_ms = $1, open = 0").await?;
        if !consoles.is_empty() {
            tx.wake(Wake::Presence { tenant: tenant_id });
        }
        Ok(())
    })
    .await
}

async fn change(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    consoles: &[String],
    set: &'static str,
) -> Result<(), DbError> {
    for ids in consoles.chunks(BATCH) {
        let Some(last) = ids.last() else { continue };
        // Lists are filled up to one of two lengths, so that the databases prepare few statements.
        let count = if ids.len() > 1 { BATCH } else { 1 };
        let mut values = args![now_ms, tenant_id];
        values.extend(ids.iter().chain(std::iter::repeat(last)).take(count).map(Arg::from));
        let sql = format!(
            "UPDATE consoles SET {set} WHERE tenant_id = $2 AND open = 1 AND id IN ({})",
            placeholders(3, count)
        );
        tx.execute(sqlx::AssertSqlSafe(sql), values).await?;
    }
    Ok(())
}
