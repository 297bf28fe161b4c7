//! How often one client may ask.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};

use super::client_address::counted_as;

/// The share of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientRate {
    /// Requests a minute, in the long run.
    pub per_minute: NonZeroU32,
    /// Requests at once, before the long run counts.
    pub burst: NonZeroU32,
}

/// Clients that have asked nothing lately are forgotten after so many requests.
const SWEEP: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct Limiter {
    limiter: RateLimiter<IpAddr, DefaultKeyedStateStore<IpAddr>, DefaultClock>,
    asked: AtomicU32,
}

impl Limiter {
    pub(crate) fn new(rate: ClientRate) -> Self {
        let quota = Quota::per_minute(rate.per_minute).allow_burst(rate.burst);
        Self { limiter: RateLimiter::keyed(quota), asked: AtomicU32::new(0) }
    }

    /// Counts a request of this client; the error says how long to wait.
    pub(crate) fn take(&self, client: IpAddr) -> Result<(), Duration> {
        if self.asked.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.limiter.retain_recent();
        }
        let refused = self.limiter.check_key(&counted_as(client));
        refused.map_err(|until| until.wait_time_from(DefaultClock::default().now()))
    }
}
