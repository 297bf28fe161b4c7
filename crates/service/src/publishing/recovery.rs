//! Recovers jobs whose lease has expired when no site claims another one: what has failed is shown as failed.

use std::time::Duration;

use tracing::warn;

use super::jobs::{recover_expired, sites_with_expired};
use crate::Service;
use crate::db::{DbError, Wake, transaction};

/// The interval at which expired leases are looked for.
const INTERVAL: Duration = Duration::from_mins(1);

/// Recovers expired leases regularly, until the service closes.
pub(crate) async fn run(service: Service) {
    loop {
        tokio::select! {
            () = service.0.closing.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        if let Err(error) = once(&service).await {
            warn!("expired leases of jobs were not recovered: {error}");
        }
    }
}

/// Recovers the leases that have expired. Nodes that do it at once skip each other's jobs.
pub(super) async fn once(service: &Service) -> Result<(), DbError> {
    let now_ms = service.now_ms();
    for (tenant, site) in sites_with_expired(service.db(), now_ms).await? {
        transaction!(service.db(), |tx| {
            recover_expired(tx, now_ms, &site).await?;
            tx.wake(Wake::Site { tenant, site });
            Ok::<_, DbError>(())
        })
        .await?;
    }
    Ok(())
}
