//! The lease of the node that purges.

use std::time::Duration;

use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Tx, args, transaction};

/// The service value that holds the end of the lease, in milliseconds since 1970.
const NAME: &str = "purge_lease";
/// The time after which another node may take over from one that died.
const LIFETIME: Duration = Duration::from_mins(1);

/// A lease, by the time at which it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    until_ms: i64,
}

impl Lease {
    /// Takes the lease; `None` if another node has it.
    pub(super) async fn take(service: &Service) -> Result<Option<Self>, DbError> {
        let now_ms = service.now_ms();
        let lease = Self { until_ms: now_ms.saturating_add(millis(LIFETIME)) };
        transaction!(service.db(), |tx| {
            let sql = "INSERT INTO service_values (name, value) VALUES ($1, $2)
                       ON CONFLICT (name) DO UPDATE SET value = excluded.value
                       WHERE CAST(service_values.value AS BIGINT) <= $3";
            let taken = tx.execute(sql, args![NAME, lease.until_ms.to_string(), now_ms]).await?;
            Ok((taken == 1).then_some(lease))
        })
        .await
    }

    /// Returns the lease as it is after its renewal. It differs, so that a lost lease is noticed.
    pub(super) fn renewed(self, now_ms: i64) -> Self {
        Self { until_ms: now_ms.saturating_add(millis(LIFETIME)).max(self.until_ms + 1) }
    }

    /// Stores a renewal. Returns false if the lease was lost.
    pub(super) async fn renew(self, tx: &mut Tx, renewed: Self) -> Result<bool, DbError> {
        let sql = "UPDATE service_values SET value = $1 WHERE name = $2 AND value = $3";
        let values = args![renewed.until_ms.to_string(), NAME, self.until_ms.to_string()];
        Ok(tx.execute(sql, values).await? == 1)
    }

    /// Gives the lease back.
    pub(super) async fn release(self, service: &Service) -> Result<(), DbError> {
        transaction!(service.db(), |tx| {
            let sql = "DELETE FROM service_values WHERE name = $1 AND value = $2";
            tx.execute(sql, args![NAME, self.until_ms.to_string()]).await.map(drop)
        })
        .await
    }
}
