//! The rate limit of each caller (8), for all nodes together.
//!
//! On PostgreSQL, the database counts. A node takes a share of the limit in advance, so that not every
//! request needs the database: unused shares expire with their window, and the limit is never exceeded.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};

use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Dialect, args};
use crate::error::ApiError;

/// Maximum callers that are counted individually.
const MAX_CALLERS: usize = 100_000;
/// Milliseconds between removals of expired windows.
const SWEEP_INTERVAL_MS: i64 = 1000;
/// The number of shares that a limit is divided into, where several nodes count together.
const SHARES: u32 = 20;

/// A number of requests in each time window. Each visitor named by `X-Forwarded-For` is counted individually;
/// without that header the token's holder is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Maximum requests in a window.
    pub requests: u32,
    /// The length of a window.
    pub window: Duration,
}

impl Default for RateLimit {
    /// 6,000 requests a minute.
    fn default() -> Self {
        Self { requests: 6000, window: Duration::from_secs(60) }
    }
}

/// Maximum failed activations of one peer: 10 in ten minutes.
pub(crate) const FAILED_ACTIVATION_LIMIT: RateLimit =
    RateLimit { requests: 10, window: Duration::from_secs(600) };

/// Maximum messages and batches of events that one visitor sends through the service's own proxy paths.
pub(crate) const VISITOR_LIMIT: RateLimit = RateLimit { requests: 120, window: Duration::from_secs(60) };

/// The state of a caller's window after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    limit: u32,
    remaining: u32,
    pub(crate) reset_s: u64,
    pub(crate) exceeded: bool,
}

impl Quota {
    pub(crate) fn write_to(self, headers: &mut HeaderMap) {
        headers.insert(HeaderName::from_static("x-ratelimit-limit"), self.limit.into());
        headers.insert(HeaderName::from_static("x-ratelimit-remaining"), self.remaining.into());
        headers.insert(HeaderName::from_static("x-ratelimit-reset"), self.reset_s.into());
    }
}

/// The caller that a request is counted for: an IP address, reduced to its /64 network for IPv6; `None` is
/// the token's holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Caller(Option<IpAddr>);

impl Caller {
    /// All callers of a scope together.
    pub(crate) const ANYBODY: Self = Self(None);

    pub(crate) fn at(address: IpAddr) -> Self {
        Self(Some(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
            address @ IpAddr::V4(_) => address,
        }))
    }

    /// Returns the visitor named by `X-Forwarded-For`, or else the token's holder.
    pub(crate) fn forwarded(headers: &HeaderMap) -> Self {
        let forwarded = headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
        let first = forwarded.and_then(|list| list.split(',').next()).unwrap_or_default().trim();
        let address = first.parse().or_else(|_| first.parse::<SocketAddr>().map(|address| address.ip()));
        address.map_or(Self(None), Self::at)
    }

    /// Returns the peer of the connection. Where it is unknown, all requests count for one caller.
    pub(crate) fn peer(parts: &Parts) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        peer.map_or(Self(None), |ConnectInfo(address)| Self::at(address.ip()))
    }
}

/// A caller of a scope: a site, or a kind of request.
type Key = (String, Caller);

#[derive(Debug)]
pub(crate) struct RateLimiter {
    limit: RateLimit,
    windows: Mutex<Windows>,
}

#[derive(Debug)]
struct Windows {
    by_key: HashMap<Key, Window>,
    /// Shared by the callers beyond [`MAX_CALLERS`].
    overflow: Window,
    swept_ms: i64,
}

#[derive(Clone, Copy, Debug)]
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
        let overflow = Window { ends_ms: 0, used: 0, granted: 0, exhausted: false };
        Self { limit, windows: Mutex::new(Windows { by_key: HashMap::new(), overflow, swept_ms: 0 }) }
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
        let share = (self.limit.requests / SHARES).max(1);
        let granted = self.grant(service, &key, window.ends_ms, share).await?;
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.of(&key, now_ms);
        window.granted = window.granted.saturating_add(granted);
        window.used = window.used.saturating_add(granted.min(1));
        window.exhausted = granted < share;
        Ok(self.quota(*window, now_ms, granted > 0))
    }

    /// Counts a request if this node may accept it.
    fn count(&self, key: &Key, now_ms: i64, is_shared: bool) -> (Window, bool) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.of(key, now_ms);
        if window.ends_ms <= now_ms {
            let length = millis(self.limit.window).max(1);
            // The same for all nodes, whose clocks agree.
            let since_ms = if is_shared { (now_ms - offset_ms(key)).rem_euclid(length) } else { 0 };
            let ends_ms = now_ms - since_ms + length;
            let granted = if is_shared { 0 } else { self.limit.requests };
            *window = Window { ends_ms, used: 0, granted, exhausted: !is_shared };
        }
        let accepted = window.used < window.granted;
        window.used += u32::from(accepted);
        (*window, accepted)
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
            .write_unflushed(move |tx| {
                Box::pin(async move {
                    tx.one(
                        "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, $2, $3)
                         ON CONFLICT (key, window_ends_ms) DO UPDATE SET used = rate_counters.used + excluded.used
                         RETURNING used",
                        args![name, ends_ms, share],
                    )
                    .await
                })
            })
            .await
            .map_err(|error: DbError| ApiError::from(error))?;
        let before = row.count(0)?.saturating_sub(share);
        Ok(self.limit.requests.saturating_sub(before).min(share))
    }

    /// Subtracts a request that is not to count.
    pub(crate) fn refund(&self, service: &Service, scope: &str, caller: Caller) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.of(&(scope.to_owned(), caller), service.now_ms());
        window.used = window.used.saturating_sub(1);
    }
}

/// Returns an offset of a caller's windows, the same at all nodes (FNV-1a), so that the windows of all callers do
/// not begin at once, each with a share from the database.
fn offset_ms((scope, caller): &Key) -> i64 {
    const BASIS: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let hash = format!("{scope} {caller}")
        .bytes()
        .fold(BASIS, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME));
    i64::from(hash)
}

impl Windows {
    fn of(&mut self, key: &Key, now_ms: i64) -> &mut Window {
        // Not at every request: the time of one must not grow with the number of callers.
        if now_ms - self.swept_ms >= SWEEP_INTERVAL_MS {
            self.swept_ms = now_ms;
            self.by_key.retain(|_, window| window.ends_ms > now_ms);
        }
        if self.by_key.len() >= MAX_CALLERS && !self.by_key.contains_key(key) {
            return &mut self.overflow;
        }
        let empty = Window { ends_ms: 0, used: 0, granted: 0, exhausted: false };
        self.by_key.entry(key.clone()).or_insert(empty)
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => write!(out, "{address}"),
            None => out.write_str("token"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_windows_of_callers_begin_at_different_times() {
        let visitors = (0..1000).map(|number: u32| Caller::at(IpAddr::V4(number.into())));
        let seconds: HashSet<i64> = visitors
            .map(|caller| offset_ms(&("site".to_owned(), caller)).rem_euclid(60_000) / 1000)
            .collect();
        assert_eq!(seconds.len(), 60);
        assert_eq!(
            offset_ms(&("s".to_owned(), Caller::ANYBODY)),
            offset_ms(&("s".to_owned(), Caller::ANYBODY))
        );
    }
}
