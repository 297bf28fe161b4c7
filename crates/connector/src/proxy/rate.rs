//! The rate limit of each client.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};

use super::client_address::rate_key;

/// The rate limit of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientRate {
    /// Requests a minute, on average.
    pub per_minute: NonZeroU32,
    /// Maximum requests in a burst.
    pub burst: NonZeroU32,
}

/// The number of requests between two removals of idle clients.
const SWEEP_INTERVAL: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct ClientLimiter {
    limiter: RateLimiter<IpAddr, DefaultKeyedStateStore<IpAddr>, DefaultClock>,
    request_count: AtomicU32,
}

impl ClientLimiter {
    pub(crate) fn new(rate: ClientRate) -> Self {
        let quota = Quota::per_minute(rate.per_minute).allow_burst(rate.burst);
        Self { limiter: RateLimiter::keyed(quota), request_count: AtomicU32::new(0) }
    }

    /// Counts a request of this client. The error is the time to wait.
    pub(crate) fn take(&self, client: IpAddr) -> Result<(), Duration> {
        if self.request_count.fetch_add(1, Ordering::Relaxed) % SWEEP_INTERVAL == SWEEP_INTERVAL - 1 {
            self.limiter.retain_recent();
        }
        let failure_response = self.limiter.check_key(&rate_key(client));
        failure_response.map_err(|until| until.wait_time_from(DefaultClock::default().now()))
    }
}
