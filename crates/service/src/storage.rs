//! Counts the bytes that visitors and sites store (decision 0048).
//!
//! The database counts the bytes of each site itself, by triggers in the transaction of each change.

mod counts;
#[cfg(test)]
mod storage_tests;

use std::time::Duration;

use tracing::warn;

use crate::Service;
use crate::db::Dialect;

/// The interval at which the rows of a site are merged, where several nodes count.
const MERGE_INTERVAL: Duration = Duration::from_secs(10);

/// Merges the rows of each site, until the service closes.
pub(crate) async fn run(service: &Service) {
    if service.db().dialect() == Dialect::Sqlite {
        return;
    }
    loop {
        tokio::select! {
            () = service.0.closing.cancelled() => return,
            () = tokio::time::sleep(MERGE_INTERVAL) => {}
        }
        if let Err(error) = counts::merge(service.db()).await {
            warn!("the counts of storage were not merged: {error}");
        }
    }
}
