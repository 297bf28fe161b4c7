//! Counts requests in windows of time, for all nodes together.
//!
//! On PostgreSQL, the database counts. A node takes a share of the limit in advance, so that not every
//! request needs the database: unused shares expire with their window, and the limit is never exceeded.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Caller, Quota, RateLimit};
use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Dialect, args, work};
use crate::error::ApiError;

/// Maximum callers that are counted individually.
const MAX_CALLERS: usize = 100_000;
/// Milliseconds between removals of expired windows.
const SWEEP_INTERVAL_MS: i64 = 1000;
/// The number of shares that a limit is divided into, where several nodes count together.
const SHARES: u32 = 20;
/// The number of callers for whom shares can be taken at the same time.
const STRIPES: usize = 64;

/// A caller of a scope: a site, or a kind of request.
type Key = (String, Caller);

#[derive(Debug)]
pub(crate) struct RateLimiter {
    limit: RateLimit,
    windows: Mutex<Windows>,
    /// Held while a share is taken from the database, by the hash of its caller.
    taking: Box<[tokio::sync::Mutex<()>]>,
}

#[derive(Debug)]
struct Windows {
    by_key: HashMap<Key, Window>,
    /// Shared by the callers beyond [`MAX_CALLERS`].
    overflow: Window,
    swept_ms: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    ends_ms: i64,
    used: u32,
    /// The number of requests that this node may accept: the whole limit where there is one node.
    granted: u32,
    /// Whether the limit is used up, counting all nodes.
    exhausted: bool,
}

impl RateLimiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        let windows = Windows { by_key: HashMap::new(), overflow: Window::default(), swept_ms: 0 };
        Self {
            limit,
            windows: Mutex::new(windows),
            taking: (0..STRIPES).map(|_| tokio::sync::Mutex::default()).collect(),
        }
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn length_ms(&self) -> i64 {
        millis(self.limit.window).max(1)
    }

    /// Counts one request of a caller.
    pub(crate) async fn take(
        &self,
        service: &Service,
        scope: &str,
        caller: Caller,
    ) -> Result<Quota, ApiError> {
        let now_ms = service.now_ms();
        let key = (scope.to_owned(), caller);
        let is_shared = service.db().dialect() == Dialect::Postgres;
        let (window, accepted) = self.count(&key, now_ms, is_shared);
        if accepted || !is_shared || window.exhausted {
            return Ok(self.quota(window, now_ms, accepted));
        }
        // One request at a time takes a share of a caller's limit. Those that wait for it use what it got.
        let _taking = self.taking[stripe(&key)].lock().await;
        let now_ms = service.now_ms();
        let (window, accepted) = self.count(&key, now_ms, is_shared);
        if accepted || window.exhausted {
            return Ok(self.quota(window, now_ms, accepted));
        }
        let share = (self.limit.requests / SHARES).max(1);
        let granted = self.grant(service, &key, window.ends_ms, share).await?;
        let mut windows = self.windows();
        let window = windows.of(&key, now_ms);
        window.granted = window.granted.saturating_add(granted);
        window.used = window.used.saturating_add(granted.min(1));
        window.exhausted = granted < share;
        Ok(self.quota(*window, now_ms, granted > 0))
    }

    /// Counts a request if this node may accept it.
    fn count(&self, key: &Key, now_ms: i64, is_shared: bool) -> (Window, bool) {
        let mut windows = self.windows();
        let window = windows.of(key, now_ms);
        if !self.is_current(*window, now_ms) {
            let length_ms = self.length_ms();
            // The same for all nodes, whose clocks agree.
            let since_ms = if is_shared { (now_ms - offset_ms(key)).rem_euclid(length_ms) } else { 0 };
            let ends_ms = now_ms - since_ms + length_ms;
            let granted = if is_shared { 0 } else { self.limit.requests };
            *window = Window { ends_ms, used: 0, granted, exhausted: !is_shared };
        }
        let accepted = window.used < window.granted;
        window.used += u32::from(accepted);
        (*window, accepted)
    }

    /// Returns the window of a caller whose limit is used up, and counts nothing.
    pub(crate) fn exceeded(&self, service: &Service, scope: &str, caller: Caller) -> Option<Quota> {
        let now_ms = service.now_ms();
        let window = *self.windows().by_key.get(&(scope.to_owned(), caller))?;
        let is_used_up = window.exhausted && window.used >= window.granted;
        (is_used_up && self.is_current(window, now_ms)).then(|| self.quota(window, now_ms, false))
    }

    /// Returns whether a window has not ended. One that ends long after any that begins now is of a clock
    /// that was set back since.
    fn is_current(&self, window: Window, now_ms: i64) -> bool {
        window.ends_ms > now_ms && window.ends_ms - now_ms <= self.length_ms().saturating_mul(2)
    }

    fn quota(&self, window: Window, now_ms: i64, accepted: bool) -> Quota {
        let left_ms = (window.ends_ms - now_ms).max(0);
        Quota {
            limit: self.limit.requests,
            // On several nodes, what the others have left is not known.
            remaining: if window.exhausted {
                window.granted.saturating_sub(window.used)
            } else {
                self.limit.requests.saturating_sub(window.used)
            },
            // Rounded up, so that a new window has begun after this time.
            reset_s: u64::try_from((left_ms + 999) / 1000).unwrap_or_default(),
            exceeded: !accepted,
        }
    }

    /// Takes a share of the limit from the database, and returns how much of it is left to take.
    async fn grant(
        &self,
        service: &Service,
        (scope, caller): &Key,
        ends_ms: i64,
        share: u32,
    ) -> Result<u32, ApiError> {
        let name = format!("{scope} {caller} {}", self.limit.requests);
        let row = service
            .db()
            .write_unflushed(work!(|tx| tx.one(
                        "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, $2, $3)
                         ON CONFLICT (key, window_ends_ms) DO UPDATE SET used = rate_counters.used + excluded.used
                         RETURNING used",
                        args![name, ends_ms, share],
                    )
                    .await))
            .await
            .map_err(|error: DbError| ApiError::from(error))?;
        let before = row.count(0)?.saturating_sub(share);
        Ok(self.limit.requests.saturating_sub(before).min(share))
    }

    /// Subtracts a request that is not to count.
    pub(crate) fn refund(&self, service: &Service, scope: &str, caller: Caller) {
        let mut windows = self.windows();
        let window = windows.of(&(scope.to_owned(), caller), service.now_ms());
        window.used = window.used.saturating_sub(1);
    }
}

/// Returns an offset of a caller's windows, the same at all nodes, so that the windows of all
/// callers do not begin at once, each with a share from the database.
fn offset_ms(key: &Key) -> i64 {
    i64::from(hash(key))
}

/// Returns the index of a caller in [`RateLimiter::taking`].
fn stripe(key: &Key) -> usize {
    usize::try_from(hash(key)).unwrap_or_default() % STRIPES
}

/// Returns a hash that is the same at all nodes (FNV-1a).
fn hash((scope, caller): &Key) -> u32 {
    const BASIS: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let bytes = format!("{scope} {caller}");
    bytes.bytes().fold(BASIS, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME))
}

impl Windows {
    fn of(&mut self, key: &Key, now_ms: i64) -> &mut Window {
        // Not at every request: the time of one must not grow with the number of callers.
        if (now_ms - self.swept_ms).abs() >= SWEEP_INTERVAL_MS {
            self.swept_ms = now_ms;
            self.by_key.retain(|_, window| window.ends_ms > now_ms);
        }
        if self.by_key.len() >= MAX_CALLERS && !self.by_key.contains_key(key) {
            return &mut self.overflow;
        }
        self.by_key.entry(key.clone()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::net::IpAddr;
    use std::time::Duration;

    use super::*;

    const NOW_MS: i64 = 1_800_000_000_000;

    #[test]
    fn the_windows_of_callers_begin_at_different_times() {
        let visitors = (0..1000).map(|number: u32| Caller::at(IpAddr::V4(number.into())));
        let seconds: HashSet<i64> = visitors
            .map(|caller| offset_ms(&("site".to_owned(), caller)).rem_euclid(60_000) / 1000)
            .collect();
        assert_eq!(seconds.len(), 60);
    }

    #[test]
    fn a_clock_that_is_set_back_begins_a_new_window() {
        let limit = RateLimit { requests: 2, window: Duration::from_mins(1) };
        let key = ("site".to_owned(), Caller::ANYBODY);
        let limiter = RateLimiter::new(limit);
        for accepted in [true, true, false] {
            assert_eq!(limiter.count(&key, NOW_MS, false).1, accepted);
        }
        assert!(!limiter.count(&key, NOW_MS - 1, false).1, "still the same window");
        let (window, accepted) = limiter.count(&key, NOW_MS - 3_600_000, false);
        assert!(accepted);
        assert_eq!(window.ends_ms, NOW_MS - 3_600_000 + 60_000);
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_keep_what_has_expired() {
        let limit = RateLimit { requests: 2, window: Duration::from_secs(1) };
        let limiter = RateLimiter::new(limit);
        let key = |name: i64| (name.to_string(), Caller::ANYBODY);
        for second in 0..100 {
            limiter.count(&key(second), NOW_MS - second * 2000, false);
        }
        assert!(limiter.windows().by_key.len() <= 100);
        for second in 0..100 {
            limiter.count(&key(100 + second), NOW_MS + second * 2000, false);
        }
        assert_eq!(limiter.windows().by_key.len(), 1);
    }
}
