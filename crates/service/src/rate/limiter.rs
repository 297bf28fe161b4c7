//! Counts requests in windows of time, for all nodes together.
//!
//! On PostgreSQL, the database counts. A node takes a share of the limit in advance, so that not every
//! request needs the database: unused shares expire with their window, and the limit is never exceeded.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Caller, Quota, RateLimit};
use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Dialect, args, work};
use crate::error::ApiError;

/// Maximum callers of a scope that are counted individually. Each scope has its own: callers of one site do
/// not take the places of those of another.
const MAX_CALLERS: usize = 10_000;
/// The number of windows that the networks of a scope's other callers share. Somebody with all addresses of
/// one network uses up one of them.
const OVERFLOW_WINDOWS: u32 = 1024;
/// Milliseconds between removals of expired windows.
const SWEEP_INTERVAL_MS: i64 = 1000;
/// The number of shares that a limit is divided into for each minute of its window, where several nodes count
/// together. A node that ends loses what was left of its shares, until the window ends.
const SHARES_PER_MINUTE: u64 = 20;
/// The number of callers for whom shares can be taken at the same time.
const STRIPES: usize = 64;

/// A window of a scope: of a site, or of a kind of request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    scope: String,
    place: Place,
}

/// The caller or the callers that share a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Caller(Caller),
    /// One of [`OVERFLOW_WINDOWS`], by the hash of the caller's network.
    Overflow(u32),
}

#[derive(Debug)]
pub(crate) struct RateLimiter {
    limit: RateLimit,
    windows: Mutex<Windows>,
    /// Held while a share is taken from the database, by the hash of its caller.
    taking: Box<[tokio::sync::Mutex<()>]>,
}

#[derive(Debug)]
struct Windows {
    scopes: HashMap<String, Scope>,
    /// [`MAX_CALLERS`]; less in tests.
    max_callers: usize,
    swept_ms: i64,
}

#[derive(Debug, Default)]
struct Scope {
    callers: HashMap<Caller, Window>,
    /// Of the callers beyond [`MAX_CALLERS`].
    overflow: HashMap<u32, Window>,
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
        let windows = Windows { scopes: HashMap::new(), max_callers: MAX_CALLERS, swept_ms: 0 };
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

    /// Returns how much of a limit a node takes at a time.
    fn share(&self) -> u32 {
        let shares = (self.limit.window.as_secs() / 60).max(1).saturating_mul(SHARES_PER_MINUTE);
        u32::try_from(u64::from(self.limit.requests) / shares).unwrap_or(u32::MAX)
    }

    /// Counts one request of a caller.
    pub(crate) async fn take(
        &self,
        service: &Service,
        scope: &str,
        caller: Caller,
    ) -> Result<Quota, ApiError> {
        self.take_weight(service, scope, caller, 1).await
    }

    /// Counts a request of a caller as `weight` requests, or not at all.
    pub(crate) async fn take_weight(
        &self,
        service: &Service,
        scope: &str,
        caller: Caller,
        weight: u32,
    ) -> Result<Quota, ApiError> {
        let now_ms = service.now_ms();
        let key = self.windows().key(scope, caller, now_ms);
        let is_shared = service.db().dialect() == Dialect::Postgres;
        let (window, accepted) = self.count(&key, now_ms, is_shared, weight);
        if accepted || !is_shared || window.exhausted {
            return Ok(self.quota(window, now_ms, accepted));
        }
        // One request at a time takes a share of a caller's limit. Those that wait for it use what it got.
        let _taking = self.taking[stripe(&key)].lock().await;
        let now_ms = service.now_ms();
        let (window, accepted) = self.count(&key, now_ms, is_shared, weight);
        if accepted || window.exhausted {
            return Ok(self.quota(window, now_ms, accepted));
        }
        let share = self.share().max(weight);
        let granted = self.grant(service, &key, window.ends_ms, share).await?;
        let mut windows = self.windows();
        let window = windows.of(&key);
        window.granted = window.granted.saturating_add(granted);
        let accepted = weight <= window.granted.saturating_sub(window.used);
        window.used += if accepted { weight } else { 0 };
        window.exhausted = granted < share;
        Ok(self.quota(*window, now_ms, accepted))
    }

    /// Counts a request of this weight if this node may accept it.
    fn count(&self, key: &Key, now_ms: i64, is_shared: bool, weight: u32) -> (Window, bool) {
        let mut windows = self.windows();
        let window = windows.of(key);
        if !self.is_current(*window, now_ms) {
            let length_ms = self.length_ms();
            // The same for all nodes, whose clocks agree.
            let since_ms = if is_shared { (now_ms - offset_ms(key)).rem_euclid(length_ms) } else { 0 };
            let ends_ms = now_ms - since_ms + length_ms;
            let granted = if is_shared { 0 } else { self.limit.requests };
            *window = Window { ends_ms, used: 0, granted, exhausted: !is_shared };
        }
        let accepted = weight <= window.granted.saturating_sub(window.used);
        window.used += if accepted { weight } else { 0 };
        (*window, accepted)
    }

    /// Returns the window of a caller whose limit is used up, and counts nothing.
    pub(crate) fn exceeded(&self, service: &Service, scope: &str, caller: Caller) -> Option<Quota> {
        let now_ms = service.now_ms();
        let window = *self.windows().find(scope, caller)?;
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
    async fn grant(&self, service: &Service, key: &Key, ends_ms: i64, share: u32) -> Result<u32, ApiError> {
        let name = format!("{key} {}", self.limit.requests);
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
    pub(crate) fn refund(&self, scope: &str, caller: Caller) {
        if let Some(window) = self.windows().find(scope, caller) {
            window.used = window.used.saturating_sub(1);
        }
    }
}

/// Returns an offset of a caller's windows, the same at all nodes, so that the windows of all
/// callers do not begin at once, each with a share from the database.
fn offset_ms(key: &Key) -> i64 {
    i64::from(hash(&key.to_string()))
}

/// Returns the index of a caller in [`RateLimiter::taking`].
fn stripe(key: &Key) -> usize {
    usize::try_from(hash(&key.to_string())).unwrap_or_default() % STRIPES
}

/// Returns a hash that is the same at all nodes (FNV-1a).
fn hash(text: &str) -> u32 {
    const BASIS: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    text.bytes().fold(BASIS, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME))
}

impl Windows {
    /// Returns the key of the window that a caller is counted in.
    fn key(&mut self, scope: &str, caller: Caller, now_ms: i64) -> Key {
        // Not at every request: the time of one must not grow with the number of callers.
        if (now_ms - self.swept_ms).abs() >= SWEEP_INTERVAL_MS {
            self.swept_ms = now_ms;
            self.scopes.retain(|_, scope| {
                scope.callers.retain(|_, window| window.ends_ms > now_ms);
                scope.overflow.retain(|_, window| window.ends_ms > now_ms);
                !scope.callers.is_empty() || !scope.overflow.is_empty()
            });
        }
        let max = self.max_callers;
        let place = self.scopes.get(scope).map_or(Place::Caller(caller), |scope| scope.place(caller, max));
        Key { scope: scope.to_owned(), place }
    }

    /// Returns a window, which is created if there is none.
    fn of(&mut self, key: &Key) -> &mut Window {
        let scope = self.scopes.entry(key.scope.clone()).or_default();
        match key.place {
            Place::Caller(caller) => scope.callers.entry(caller).or_default(),
            Place::Overflow(number) => scope.overflow.entry(number).or_default(),
        }
    }

    /// Returns the window that a caller is counted in, if there is one.
    fn find(&mut self, scope: &str, caller: Caller) -> Option<&mut Window> {
        let scope = self.scopes.get_mut(scope)?;
        match scope.place(caller, self.max_callers) {
            Place::Caller(caller) => scope.callers.get_mut(&caller),
            Place::Overflow(number) => scope.overflow.get_mut(&number),
        }
    }
}

impl Scope {
    fn place(&self, caller: Caller, max_callers: usize) -> Place {
        // All callers together are one caller, who never shares a window with others.
        let is_individual = caller == Caller::Anybody
            || self.callers.len() < max_callers
            || self.callers.contains_key(&caller);
        if is_individual {
            return Place::Caller(caller);
        }
        Place::Overflow(hash(&caller.network().to_string()) % OVERFLOW_WINDOWS)
    }
}

/// The name by which all nodes count.
impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Caller(caller) => write!(out, "{} {caller}", self.scope),
            Place::Overflow(number) => write!(out, "{} overflow {number}", self.scope),
        }
    }
}

#[cfg(test)]
mod limiter_tests;
