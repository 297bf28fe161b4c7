//! The wait before a retry: exponential back-off with full jitter, or `Retry-After`.

use std::time::Duration;

use gloo_timers::future::sleep;

/// Maximum wait before the first retry; it doubles with each further one.
const INITIAL_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(30);
/// Maximum `Retry-After` that is obeyed.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);
/// Maximum number of times that the delay doubles.
const MAX_DOUBLINGS: u32 = 16;

/// Waits before the attempt that follows a number of failures.
pub(super) async fn wait(failures: u32, retry_after: Option<Duration>) {
    sleep(delay(failures, retry_after, js_sys::Math::random())).await;
}

/// Returns the wait after a number of failures; `random` is at least 0 and less than 1. The jitter on top of
/// `Retry-After` separates clients that were told the same time.
fn delay(failures: u32, retry_after: Option<Duration>, random: f64) -> Duration {
    if let Some(retry_after) = retry_after {
        return retry_after.min(MAX_RETRY_AFTER) + INITIAL_DELAY.mul_f64(random);
    }
    let doublings = failures.saturating_sub(1).min(MAX_DOUBLINGS);
    INITIAL_DELAY.saturating_mul(1 << doublings).min(MAX_DELAY).mul_f64(random)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn delays_are_those_of_the_clients_table() {
        let table: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/clients.json")).expect("JSON");
        let table = &table["backOff"];
        let ms = |value: &serde_json::Value| value.as_u64().map(Duration::from_millis);
        assert_eq!(
            ["firstMs", "maxMs", "maxRetryAfterMs"].map(|name| ms(&table[name])),
            [INITIAL_DELAY, MAX_DELAY, MAX_RETRY_AFTER].map(Some)
        );
        for case in table["cases"].as_array().expect("cases") {
            let failures = u32::try_from(case["failures"].as_u64().expect("a number")).expect("a number");
            let least = ms(&case["minMs"]).expect("a number");
            let most = ms(&case["maxMs"]).expect("a number");
            assert_eq!(delay(failures, ms(&case["retryAfterMs"]), 0.0), least, "{case}");
            let longest = delay(failures, ms(&case["retryAfterMs"]), 0.999);
            assert!(longest <= most && longest > most.mul_f64(0.99), "{longest:?}: {case}");
        }
        assert!(delay(u32::MAX, None, 0.999) <= MAX_DELAY);
    }
}
