//! The delay before another attempt.

use chat_protocol::back_off::delay_ms;

use crate::random::Random;

/// Returns the delay before the attempt after `failures` failed ones, in milliseconds. A `Retry-After`
/// replaces the back-off, within bounds.
pub(crate) fn wait_ms(failures: u64, retry_after_ms: Option<u64>, random: &mut Random) -> u64 {
    let (min_ms, jitter_ms) = delay_ms(failures, retry_after_ms);
    min_ms + random.up_to(jitter_ms)
}
