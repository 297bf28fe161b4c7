//! The delay before another attempt: exponential back-off with full jitter.

use crate::random::Random;

const INITIAL_DELAY_MS: u64 = 500;
const MAX_DELAY_MS: u64 = 30_000;
/// Maximum delay by a `Retry-After`. Milliseconds.
pub(crate) const MAX_RETRY_AFTER_MS: u64 = 300_000;

/// Returns the delay before the attempt after `failures` failed ones, in milliseconds. A `Retry-After`
/// replaces the back-off, within bounds. Jitter is added to it, because many clients may get the same value.
pub(crate) fn wait_ms(failures: u64, retry_after_ms: Option<u64>, random: &mut Random) -> u64 {
    if let Some(retry_after_ms) = retry_after_ms {
        let bounded_ms = retry_after_ms.min(MAX_RETRY_AFTER_MS);
        return bounded_ms + random.up_to(INITIAL_DELAY_MS);
    }
    let doubled = INITIAL_DELAY_MS.saturating_mul(1 << failures.saturating_sub(1).min(16));
    random.up_to(doubled.min(MAX_DELAY_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_maximum_delay_up_to_thirty_seconds() {
        let mut random = Random::new(3);
        for (failures, max_ms) in [(1, 500), (2, 1000), (3, 2000), (7, 30_000), (u64::MAX, 30_000)] {
            let waits: Vec<u64> = (0..2000).map(|_| wait_ms(failures, None, &mut random)).collect();
            assert!(waits.iter().all(|wait| *wait <= max_ms), "{failures} failures wait at most {max_ms} ms");
            assert!(
                waits.iter().any(|wait| *wait > max_ms * 9 / 10)
                    && waits.iter().any(|wait| *wait < max_ms / 10)
            );
        }
    }

    #[test]
    fn the_delay_matches_the_shared_table_of_all_clients() {
        let table = &crate::clients_table()["backOff"];
        let constants = [INITIAL_DELAY_MS, MAX_DELAY_MS, MAX_RETRY_AFTER_MS];
        assert_eq!(
            ["firstMs", "maxMs", "maxRetryAfterMs"].map(|name| table[name].as_u64()),
            constants.map(Some)
        );
        let mut random = Random::new(5);
        for case in table["cases"].as_array().expect("cases") {
            let number = |name: &str| case[name].as_u64();
            let failures = number("failures").expect("a number");
            let bounds = number("minMs").expect("a number")..=number("maxMs").expect("a number");
            for _ in 0..1000 {
                let wait = wait_ms(failures, number("retryAfterMs"), &mut random);
                assert!(bounds.contains(&wait), "{wait} ms: {case}");
            }
        }
    }

    #[test]
    fn retry_after_is_obeyed_up_to_five_minutes() {
        let mut random = Random::new(4);
        assert!((7000..=7500).contains(&wait_ms(1, Some(7000), &mut random)));
        assert!((300_000..=300_500).contains(&wait_ms(1, Some(u64::MAX), &mut random)));
        assert!(wait_ms(9, Some(0), &mut random) <= 500);
    }
}
