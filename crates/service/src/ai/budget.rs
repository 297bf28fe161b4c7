//! Limits the requests that are in progress at the same time: one site must not take the AI from all others,
//! and one visitor not from those of their site.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::failure::{Failure, Fault};
use crate::rate::Caller;

/// Maximum concurrent requests of all sites.
pub(super) const MAX_CONCURRENT: usize = 64;
/// Maximum concurrent requests of a site.
pub(super) const MAX_CONCURRENT_PER_SITE: usize = 8;
/// Maximum concurrent requests of a visitor.
const MAX_CONCURRENT_PER_CALLER: usize = 3;
/// The maximum time that a request waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of sites and visitors above which those without requests are forgotten.
const MAX_IDLE: usize = 1024;

#[derive(Debug)]
pub(super) struct Budget {
    all: Arc<Semaphore>,
    counts: Mutex<HashMap<Holder, Weak<Semaphore>>>,
}

/// A site, or a visitor of a site.
type Holder = (String, Option<Caller>);

/// A turn, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _permits: [OwnedSemaphorePermit; 3],
    /// Keeps the counts of the visitor and of the site while they have requests.
    _counts: [Arc<Semaphore>; 2],
}

impl Default for Budget {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_CONCURRENT)), counts: Mutex::default() }
    }
}

impl Budget {
    /// Waits for a turn, at most `timeout`.
    pub(super) async fn turn(
        &self,
        site_id: &str,
        caller: Caller,
        timeout: Duration,
    ) -> Result<Turn, Failure> {
        let counts = [
            self.count(site_id, Some(caller), MAX_CONCURRENT_PER_CALLER),
            self.count(site_id, None, MAX_CONCURRENT_PER_SITE),
        ];
        let turn = async {
            let caller = Arc::clone(&counts[0]).acquire_owned().await.ok()?;
            let site = Arc::clone(&counts[1]).acquire_owned().await.ok()?;
            let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some([caller, site, all])
        };
        match tokio::time::timeout(timeout.min(TURN_TIMEOUT), turn).await {
            Ok(Some(permits)) => Ok(Turn { _permits: permits, _counts: counts }),
            _ => Err(Failure::new(Fault::Question, "too many requests to the AI are in progress")),
        }
    }

    fn count(&self, site_id: &str, caller: Option<Caller>, max: usize) -> Arc<Semaphore> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (site_id.to_owned(), caller);
        if let Some(count) = counts.get(&key).and_then(Weak::upgrade) {
            return count;
        }
        if counts.len() >= MAX_IDLE {
            counts.retain(|_, count| count.strong_count() > 0);
        }
        let count = Arc::new(Semaphore::new(max));
        counts.insert(key, Arc::downgrade(&count));
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn turn(budget: &Budget, site: &str, visitor: usize) -> Result<Turn, Failure> {
        budget.turn(site, Caller::Visitor(visitor as u64), TURN_TIMEOUT).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_site_that_uses_up_its_turns_leaves_those_of_others() {
        let budget = Budget::default();
        let mut turns = Vec::new();
        for visitor in 0..MAX_CONCURRENT_PER_SITE {
            turns.push(turn(&budget, "one", visitor).await.expect("a turn"));
        }
        let refused = turn(&budget, "one", 99).await.expect_err("all turns are taken");
        assert_eq!(refused.fault, Fault::Question, "that is not the endpoint's fault");
        turn(&budget, "two", 0).await.expect("a turn");
        turns.pop();
        turn(&budget, "one", 99).await.expect("a turn");
    }

    #[tokio::test(start_paused = true)]
    async fn a_visitor_who_uses_up_their_turns_leaves_those_of_others() {
        let budget = Budget::default();
        let mut turns = Vec::new();
        for _ in 0..MAX_CONCURRENT_PER_CALLER {
            turns.push(turn(&budget, "one", 0).await.expect("a turn"));
        }
        turn(&budget, "one", 0).await.expect_err("all turns are taken");
        turn(&budget, "one", 1).await.expect("a turn");
    }

    #[tokio::test(start_paused = true)]
    async fn all_sites_together_have_a_maximum() {
        let budget = Budget::default();
        let mut turns = Vec::new();
        for number in 0..MAX_CONCURRENT {
            turns.push(turn(&budget, &format!("site {}", number / 4), number).await.expect("a turn"));
        }
        turn(&budget, "another", 0).await.expect_err("all turns are taken");
    }

    #[tokio::test]
    async fn forgets_sites_and_visitors_without_requests() {
        let budget = Budget::default();
        for number in 0..5000 {
            drop(turn(&budget, &number.to_string(), number).await);
        }
        assert!(budget.counts.lock().expect("not poisoned").len() <= MAX_IDLE + 1);
    }
}
