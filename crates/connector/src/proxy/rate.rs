//! How often one client may ask.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};

use super::client_address::rate_key;

/// The share of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientRate {
    /// Requests a minute, in the long run.
    pub per_minute: NonZeroU32,
    /// Requests at once, before the long run counts.
    pub burst: NonZeroU32,
}

/// Clients that have asked nothing lately are forgotten after so many requests.
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

    /// Counts a request of this client; the error says how long to wait.
    pub(crate) fn take(&self, client: IpAddr) -> Result<(), Duration> {
        if self.request_count.fetch_add(1, Ordering::Relaxed) % SWEEP_INTERVAL == SWEEP_INTERVAL - 1 {
            self.limiter.retain_recent();
        }
        let failure_response = self.limiter.check_key(&rate_key(client));
        failure_response.map_err(|until| until.wait_time_from(DefaultClock::default().now()))
    }
}
