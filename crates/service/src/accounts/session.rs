//! The sessions of signed-in operators, stored by the hashes of their cookies.

use std::collections::HashSet;
use std::time::Duration;

use chat_protocol::admin::settings::SessionInfo;
use tracing::warn;

use super::{Operator, Role};
use crate::Service;
use crate::clock::{iso, millis};
use crate::db::{Arg, DbError, Row, Tx, Wake, args, transaction};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::secrets::{new_id, random_secret};

/// A session ends this time after its begin, however much it is used.
pub(super) const MAX_AGE: Duration = Duration::from_hours(30 * 24);
/// A session ends when it was not used for this time.
const IDLE_TIMEOUT: Duration = Duration::from_hours(12);
/// A session that is used for this time gets a new secret.
const ROTATION_INTERVAL: Duration = Duration::from_hours(24);
/// A replaced secret remains valid for this time, for requests in flight.
const ROTATION_GRACE: Duration = Duration::from_mins(1);
/// The time of the last use is stored with this precision.
const SEEN_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum sessions of an operator. A further one ends the one that was not used for longest.
const MAX_SESSIONS: i64 = 50;
/// Maximum length of a stored `User-Agent`, in characters.
const MAX_USER_AGENT_CHARS: usize = 300;

/// The session of a request, in its extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) id: String,
    seen_ms: i64,
    rotated_ms: i64,
}

/// The browser that signs in.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    pub(super) address: String,
    pub(super) user_agent: String,
}

/// Creates a session, and returns its secret, for the cookie.
pub(crate) async fn create(
    tx: &mut Tx,
    now_ms: i64,
    operator_id: &str,
    browser: &Browser,
) -> Result<String, DbError> {
    let expires_ms = now_ms.saturating_add(millis(MAX_AGE));
    insert(tx, now_ms, operator_id, browser, (now_ms, expires_ms)).await
}

/// Replaces a session by one of another operator, which ends when the first one would have ended. Whatever
/// belongs to the first one ends now. Returns the secret of the new one; `None` if the session is over.
pub(super) async fn switch(
    tx: &mut Tx,
    now_ms: i64,
    session_id: &str,
    operator_id: &str,
    browser: &Browser,
) -> Result<Option<String>, DbError> {
    let sql =
        "DELETE FROM operator_sessions WHERE id = $1 AND expires_ms > $2 RETURNING created_ms, expires_ms";
    let Some(row) = tx.optional(sql, args![session_id, now_ms]).await? else { return Ok(None) };
    let times = (row.int(0)?, row.int(1)?);
    insert(tx, now_ms, operator_id, browser, times).await.map(Some)
}

/// Refuses a request whose session has ended since the request began. A body can arrive late, and must not
/// undo what ended the session, such as a new password. Lock the account first, so that the session does not
/// end meanwhile.
pub(super) async fn require(tx: &mut Tx, now_ms: i64, session: Option<&Session>) -> Result<(), ApiError> {
    let id = session.map_or("", |session| session.id.as_str());
    let sql = "SELECT id FROM operator_sessions WHERE id = $1 AND expires_ms > $2";
    tx.optional(sql, args![id, now_ms]).await?.ok_or(ApiError::SIGNED_OUT)?;
    Ok(())
}

/// Creates a session with the times of its begin and its end.
async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    operator_id: &str,
    browser: &Browser,
    (created_ms, expires_ms): (i64, i64),
) -> Result<String, DbError> {
    let oldest = "DELETE FROM operator_sessions WHERE operator_id = $1 AND id NOT IN (
                      SELECT id FROM operator_sessions WHERE operator_id = $1
                      ORDER BY seen_ms DESC, id LIMIT $2)";
    tx.execute(oldest, args![operator_id, MAX_SESSIONS - 1]).await?;
    let secret = random_secret();
    let user_agent: String = browser.user_agent.chars().take(MAX_USER_AGENT_CHARS).collect();
    let sql = "INSERT INTO operator_sessions
                   (id, hash, operator_id, created_ms, seen_ms, rotated_ms, expires_ms, address, user_agent)
               VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8)";
    let values = args![
        new_id("session"),
        fingerprint(&[secret.as_bytes()]),
        operator_id,
        created_ms,
        now_ms,
        expires_ms,
        &browser.address,
        user_agent,
    ];
    tx.execute(sql, values).await?;
    Ok(secret)
}

/// Selects valid sessions; `$1` is the current time, `$2` the time since which they must have been used.
macro_rules! valid_sessions {
    ($columns:literal, $condition:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM operator_sessions s
              JOIN operators o ON o.id = s.operator_id JOIN tenants t ON t.id = o.tenant_id
              WHERE s.expires_ms > $1 AND s.seen_ms > $2 AND o.disabled_ms IS NULL AND t.disabled_ms IS NULL
              AND ",
            $condition
        )
    };
}

/// Returns the operator and the session of a cookie, unless it is not valid any more.
pub(super) async fn find(service: &Service, secret: &str) -> Result<Option<(Operator, Session)>, ApiError> {
    let now = service.now_ms();
    let sql = valid_sessions!(
        "s.id, s.seen_ms, s.rotated_ms, o.id, o.tenant_id, o.email, o.name, o.role, o.account_id",
        "(s.hash = $3 OR (s.previous_hash = $3 AND s.rotated_ms > $4))"
    );
    let hash = fingerprint(&[secret.as_bytes()]);
    let values = args![now, idle_since_ms(now), hash, now - millis(ROTATION_GRACE)];
    let Some(row) = service.db().optional(sql, values).await? else { return Ok(None) };
    let session = Session { id: row.text(0)?, seen_ms: row.int(1)?, rotated_ms: row.int(2)? };
    let operator = Operator {
        id: row.text(3)?,
        account_id: row.text(8)?,
        tenant_id: row.text(4)?,
        email: row.text(5)?,
        name: row.text(6)?,
        role: read_role(&row.text(7)?),
    };
    Ok(Some((operator, session)))
}

/// Returns the role of a stored text. One of a newer version gives the fewest rights.
pub(super) fn read_role(text: &str) -> Role {
    Role::parse(text).unwrap_or_default()
}

/// Returns the time since which a session must have been used to be valid.
fn idle_since_ms(now_ms: i64) -> i64 {
    now_ms - millis(IDLE_TIMEOUT)
}

/// Returns the ids of a tenant's valid sessions, for streams that outlive their first request.
pub(crate) async fn valid_sessions(service: &Service, tenant_id: &str) -> Result<HashSet<String>, DbError> {
    let now = service.now_ms();
    let sql = valid_sessions!("s.id", "o.tenant_id = $3");
    let rows = service.db().all(sql, args![now, idle_since_ms(now), tenant_id]).await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// Records the use of a session, and replaces a secret that was used for long. Returns the new secret.
pub(super) async fn keep_alive(service: &Service, session: &Session, secret: &str) -> Option<String> {
    let now = service.now_ms();
    let (sql, values, new) = if session.rotated_ms.saturating_add(millis(ROTATION_INTERVAL)) <= now {
        let new = random_secret();
        let sql = "UPDATE operator_sessions
                   SET previous_hash = hash, hash = $1, rotated_ms = $2, seen_ms = $2
                   WHERE id = $3 AND hash = $4";
        let hashes = [fingerprint(&[new.as_bytes()]), fingerprint(&[secret.as_bytes()])];
        (sql, args![hashes[0], now, &session.id, hashes[1]], Some(new))
    } else if session.seen_ms.saturating_add(millis(SEEN_INTERVAL)) <= now {
        ("UPDATE operator_sessions SET seen_ms = $1 WHERE id = $2", args![now, &session.id], None)
    } else {
        return None;
    };
    match execute(service, sql, values).await {
        Ok(1) => new,
        Ok(_) => None,
        Err(error) => {
            // The request itself may only read, and succeed.
            warn!("the use of a session was not recorded: {error}");
            None
        }
    }
}

async fn execute(service: &Service, sql: &'static str, values: Vec<Arg>) -> Result<u64, DbError> {
    transaction!(service.db(), |tx| tx.execute(sql, values).await).await
}

/// The sessions of somebody.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<'a> {
    /// Those of an operator, in one tenant.
    Operator(&'a str),
    /// Those of an account, in all tenants.
    Account(&'a str),
}

/// Lists somebody's valid sessions. `current` is the id of the session that asks.
pub(super) async fn list(service: &Service, of: Of<'_>, current: &str) -> Result<Vec<SessionInfo>, DbError> {
    let now = service.now_ms();
    let (sql, id) = match of {
        Of::Operator(id) => (
            valid_sessions!(
                "s.id, s.created_ms, s.seen_ms, s.expires_ms, s.address, s.user_agent",
                "s.operator_id = $3 ORDER BY s.seen_ms DESC, s.id"
            ),
            id,
        ),
        Of::Account(id) => (
            valid_sessions!(
                "s.id, s.created_ms, s.seen_ms, s.expires_ms, s.address, s.user_agent",
                "o.account_id = $3 ORDER BY s.seen_ms DESC, s.id"
            ),
            id,
        ),
    };
    let rows = service.db().all(sql, args![now, idle_since_ms(now), id]).await?;
    let read = |row: &Row| {
        let id = row.text(0)?;
        Ok(SessionInfo {
            current: id == current,
            id,
            created_at: iso(row.int(1)?),
            seen_at: iso(row.int(2)?),
            expires_at: iso(row.int(3)?),
            address: row.text(4)?,
            user_agent: row.text(5)?,
        })
    };
    rows.iter().map(read).collect()
}

/// Ends one of somebody's sessions. Returns whether there was one.
pub(super) async fn revoke(tx: &mut Tx, of: Of<'_>, session_id: &str) -> Result<bool, DbError> {
    let (sql, id) = match of {
        Of::Operator(id) => ("DELETE FROM operator_sessions WHERE id = $1 AND operator_id = $2", id),
        Of::Account(id) => (
            "DELETE FROM operator_sessions WHERE id = $1
             AND operator_id IN (SELECT id FROM operators WHERE account_id = $2)",
            id,
        ),
    };
    let ended = tx.execute(sql, args![session_id, id]).await? > 0;
    wake(tx, of).await?;
    Ok(ended)
}

/// Ends somebody's sessions, but the one named by `except`. Returns their number.
pub(super) async fn revoke_all(tx: &mut Tx, of: Of<'_>, except: Option<&str>) -> Result<u64, DbError> {
    let (sql, id) = match of {
        Of::Operator(id) => ("DELETE FROM operator_sessions WHERE id <> $1 AND operator_id = $2", id),
        Of::Account(id) => (
            "DELETE FROM operator_sessions WHERE id <> $1
             AND operator_id IN (SELECT id FROM operators WHERE account_id = $2)",
            id,
        ),
    };
    let ended = tx.execute(sql, args![except.unwrap_or_default(), id]).await?;
    wake(tx, of).await?;
    Ok(ended)
}

/// Announces in each tenant of somebody that sessions have ended.
async fn wake(tx: &mut Tx, of: Of<'_>) -> Result<(), DbError> {
    let (sql, id) = match of {
        Of::Operator(id) => ("SELECT tenant_id FROM operators WHERE id = $1", id),
        Of::Account(id) => ("SELECT tenant_id FROM operators WHERE account_id = $1 ORDER BY tenant_id", id),
    };
    for row in tx.all(sql, args![id]).await? {
        tx.wake(Wake::Settings { tenant: row.text(0)? });
    }
    Ok(())
}
