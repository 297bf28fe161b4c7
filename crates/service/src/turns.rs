//! Turns of tenants: of work that may take long, a node does a few pieces at a time for each tenant, and
//! further ones wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::ApiError;

/// The time that a piece of work waits for those of its tenant.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Seconds after which a piece of work that has waited too long may succeed.
const RETRY_AFTER_S: u64 = 5;

/// The turns of all tenants for one kind of work.
#[derive(Debug)]
pub(crate) struct Turns {
    /// The tenants that have work in progress.
    tenants: Mutex<HashMap<String, Weak<Semaphore>>>,
    /// The number of turns of each tenant.
    count: usize,
}

impl Turns {
    /// Returns turns of which each tenant has `count` at a time.
    pub(crate) fn new(count: usize) -> Self {
        Self { tenants: Mutex::default(), count }
    }

    /// Returns the turns of a tenant.
    pub(crate) fn of_tenant(&self, tenant_id: &str) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = tenants.get(tenant_id).and_then(Weak::upgrade) {
            return turns;
        }
        tenants.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(self.count));
        tenants.insert(tenant_id.to_owned(), Arc::downgrade(&turns));
        turns
    }

    /// Waits for a turn of a tenant, which ends when it is dropped.
    ///
    /// # Errors
    ///
    /// [`ApiError::RateLimited`] after 10 s.
    pub(crate) async fn turn(&self, tenant_id: &str) -> Result<Turn, ApiError> {
        let turns = self.of_tenant(tenant_id);
        let permit = timeout(MAX_WAIT, Arc::clone(&turns).acquire_owned()).await;
        let permit = permit.map_err(|_| ApiError::RateLimited { retry_after_s: RETRY_AFTER_S })?;
        Ok(Turn { permit: Some(permit.map_err(|_| ApiError::Internal)?), turns })
    }
}

/// The turn of a tenant.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// Gives the turn up while the work waits for something else than the database, such as its client, and
    /// takes another one, however long that takes: the response has begun.
    pub(crate) async fn pause<T>(&mut self, waiting: impl Future<Output = T>) -> T {
        self.permit = None;
        let done = waiting.await;
        // Only a closed semaphore fails, and nobody closes one.
        self.permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        done
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_tenant_has_its_turns_and_takes_none_of_others() {
        let turns = Turns::new(2);
        let first = turns.turn("acme").await.expect("a turn");
        let _second = turns.turn("acme").await.expect("a turn");
        let refused = turns.turn("acme").await.expect_err("both turns are taken");
        assert_eq!(refused, ApiError::RateLimited { retry_after_s: RETRY_AFTER_S });
        assert!(turns.turn("other").now_or_never().expect("at once").is_ok());
        drop(first);
        assert!(turns.turn("acme").now_or_never().expect("at once").is_ok());
    }
}
