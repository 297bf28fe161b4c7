//! The wait before a retry: exponential back-off with full jitter, or `Retry-After`.

use std::time::Duration;

use chat_protocol::back_off::delay_ms;
use gloo_timers::future::sleep;

/// Waits before the attempt that follows a number of failures.
pub(super) async fn wait(failures: u32, retry_after: Option<Duration>) {
    let retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    let (min, jitter) = delay_ms(failures.into(), retry_after_ms);
    sleep(Duration::from_millis(min) + Duration::from_millis(jitter).mul_f64(js_sys::Math::random())).await;
}
