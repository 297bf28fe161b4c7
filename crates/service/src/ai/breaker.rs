//! A circuit breaker: visitors do not wait for an endpoint that has failed several times in a row. What one
//! visitor does, closes it for nobody else: their question may be what makes the endpoint fail.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::rate::Caller;

/// Consecutive failures that open the circuit.
pub(super) const MAX_FAILURES: u32 = 5;
/// Failures of one visitor that count for all others.
const MAX_FAILURES_OF_ONE: u32 = 2;
/// The time after which one request tries whether the endpoint works again.
pub(super) const OPEN_INTERVAL: Duration = Duration::from_secs(30);
/// Maximum visitors whose failures are remembered.
const MAX_CALLERS: usize = 64;

/// A circuit breaker.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The failures since the last success, by who had asked.
    failures: HashMap<Caller, Failures>,
    /// Set while the circuit is open.
    opened: Option<Instant>,
    /// Whether a request tries the endpoint while the circuit is open.
    is_probing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: Instant,
}

impl State {
    fn refuses(&self, caller: Caller) -> bool {
        let is_own = self.failures.get(&caller).is_some_and(|failures| {
            failures.count >= MAX_FAILURES && failures.last.elapsed() < OPEN_INTERVAL
        });
        let is_open = |opened: Instant| self.is_probing || opened.elapsed() < OPEN_INTERVAL;
        self.opened.map_or(is_own, is_open)
    }

    /// Returns the failures that count for all.
    fn count(&self) -> u32 {
        self.failures.values().map(|failures| failures.count.min(MAX_FAILURES_OF_ONE)).sum()
    }
}

/// A request that the breaker allowed. If it is dropped without an outcome, it counts as none.
#[derive(Debug)]
pub(super) struct Attempt<'breaker> {
    breaker: &'breaker Breaker,
    caller: Caller,
    is_probe: bool,
}

impl Breaker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether [`attempt`](Self::attempt) would refuse a request.
    pub(super) fn is_open(&self, caller: Caller) -> bool {
        self.state().refuses(caller)
    }

    /// Allows a request, unless the circuit is open.
    pub(super) fn attempt(&self, caller: Caller) -> Option<Attempt<'_>> {
        let mut state = self.state();
        if state.refuses(caller) {
            return None;
        }
        let is_probe = state.opened.is_some();
        state.is_probing = is_probe;
        Some(Attempt { breaker: self, caller, is_probe })
    }
}

impl Attempt<'_> {
    pub(super) fn succeeded(self) {
        let mut state = self.breaker.state();
        if state.opened.is_none() || self.is_probe {
            state.failures.clear();
            state.opened = None;
        }
    }

    /// Counts a failure. Returns whether it has opened the circuit.
    pub(super) fn failed(self) -> bool {
        let mut state = self.breaker.state();
        let was_open = state.opened.is_some();
        if state.failures.len() < MAX_CALLERS || state.failures.contains_key(&self.caller) {
            let failures =
                state.failures.entry(self.caller).or_insert(Failures { count: 0, last: Instant::now() });
            *failures = Failures { count: failures.count.saturating_add(1), last: Instant::now() };
        }
        if self.is_probe || (!was_open && state.count() >= MAX_FAILURES) {
            state.opened = Some(Instant::now());
        }
        !was_open && state.opened.is_some()
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.state().is_probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a visitor's question fail.
    fn fail(breaker: &Breaker, visitor: u64) -> bool {
        breaker.attempt(Caller::Visitor(visitor)).expect("allowed").failed()
    }

    /// Lets the question of one visitor after another fail, until the circuit opens.
    fn open(breaker: &Breaker) {
        let opened: Vec<bool> = (0..5).map(|visitor| fail(breaker, visitor)).collect();
        assert_eq!(opened, [false, false, false, false, true]);
    }

    const ANOTHER: Caller = Caller::Visitor(99);

    #[tokio::test(start_paused = true)]
    async fn opens_after_consecutive_failures_only() {
        let breaker = Breaker::default();
        for visitor in 1..u64::from(MAX_FAILURES) {
            assert!(!fail(&breaker, visitor));
        }
        breaker.attempt(ANOTHER).expect("allowed").succeeded();
        open(&breaker);
        assert!(breaker.attempt(ANOTHER).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn one_visitor_closes_the_endpoint_for_themselves_only() {
        let breaker = Breaker::default();
        for _ in 0..MAX_FAILURES {
            assert!(!fail(&breaker, 1));
        }
        assert!(breaker.is_open(Caller::Visitor(1)) && !breaker.is_open(ANOTHER));
        assert!(!fail(&breaker, 2) && !fail(&breaker, 2), "two of five count for each");
        assert!(!breaker.is_open(ANOTHER));
        assert!(fail(&breaker, 3), "the endpoint fails for a third one");
        tokio::time::advance(OPEN_INTERVAL).await;
        breaker.attempt(Caller::Visitor(1)).expect("a probe").succeeded();
        assert!(!breaker.is_open(Caller::Visitor(1)) && !breaker.is_open(ANOTHER));
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_at_a_time_tries_an_endpoint_that_failed() {
        let breaker = Breaker::default();
        open(&breaker);
        tokio::time::advance(OPEN_INTERVAL).await;
        let probe = breaker.attempt(ANOTHER).expect("a probe");
        assert!(breaker.attempt(ANOTHER).is_none(), "one at a time");
        drop(probe);
        assert!(!fail(&breaker, 1), "a probe that failed opens nothing that was closed");
        assert!(breaker.attempt(ANOTHER).is_none(), "open for another while");
        tokio::time::advance(OPEN_INTERVAL).await;
        breaker.attempt(ANOTHER).expect("a probe").succeeded();
        assert!(breaker.attempt(ANOTHER).is_some() && breaker.attempt(ANOTHER).is_some(), "closed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_success_does_not_close_the_circuit() {
        let breaker = Breaker::default();
        let slow = breaker.attempt(ANOTHER).expect("allowed");
        open(&breaker);
        slow.succeeded();
        assert!(breaker.attempt(ANOTHER).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn remembers_a_bounded_number_of_visitors() {
        let breaker = Breaker::default();
        open(&breaker);
        for visitor in 0..500 {
            tokio::time::advance(OPEN_INTERVAL).await;
            fail(&breaker, visitor);
        }
        assert!(breaker.state().failures.len() <= MAX_CALLERS);
    }
}
