//! The rate limit of each caller (8).

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use tokio::time::Instant;

/// Maximum callers that are counted individually.
const MAX_CALLERS: usize = 100_000;
/// The interval at which expired windows are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

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

#[derive(Debug)]
pub(crate) struct RateLimiter {
    limit: RateLimit,
    windows: Mutex<Windows>,
}

#[derive(Debug)]
struct Windows {
    by_caller: HashMap<Caller, Window>,
    /// Shared by the callers beyond [`MAX_CALLERS`].
    overflow: Window,
    swept: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    ends: Instant,
    used: u32,
}

impl RateLimiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        let now = Instant::now();
        let overflow = Window { ends: now, used: 0 };
        let windows = Windows { by_caller: HashMap::new(), overflow, swept: now };
        Self { limit, windows: Mutex::new(windows) }
    }

    /// Counts one request of a caller.
    pub(crate) fn take(&self, caller: Caller) -> Quota {
        let now = Instant::now();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.of(caller, now);
        if window.ends <= now {
            *window = Window { ends: now + self.limit.window, used: 0 };
        }
        window.used = window.used.saturating_add(1);
        let left = window.ends - now;
        Quota {
            limit: self.limit.requests,
            remaining: self.limit.requests.saturating_sub(window.used),
            // Rounded up, so that a new window has begun after this time.
            reset_s: left.as_secs() + u64::from(left.subsec_nanos() > 0),
            exceeded: window.used > self.limit.requests,
        }
    }

    /// Subtracts a request that is not to count.
    pub(crate) fn refund(&self, caller: Caller) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.of(caller, Instant::now());
        window.used = window.used.saturating_sub(1);
    }
}

impl Windows {
    fn of(&mut self, caller: Caller, now: Instant) -> &mut Window {
        // Not at every request: the time of one must not grow with the number of callers.
        if now.duration_since(self.swept) >= SWEEP_INTERVAL {
            self.swept = now;
            self.by_caller.retain(|_, window| window.ends > now);
        }
        if self.by_caller.len() >= MAX_CALLERS && !self.by_caller.contains_key(&caller) {
            return &mut self.overflow;
        }
        self.by_caller.entry(caller).or_insert(Window { ends: now, used: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(address: &str) -> Caller {
        Caller::at(address.parse().expect("an address"))
    }

    fn forwarded(value: &str) -> Caller {
        let headers = [("x-forwarded-for".parse().expect("a name"), value.parse().expect("a value"))];
        Caller::forwarded(&HeaderMap::from_iter(headers))
    }

    #[tokio::test(start_paused = true)]
    async fn accepts_requests_again_after_the_reset() {
        let limiter = RateLimiter::new(RateLimit { requests: 2, window: Duration::from_millis(1500) });
        let caller = caller("192.0.2.1");
        assert_eq!((limiter.take(caller).remaining, limiter.take(caller).exceeded), (1, false));
        let over = limiter.take(caller);
        assert!(over.exceeded);
        assert_eq!(over.reset_s, 2);
        tokio::time::advance(Duration::from_secs(over.reset_s)).await;
        assert!(!limiter.take(caller).exceeded);
    }

    #[tokio::test]
    async fn one_visitor_does_not_use_up_the_limit_of_another() {
        let limiter = RateLimiter::new(RateLimit { requests: 1, ..RateLimit::default() });
        assert!(!limiter.take(caller("192.0.2.1")).exceeded);
        assert!(limiter.take(caller("192.0.2.1")).exceeded);
        assert!(!limiter.take(caller("192.0.2.2")).exceeded);
    }

    #[tokio::test]
    async fn a_refunded_request_does_not_count() {
        let limiter = RateLimiter::new(RateLimit { requests: 1, ..RateLimit::default() });
        for _ in 0..3 {
            assert!(!limiter.take(caller("192.0.2.1")).exceeded);
            limiter.refund(caller("192.0.2.1"));
        }
    }

    #[test]
    fn identifies_a_caller_by_address_or_as_the_tokens_holder() {
        assert_eq!(forwarded("192.0.2.7, 10.0.0.1"), caller("192.0.2.7"));
        assert_eq!(forwarded("192.0.2.7:4711"), caller("192.0.2.7"));
        assert_eq!(forwarded("::ffff:192.0.2.7"), caller("192.0.2.7"));
        assert_eq!(forwarded("2001:db8::1"), caller("2001:db8::ffff"), "one network");
        assert_ne!(forwarded("2001:db8::1"), caller("2001:db8:0:1::1"));
        assert_eq!(forwarded(&"x".repeat(10_000)), Caller(None));
        assert_eq!(Caller::forwarded(&HeaderMap::new()), Caller(None));
    }

    #[tokio::test(start_paused = true)]
    async fn callers_beyond_the_maximum_share_one_window() {
        let limiter = RateLimiter::new(RateLimit { requests: 1, window: Duration::from_secs(60) });
        let many = u32::try_from(MAX_CALLERS).expect("fits");
        for address in 0..many {
            assert!(!limiter.take(Caller::at(IpAddr::V4(address.into()))).exceeded);
        }
        assert!(!limiter.take(caller("255.0.0.1")).exceeded);
        assert!(limiter.take(caller("255.0.0.2")).exceeded, "they share one");
        assert_eq!(limiter.windows.lock().expect("not poisoned").by_caller.len(), MAX_CALLERS);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(!limiter.take(caller("255.0.0.2")).exceeded);
        assert_eq!(limiter.windows.lock().expect("not poisoned").by_caller.len(), 1);
    }
}
