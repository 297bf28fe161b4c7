//! Limits the requests that are in progress at the same time: one site must not take the AI from all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Failure;

/// Maximum concurrent requests of all sites.
pub(super) const MAX_CONCURRENT: usize = 64;
/// Maximum concurrent requests of a site.
pub(super) const MAX_CONCURRENT_PER_SITE: usize = 8;
/// The maximum time that a request waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of sites above which those without requests are forgotten.
const MAX_IDLE_SITES: usize = 1024;

#[derive(Debug)]
pub(super) struct Budget {
    all: Arc<Semaphore>,
    sites: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A turn, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _site: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
    /// Keeps the site's count while it has requests.
    _count: Arc<Semaphore>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_CONCURRENT)), sites: Mutex::default() }
    }
}

impl Budget {
    /// Waits for a turn, at most `timeout`.
    pub(super) async fn turn(&self, site_id: &str, timeout: Duration) -> Result<Turn, Failure> {
        let count = self.count(site_id);
        let turn = async {
            let site = Arc::clone(&count).acquire_owned().await.ok()?;
            let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some((site, all))
        };
        match tokio::time::timeout(timeout.min(TURN_TIMEOUT), turn).await {
            Ok(Some((site, all))) => Ok(Turn { _site: site, _all: all, _count: count }),
            _ => Err(Failure::refused("too many requests to the AI are in progress")),
        }
    }

    fn count(&self, site_id: &str) -> Arc<Semaphore> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = sites.get(site_id).and_then(Weak::upgrade) {
            return count;
        }
        if sites.len() >= MAX_IDLE_SITES {
            sites.retain(|_, count| count.strong_count() > 0);
        }
        let count = Arc::new(Semaphore::new(MAX_CONCURRENT_PER_SITE));
        sites.insert(site_id.to_owned(), Arc::downgrade(&count));
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_site_that_uses_up_its_turns_leaves_those_of_others() {
        let budget = Budget::default();
        let mut turns = Vec::new();
        for _ in 0..MAX_CONCURRENT_PER_SITE {
            turns.push(budget.turn("one", TURN_TIMEOUT).await.expect("a turn"));
        }
        let refused = budget.turn("one", TURN_TIMEOUT).await.expect_err("all turns are taken");
        assert!(!refused.is_down, "that is not the endpoint's fault");
        budget.turn("two", TURN_TIMEOUT).await.expect("a turn");
        turns.pop();
        budget.turn("one", TURN_TIMEOUT).await.expect("a turn");
    }

    #[tokio::test(start_paused = true)]
    async fn all_sites_together_have_a_maximum() {
        let budget = Budget::default();
        let mut turns = Vec::new();
        for number in 0..MAX_CONCURRENT {
            turns.push(budget.turn(&format!("site {}", number / 4), TURN_TIMEOUT).await.expect("a turn"));
        }
        budget.turn("another", TURN_TIMEOUT).await.expect_err("all turns are taken");
    }

    #[tokio::test]
    async fn forgets_sites_without_requests() {
        let budget = Budget::default();
        for number in 0..5000 {
            drop(budget.turn(&number.to_string(), TURN_TIMEOUT).await);
        }
        assert!(budget.sites.lock().expect("not poisoned").len() <= MAX_IDLE_SITES);
    }
}
