//! The wait before another attempt: exponential, with jitter, because all consoles lose the connection in the
//! same moment.

/// The first wait and the longest one, in milliseconds.
pub(super) struct BackOff {
    pub(super) first_ms: f64,
    pub(super) max_ms: f64,
}

impl BackOff {
    /// Returns the wait after failed attempts before the last one, in milliseconds. Each doubles it. `random`
    /// is from 0 to 1, and at most halves it.
    pub(super) fn wait_ms(&self, earlier_failures: u32, random: f64) -> f64 {
        let doubled = self.first_ms * 2_f64.powi(earlier_failures.min(10).cast_signed());
        doubled.min(self.max_ms) * (0.5 + random / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_maximum_and_differ_between_consoles() {
        let back_off = BackOff { first_ms: 500.0, max_ms: 15_000.0 };
        for (failures, random, expected) in
            [(0, 1.0, 500.0), (0, 0.0, 250.0), (3, 1.0, 4_000.0), (u32::MAX, 1.0, 15_000.0)]
        {
            let wait_ms = back_off.wait_ms(failures, random);
            assert!((wait_ms - expected).abs() < 0.001, "{wait_ms} {expected}");
        }
    }
}
