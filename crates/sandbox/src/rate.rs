//! How many requests a caller may make in a while (8).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use tokio::time::Instant;

/// So many requests in each window of time, for each visitor that `X-Forwarded-For` names, and for the token's holder
/// where it names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests in a window.
    pub requests: u32,
    /// How long a window lasts.
    pub window: Duration,
}

impl Default for RateLimit {
    /// 6,000 a minute, which no person at a keyboard reaches.
    fn default() -> Self {
        Self { requests: 6000, window: Duration::from_secs(60) }
    }
}

/// What is left of a caller's share.
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

#[derive(Debug)]
pub(crate) struct Limiter {
    limit: RateLimit,
    windows: Mutex<HashMap<String, Window>>,
}

#[derive(Debug)]
struct Window {
    ends: Instant,
    used: u32,
}

impl Limiter {
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self { limit, windows: Mutex::default() }
    }

    /// Counts one request of this caller.
    pub(crate) fn take(&self, caller: &str) -> Quota {
        let now = Instant::now();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.retain(|_, window| window.ends > now);
        let window = windows
            .entry(caller.to_owned())
            .or_insert_with(|| Window { ends: now + self.limit.window, used: 0 });
        window.used = window.used.saturating_add(1);
        let left = window.ends - now;
        Quota {
            limit: self.limit.requests,
            remaining: self.limit.requests.saturating_sub(window.used),
            // Rounded up: who comes back after so many seconds finds a new window.
            reset_s: left.as_secs() + u64::from(left.subsec_nanos() > 0),
            exceeded: window.used > self.limit.requests,
        }
    }
}

/// Whom a request is counted for.
pub(crate) fn caller(headers: &HeaderMap) -> &str {
    let forwarded = headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
    forwarded.and_then(|list| list.split(',').next()).map_or("", str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_caller_past_the_limit_is_let_in_again_after_the_reset() {
        let limiter = Limiter::new(RateLimit { requests: 2, window: Duration::from_millis(1500) });
        assert_eq!((limiter.take("a").remaining, limiter.take("a").exceeded), (1, false));
        let over = limiter.take("a");
        assert!(over.exceeded);
        assert_eq!(over.reset_s, 2);
        tokio::time::advance(Duration::from_secs(over.reset_s)).await;
        assert!(!limiter.take("a").exceeded);
    }

    #[tokio::test]
    async fn one_visitor_does_not_use_up_the_share_of_another() {
        let limiter = Limiter::new(RateLimit { requests: 1, ..RateLimit::default() });
        assert!(!limiter.take("a").exceeded);
        assert!(limiter.take("a").exceeded);
        assert!(!limiter.take("b").exceeded);
    }
}
