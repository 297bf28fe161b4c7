//! The audit log: what was done, by whom, and from where.
//!
//! Entries are only ever added. They hold ids and names of settings, but no secrets and no words of visitors.

use chat_protocol::Value;

use crate::db::{DbError, Tx, args};

/// What is recorded of a change.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) tenant_id: &'a str,
    /// The operator's id, `command` for the command line, or `service`.
    pub(crate) actor_id: &'a str,
    /// The operator's name and e-mail address, or who else did it.
    pub(crate) actor: &'a str,
    /// The kind of change, such as `site.update`.
    pub(crate) action: &'a str,
    /// The id of what was changed.
    pub(crate) target: &'a str,
    /// An object with details.
    pub(crate) detail: Value,
    /// The client's address; empty for the command and the service.
    pub(crate) address: &'a str,
    pub(crate) at_ms: i64,
}

/// Adds an entry, in the transaction of the change.
pub(crate) async fn record(tx: &mut Tx, entry: &Entry<'_>) -> Result<(), DbError> {
    let sql = "INSERT INTO audit (tenant_id, at_ms, actor_id, actor, action, target, detail, address)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = args![
        entry.tenant_id,
        entry.at_ms,
        entry.actor_id,
        entry.actor,
        entry.action,
        entry.target,
        &entry.detail,
        entry.address,
    ];
    tx.execute(sql, values).await?;
    Ok(())
}
