//! Lists that the operators of a tenant share: labels and canned replies. Each entry has a key of its own.

use crate::Service;
use crate::accounts::Actor;
use crate::db::{Arg, Wake, args, transaction};
use crate::error::ApiError;

/// The statements of a list, and its errors.
pub(super) struct SharedList {
    /// The name of an entry in the audit log.
    pub(super) name: &'static str,
    /// Counts the entries of a tenant.
    pub(super) count: &'static str,
    /// Finds the entry of a tenant that has a key, unless it has this id.
    pub(super) taken: &'static str,
    /// Inserts an entry: its id, its tenant, its key, and its values.
    pub(super) insert: &'static str,
    /// Changes an entry, with the same arguments.
    pub(super) update: &'static str,
    /// Deletes the entry with an id from a tenant's list.
    pub(super) delete: &'static str,
    /// Maximum entries of a tenant.
    pub(super) max: i64,
    /// The error beyond that.
    pub(super) is_full: &'static str,
    /// The error if another entry has the key.
    pub(super) is_taken: &'static str,
    /// The name of an entry in the error if there is none with this id.
    pub(super) missing: &'static str,
}

/// A change of a list.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// An entry with a key, of which upper and lower case are the same, and its values.
    Create(String, Vec<Arg>),
    /// The new key and values of an entry.
    Update(String, Vec<Arg>),
    Delete,
}

impl SharedList {
    /// Changes an entry in a transaction, with a line in the audit log, and announces the change to all
    /// consoles.
    pub(super) async fn write(
        &'static self,
        service: &Service,
        actor: Actor,
        id: &str,
        change: Change,
    ) -> Result<(), ApiError> {
        let (now_ms, id) = (service.now_ms(), id.to_owned());
        let (sql, verb, is_new, entry) = match change {
            Change::Create(key, values) => (self.insert, "create", true, Some((key, values))),
            Change::Update(key, values) => (self.update, "update", false, Some((key, values))),
            Change::Delete => (self.delete, "delete", false, None),
        };
        transaction!(service.db(), |tx| {
            let tenant = actor.operator.tenant_id.clone();
            if is_new && tx.one(self.count, args![&tenant]).await?.int(0)? >= self.max {
                return Err(ApiError::Conflict(self.is_full.to_owned()));
            }
            let mut arguments = args![&id, &tenant];
            if let Some((key, values)) = entry {
                let key = key.to_lowercase();
                if tx.optional(self.taken, args![&tenant, &key, &id]).await?.is_some() {
                    return Err(ApiError::Conflict(self.is_taken.to_owned()));
                }
                arguments.push(key.into());
                arguments.extend(values);
            }
            if tx.execute(sql, arguments).await? == 0 {
                return Err(ApiError::NotFound(self.missing));
            }
            actor.record(tx, now_ms, &format!("{}.{verb}", self.name), &id).await?;
            tx.wake(Wake::Settings { tenant });
            Ok(())
        })
        .await
    }
}
