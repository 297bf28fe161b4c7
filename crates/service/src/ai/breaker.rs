//! A circuit breaker: visitors do not wait for an endpoint that has failed several times in a row.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Consecutive failures that open the circuit.
pub(super) const MAX_FAILURES: u32 = 5;
/// The time after which one request tries whether the endpoint works again.
pub(super) const OPEN_INTERVAL: Duration = Duration::from_secs(30);

/// A circuit breaker.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// Set while the circuit is open.
    opened: Option<Instant>,
    /// Whether a request tries the endpoint while the circuit is open.
    is_probing: bool,
}

/// A request that the breaker allowed. If it is dropped without an outcome, it counts as none.
#[derive(Debug)]
pub(super) struct Attempt<'breaker> {
    breaker: &'breaker Breaker,
    is_probe: bool,
}

impl Breaker {
    /// Returns whether [`attempt`](Self::attempt) would refuse a request.
    pub(super) fn is_open(&self) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.opened.is_some_and(|opened| state.is_probing || opened.elapsed() < OPEN_INTERVAL)
    }

    /// Allows a request, unless the circuit is open.
    pub(super) fn attempt(&self) -> Option<Attempt<'_>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = state.opened else {
            return Some(Attempt { breaker: self, is_probe: false });
        };
        if state.is_probing || opened.elapsed() < OPEN_INTERVAL {
            return None;
        }
        state.is_probing = true;
        Some(Attempt { breaker: self, is_probe: true })
    }
}

impl Attempt<'_> {
    pub(super) fn succeeded(self) {
        let mut state = self.breaker.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.opened.is_none() || self.is_probe {
            state.failures = 0;
            state.opened = None;
        }
    }

    /// Counts a failure. Returns whether it has opened the circuit.
    pub(super) fn failed(self) -> bool {
        let mut state = self.breaker.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        let was_open = state.opened.is_some();
        if self.is_probe || (!was_open && state.failures >= MAX_FAILURES) {
            state.opened = Some(Instant::now());
        }
        !was_open && state.opened.is_some()
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.0.lock().unwrap_or_else(PoisonError::into_inner).is_probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(breaker: &Breaker) -> bool {
        breaker.attempt().expect("allowed").failed()
    }

    #[tokio::test(start_paused = true)]
    async fn opens_after_consecutive_failures_only() {
        let breaker = Breaker::default();
        for _ in 1..MAX_FAILURES {
            assert!(!fail(&breaker));
        }
        breaker.attempt().expect("allowed").succeeded();
        for _ in 1..MAX_FAILURES {
            assert!(!fail(&breaker));
        }
        assert!(fail(&breaker));
        assert!(breaker.attempt().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_at_a_time_tries_an_endpoint_that_failed() {
        let breaker = Breaker::default();
        (0..MAX_FAILURES).for_each(|_| {
            fail(&breaker);
        });
        tokio::time::advance(OPEN_INTERVAL).await;
        let probe = breaker.attempt().expect("a probe");
        assert!(breaker.attempt().is_none(), "one at a time");
        drop(probe);
        assert!(!fail(&breaker), "a probe that failed opens nothing that was closed");
        assert!(breaker.attempt().is_none(), "open for another while");
        tokio::time::advance(OPEN_INTERVAL).await;
        breaker.attempt().expect("a probe").succeeded();
        assert!(breaker.attempt().is_some() && breaker.attempt().is_some(), "closed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_success_does_not_close_the_circuit() {
        let breaker = Breaker::default();
        let slow = breaker.attempt().expect("allowed");
        (0..MAX_FAILURES).for_each(|_| {
            fail(&breaker);
        });
        slow.succeeded();
        assert!(breaker.attempt().is_none());
    }
}
