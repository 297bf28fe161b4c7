//! The delay of a client of the proxy before another attempt: exponential back-off with full jitter.

const INITIAL_DELAY_MS: u64 = 500;
const MAX_DELAY_MS: u64 = 30_000;
/// Maximum delay by a `Retry-After`. Milliseconds.
pub const MAX_RETRY_AFTER_MS: u64 = 300_000;

/// Returns the minimum of the delay before the attempt after `failures` failed ones, and the maximum of the
/// jitter that is added to it, both in milliseconds. A `Retry-After` replaces the back-off, within bounds;
/// the jitter separates clients that were told the same time.
pub fn delay_ms(failures: u64, retry_after_ms: Option<u64>) -> (u64, u64) {
    if let Some(retry_after_ms) = retry_after_ms {
        return (retry_after_ms.min(MAX_RETRY_AFTER_MS), INITIAL_DELAY_MS);
    }
    let doubled = INITIAL_DELAY_MS.saturating_mul(1 << failures.saturating_sub(1).min(16));
    (0, doubled.min(MAX_DELAY_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delays_are_those_of_the_shared_table_of_all_clients() {
        let table: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/clients.json")).expect("JSON");
        let table = &table["backOff"];
        let constants = [INITIAL_DELAY_MS, MAX_DELAY_MS, MAX_RETRY_AFTER_MS];
        let names = ["firstMs", "maxMs", "maxRetryAfterMs"];
        assert_eq!(names.map(|name| table[name].as_u64()), constants.map(Some));
        for case in table["cases"].as_array().expect("cases") {
            let number = |name: &str| case[name].as_u64();
            let (min_ms, jitter_ms) = delay_ms(number("failures").expect("a number"), number("retryAfterMs"));
            assert_eq!([min_ms, min_ms + jitter_ms].map(Some), ["minMs", "maxMs"].map(number), "{case}");
        }
        assert_eq!(delay_ms(u64::MAX, None), (0, MAX_DELAY_MS));
        assert_eq!(delay_ms(1, Some(u64::MAX)), (MAX_RETRY_AFTER_MS, INITIAL_DELAY_MS));
    }
}
