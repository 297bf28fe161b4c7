//! The pause of a queue of e-mails while the SMTP server cannot be used.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use tracing::warn;

use super::mailer::SendError;
use super::outbox::retry_ms;

/// When a queue may use the SMTP server again.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// The failures of the SMTP server since the last e-mail that it accepted.
    failures: AtomicI64,
    until_ms: AtomicI64,
}

impl Pause {
    /// Returns the time before which nothing is sent; in the past, if there is no pause.
    pub(crate) fn until_ms(&self) -> i64 {
        self.until_ms.load(Relaxed)
    }

    /// Begins a longer pause after each failure of the server, and ends it with the first success.
    pub(crate) fn observe(&self, now_ms: i64, outcome: &Result<(), SendError>) {
        match outcome {
            Ok(()) => self.failures.store(0, Relaxed),
            Err(error) => {
                warn!("{error}");
                if let SendError::Server(_) | SendError::Unanswered(_) = error {
                    let failures = self.failures.fetch_add(1, Relaxed) + 1;
                    self.until_ms.store(now_ms.saturating_add(retry_ms(failures)), Relaxed);
                }
            }
        }
    }
}
