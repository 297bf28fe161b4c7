//! Removes what is no longer needed, little by little: deleted sites, conversations and events that are older
//! than their site keeps them, and everything that has expired.
//!
//! One node at a time does it: it holds a lease, which each of its transactions renews. A transaction removes
//! at most [`BATCH`] rows, so that writers are not held up. All work can be interrupted, and goes on later.

mod expired;
mod lease;
#[cfg(test)]
mod purge_tests;
mod retention;
mod sites;

use std::time::Duration;

use tracing::warn;

use crate::Service;
use crate::db::{Arg, DbError, Work, transaction, work};
use crate::visitors::removal::BATCH;
use crate::visitors::scrub;
use lease::Lease;

/// The interval at which rows to remove are looked for.
const INTERVAL: Duration = Duration::from_mins(5);
/// The pause between two batches, in which writers have their turn.
const PAUSE: Duration = Duration::from_millis(10);

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The reason why a run ends early.
#[derive(Debug)]
enum Stopped {
    /// The service closes, or another node has the lease.
    Ended,
    Database(DbError),
}

impl From<DbError> for Stopped {
    fn from(error: DbError) -> Self {
        Self::Database(error)
    }
}

/// Purges regularly, until the service closes.
pub(crate) async fn run(service: Service) {
    loop {
        if let Err(error) = once(&service).await {
            warn!("old data was not removed: {error}");
        }
        tokio::select! {
            () = service.0.closing.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}

/// Removes everything that is due, and returns the number of removed rows. Does nothing if another node is
/// about to.
pub(crate) async fn once(service: &Service) -> Result<u64, DbError> {
    let Some(lease) = Lease::take(service).await? else { return Ok(0) };
    let mut purge = Purge { service, lease, now_ms: service.now_ms(), removed: 0 };
    match purge.everything().await {
        Ok(()) | Err(Stopped::Ended) => {}
        Err(Stopped::Database(error)) => return Err(error),
    }
    purge.lease.release(service).await?;
    Ok(purge.removed)
}

/// A run of one node.
struct Purge<'a> {
    service: &'a Service,
    lease: Lease,
    now_ms: i64,
    removed: u64,
}

impl Purge<'_> {
    async fn everything(&mut self) -> Result<(), Stopped> {
        expired::purge(self).await?;
        retention::purge(self).await?;
        sites::purge(self).await?;
        // Also after an erasure that a crash interrupted.
        scrub::scrub(self.service.db(), self.service.now_ms()).await?;
        Ok(())
    }

    /// Executes a batch in a transaction that renews the lease, and returns the number of removed rows. What
    /// it removed is scrubbed within a day.
    async fn batch(&mut self, work: impl Work<u64, DbError>) -> Result<u64, Stopped> {
        if self.service.0.closing.is_cancelled() {
            return Err(Stopped::Ended);
        }
        let now_ms = self.service.now_ms();
        let (lease, renewed) = (self.lease, self.lease.renewed(now_ms));
        let outcome: Result<Option<u64>, DbError> = transaction!(self.service.db(), |tx| {
            if !lease.renew(tx, renewed).await? {
                return Ok(None);
            }
            let removed = work(tx).await?;
            if removed > 0 {
                scrub::request_by(tx, now_ms.saturating_add(DAY_MS)).await?;
            }
            Ok(Some(removed))
        })
        .await;
        let removed = outcome?.ok_or(Stopped::Ended)?;
        self.lease = renewed;
        self.removed += removed;
        Ok(removed)
    }

    /// Repeats a statement that removes at most [`BATCH`] rows, until nothing is left. The statement's last
    /// argument is that number.
    async fn repeat(&mut self, sql: &'static str, values: Vec<Arg>) -> Result<(), Stopped> {
        loop {
            let mut values = values.clone();
            values.push(BATCH.into());
            let removed = self.batch(work!(|tx| tx.execute(sql, values).await)).await?;
            if removed < BATCH.unsigned_abs() {
                return Ok(());
            }
            self.pause().await?;
        }
    }

    /// Leaves the database to others for a moment.
    async fn pause(&self) -> Result<(), Stopped> {
        tokio::select! {
            () = self.service.0.closing.cancelled() => Err(Stopped::Ended),
            () = tokio::time::sleep(PAUSE) => Ok(()),
        }
    }
}
