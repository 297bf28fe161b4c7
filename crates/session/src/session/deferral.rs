//! Deferred messages: their next attempt is far away. The visitor sees that, and may send them at once.

use crate::Session;
use crate::outbox::PendingMessage;

/// Maximum wait for the next attempt that the visitor does not see. Milliseconds.
const MAX_QUIET_DELAY_MS: u64 = 15_000;
/// The same for a late attempt. A shorter notice could not be read. Milliseconds.
const MAX_QUIET_LATE_DELAY_MS: u64 = 2_000;
/// The time after a message was written from which an attempt counts as late. Milliseconds.
const LATE_MS: u64 = 45_000;

impl Session {
    /// Returns whether the next attempt of the visitor's messages is far away. [`crate::Input::Retry`] makes
    /// it at once.
    pub fn is_deferred(&self) -> bool {
        self.deferred
    }

    /// Updates whether messages are deferred. They stay so until the next attempt.
    pub(super) fn update_deferred(&mut self, now_ms: u64) {
        let written_ms = self.outbox.next().map_or(now_ms, PendingMessage::written_ms);
        let due_ms = self.next_attempt_ms().filter(|_| self.online).unwrap_or_default();
        let delay_ms = due_ms.saturating_sub(now_ms);
        let is_late = due_ms.saturating_sub(written_ms) > LATE_MS;
        let max_quiet_ms = if is_late { MAX_QUIET_LATE_DELAY_MS } else { MAX_QUIET_DELAY_MS };
        // The leader knows when the next attempt is due, and publishes whether messages are deferred.
        let deferred = delay_ms > 0 && (self.deferred || (self.leads() && delay_ms > max_quiet_ms));
        if deferred != self.deferred {
            self.deferred = deferred;
            self.mark_snapshot_dirty();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back_off::wait_ms;
    use crate::outbox::MAX_ATTEMPTS;
    use crate::random::Random;

    #[test]
    fn the_visitor_does_not_see_the_back_off_between_the_allowed_attempts() {
        for failures in 1..MAX_ATTEMPTS {
            for seed in 0..500 {
                let wait_ms = wait_ms(failures, None, &mut Random::new(seed));
                assert!(wait_ms <= MAX_QUIET_DELAY_MS, "{wait_ms} ms after {failures} failures");
            }
        }
    }
}
