//! Lists that the operators of a tenant share: labels and canned replies. Each entry has a key of its own.

use futures_util::future::BoxFuture;

use crate::Service;
use crate::accounts::Actor;
use crate::db::{Tx, Wake, args};
use crate::error::ApiError;
use crate::input::done;
use crate::response::ApiResponse;

/// The statements of a list, and its errors.
pub(super) struct SharedList {
    /// Counts the entries of a tenant.
    pub(super) count: &'static str,
    /// Finds the entry of a tenant that has a key, unless it has this id.
    pub(super) taken: &'static str,
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

impl SharedList {
    /// Refuses one more entry in a full list.
    pub(super) async fn check_room(&self, tx: &mut Tx, tenant_id: &str) -> Result<(), ApiError> {
        let count = tx.one(self.count, args![tenant_id]).await?.int(0)?;
        if count >= self.max { Err(ApiError::Conflict(self.is_full.to_owned())) } else { Ok(()) }
    }

    /// Refuses a key that another entry has. Upper and lower case are the same.
    pub(super) async fn check_key(
        &self,
        tx: &mut Tx,
        tenant_id: &str,
        id: &str,
        key: &str,
    ) -> Result<(), ApiError> {
        match tx.optional(self.taken, args![tenant_id, key.to_lowercase(), id]).await? {
            Some(_) => Err(ApiError::Conflict(self.is_taken.to_owned())),
            None => Ok(()),
        }
    }

    /// The error if a tenant has no entry with the requested id.
    pub(super) fn missing(&self) -> ApiError {
        ApiError::NotFound(self.missing)
    }

    /// Deletes an entry.
    pub(super) async fn delete(
        &'static self,
        service: &Service,
        actor: Actor,
        action: &'static str,
        id: String,
    ) -> Result<ApiResponse, ApiError> {
        let key = id.clone();
        write(service, actor, action, id, move |tx, tenant| {
            Box::pin(async move {
                match tx.execute(self.delete, args![key, tenant]).await? {
                    0 => Err(self.missing()),
                    _ => Ok(()),
                }
            })
        })
        .await?;
        Ok(done())
    }
}

/// Changes an entry in a transaction, with a line in the audit log, and announces the change to all consoles.
pub(super) async fn write<F>(
    service: &Service,
    actor: Actor,
    action: &'static str,
    id: String,
    change: F,
) -> Result<(), ApiError>
where
    F: for<'tx> FnOnce(&'tx mut Tx, String) -> BoxFuture<'tx, Result<(), ApiError>> + Send + 'static,
{
    let now_ms = service.now_ms();
    service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let tenant = actor.operator.tenant_id.clone();
                change(&mut *tx, tenant.clone()).await?;
                actor.record(tx, now_ms, action, &id).await?;
                tx.wake(Wake::Settings { tenant });
                Ok(())
            })
        })
        .await
}
