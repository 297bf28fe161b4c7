//! The reads of operators that may take long: searches, reports, the audit log, the data of a person.
//!
//! They have connections of their own, so that no visitor's message waits for one, and a tenant executes few
//! of them at a time. A read ends with its request: when its time is over, or when its client has gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::Service;
use crate::error::ApiError;
use crate::limits::parallel_work;

/// Maximum long reads of a tenant that a node executes at a time, where there are processors enough; further
/// ones wait.
const MAX_OF_TENANT: usize = 2;
/// The time that a read waits for those of its tenant.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Seconds after which a read that has waited too long may succeed.
const RETRY_AFTER_S: u64 = 5;
/// Maximum time of a search or a report.
pub(crate) const SEARCH_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time for finding the data of a person, which the operator has to export or to erase.
pub(crate) const PERSON_TIMEOUT: Duration = Duration::from_mins(2);

/// The tenants whose long reads are in progress.
#[derive(Debug)]
pub(crate) struct LongReads {
    tenants: Mutex<HashMap<String, Weak<Semaphore>>>,
    /// The number of turns of each tenant.
    turns: usize,
}

impl Default for LongReads {
    fn default() -> Self {
        Self { tenants: Mutex::default(), turns: parallel_work(MAX_OF_TENANT) }
    }
}

impl LongReads {
    /// Returns the turns of a tenant.
    pub(crate) fn of_tenant(&self, tenant_id: &str) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = tenants.get(tenant_id).and_then(Weak::upgrade) {
            return turns;
        }
        tenants.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(self.turns));
        tenants.insert(tenant_id.to_owned(), Arc::downgrade(&turns));
        turns
    }

    /// Waits until a tenant may execute a long read, which ends when the turn is dropped.
    async fn turn(&self, tenant_id: &str) -> Result<Turn, ApiError> {
        let turns = self.of_tenant(tenant_id);
        let permit = timeout(MAX_WAIT, Arc::clone(&turns).acquire_owned()).await;
        let permit = permit.map_err(|_| ApiError::RateLimited { retry_after_s: RETRY_AFTER_S })?;
        Ok(Turn { permit: Some(permit.map_err(|_| ApiError::Internal)?), turns })
    }
}

/// The turn of a tenant's long read.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// Gives the turn up while the read waits for something else than the database, such as its client, and
    /// takes another one, however long that takes: the response has begun.
    pub(crate) async fn pause<T>(&mut self, waiting: impl Future<Output = T>) -> T {
        self.permit = None;
        let done = waiting.await;
        // Only a closed semaphore fails, and nobody closes one.
        self.permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        done
    }
}

/// Waits for the turn of a read that lasts longer than its future, such as that of a body. The read uses
/// [`Db::for_long_reads`](crate::db::Db::for_long_reads).
pub(crate) async fn turn(service: &Service, tenant_id: &str) -> Result<Turn, ApiError> {
    service.0.long_reads.turn(tenant_id).await
}

/// Executes a read of a tenant, which uses [`Db::for_long_reads`](crate::db::Db::for_long_reads).
pub(crate) async fn execute<T, E: Into<ApiError>>(
    service: &Service,
    tenant_id: &str,
    limit: Duration,
    read: impl Future<Output = Result<T, E>>,
) -> Result<T, ApiError> {
    let _turn = service.0.long_reads.turn(tenant_id).await?;
    timeout(limit, read).await.map_err(|_| ApiError::TooSlow)?.map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::databases::{Kind, TestDatabase};
    use crate::visitors::fixture::service;

    #[tokio::test(start_paused = true)]
    async fn a_tenant_has_its_turns_and_takes_none_of_others() {
        let reads = LongReads { turns: 2, ..LongReads::default() };
        let first = reads.turn("acme").await.expect("a turn");
        let _second = reads.turn("acme").await.expect("a turn");
        let refused = reads.turn("acme").await.expect_err("both turns are taken");
        assert_eq!(refused, ApiError::RateLimited { retry_after_s: RETRY_AFTER_S });
        assert!(reads.turn("other").now_or_never().expect("at once").is_ok());
        drop(first);
        assert!(reads.turn("acme").now_or_never().expect("at once").is_ok());
    }

    #[tokio::test]
    async fn a_read_ends_when_its_time_is_over() {
        let service = service(&TestDatabase::new(Kind::Sqlite).await).await;
        let endless = std::future::pending::<Result<(), ApiError>>();
        let ended = execute(&service, "acme", Duration::ZERO, endless).await;
        assert_eq!(ended, Err(ApiError::TooSlow));
    }
}
