//! A histogram of latencies, with an error below 1.6 %.

use std::time::Duration;

/// The number of buckets between two powers of two.
const STEPS: usize = 64;
const BUCKETS: usize = STEPS * 40;

/// Latencies in microseconds.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0, max: Duration::ZERO }
    }
}

impl Histogram {
    pub(crate) fn record(&mut self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        let shift = (64 - micros.leading_zeros()).saturating_sub(7);
        let step = usize::try_from(micros >> shift).unwrap_or(usize::MAX);
        let bucket = (STEPS * shift as usize).saturating_add(step).min(BUCKETS - 1);
        self.buckets[bucket] += 1;
        self.count += 1;
        self.max = self.max.max(latency);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the latency in milliseconds that a share of the requests, in thousandths, did not exceed.
    pub(crate) fn quantile_ms(&self, per_mille: u64) -> f64 {
        let rank = (self.count * per_mille).div_ceil(1000);
        let mut seen = 0;
        let found = self.buckets.iter().position(|&count| {
            seen += count;
            seen >= rank && seen > 0
        });
        found.map_or(0.0, |bucket| millis(Duration::from_micros(upper_bound(bucket)).min(self.max)))
    }

    pub(crate) fn max_ms(&self) -> f64 {
        millis(self.max)
    }
}

/// Returns the largest latency of a bucket, in microseconds.
fn upper_bound(bucket: usize) -> u64 {
    let shift = (bucket / STEPS).saturating_sub(1);
    let step = (bucket - shift * STEPS) as u64;
    ((step + 1) << shift) - 1
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
