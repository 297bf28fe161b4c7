//! The devices of operators. A device belongs to the session of its browser, and ends with it.

use chat_protocol::admin::PushDevice;

use super::subscription::Subscription;
use crate::ServiceKey;
use crate::accounts::Operator;
use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::secrets::new_id;

/// Maximum devices of an operator. A further one replaces the one that was added first.
const MAX_DEVICES: i64 = 10;

/// The browser to add.
#[derive(Clone, Debug)]
pub(in crate::notify) struct NewDevice {
    pub(in crate::notify) session_id: String,
    pub(in crate::notify) subscription: Subscription,
    pub(in crate::notify) locale: Option<String>,
}

impl NewDevice {
    /// Stores the device of a session, in place of an earlier one of the same browser. Returns its id, and
    /// whether the operator did not have this device before.
    pub(in crate::notify) async fn store(
        &self,
        tx: &mut Tx,
        key: &ServiceKey,
        now_ms: i64,
        operator_id: &str,
    ) -> Result<(String, bool), DbError> {
        let hash = self.subscription.fingerprint();
        let sql =
            "SELECT id FROM push_devices WHERE session_id = $1 AND operator_id = $2 AND endpoint_hash = $3";
        if let Some(row) = tx.optional(sql, args![&self.session_id, operator_id, &hash]).await? {
            let id = row.text(0)?;
            let sql = "UPDATE push_devices SET subscription = $2, locale = $3, failures = 0 WHERE id = $1";
            let values = args![&id, self.subscription.seal(key, &id), self.locale.as_deref()];
            tx.execute(sql, values).await?;
            return Ok((id, false));
        }
        let sql = "DELETE FROM push_devices
                   WHERE session_id = $1 OR (operator_id = $2 AND endpoint_hash = $3)";
        let replaced = tx.execute(sql, args![&self.session_id, operator_id, &hash]).await?;
        let sql = "DELETE FROM push_devices WHERE operator_id = $1 AND id NOT IN (
                       SELECT id FROM push_devices WHERE operator_id = $1
                       ORDER BY created_ms DESC, id LIMIT $2)";
        tx.execute(sql, args![operator_id, MAX_DEVICES - 1]).await?;
        let id = new_id("push");
        let sql = "INSERT INTO push_devices
                       (id, operator_id, session_id, endpoint_hash, subscription, locale, created_ms)
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let sealed = self.subscription.seal(key, &id);
        let locale = self.locale.as_deref();
        tx.execute(sql, args![&id, operator_id, &self.session_id, &hash, sealed, locale, now_ms]).await?;
        Ok((id, replaced == 0))
    }
}

/// Lists the devices of an operator whose sessions are not over. `session_id` is the one that asks.
pub(super) async fn list(
    db: &Db,
    now_ms: i64,
    operator: &Operator,
    session_id: &str,
) -> Result<Vec<PushDevice>, DbError> {
    let sql = "SELECT d.id, d.session_id, s.user_agent, d.created_ms, d.used_ms
               FROM push_devices d
               JOIN operator_sessions s ON s.id = d.session_id JOIN operators o ON o.id = d.operator_id
               WHERE o.id = $1 AND o.tenant_id = $2 AND s.expires_ms > $3
               ORDER BY d.created_ms DESC, d.id";
    let values = args![&operator.id, &operator.tenant_id, now_ms];
    let read = |row: &Row| {
        Ok(PushDevice {
            id: row.text(0)?,
            current: row.text(1)? == session_id,
            user_agent: row.text(2)?,
            created_at: iso(row.int(3)?),
            used_at: row.optional_int(4)?.map(iso),
        })
    };
    db.all(sql, values).await?.iter().map(read).collect()
}

/// Removes a device of an operator. Returns whether there was one.
pub(super) async fn remove(tx: &mut Tx, operator_id: &str, device_id: &str) -> Result<bool, DbError> {
    let sql = "DELETE FROM push_devices WHERE id = $1 AND operator_id = $2";
    Ok(tx.execute(sql, args![device_id, operator_id]).await? > 0)
}
