//! Messages of a visitor who has signed in or out since they were written. They are sent unchanged, without
//! the proof of the present visitor, and are not shown.

use chat_protocol::IdempotencyKey;

use crate::back_off::wait_ms;
use crate::outbox::{MAX_ATTEMPTS, SendRequest};
use crate::random::Random;

/// The messages, the oldest first. Only the first one is in flight.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    queue: Vec<SendRequest>,
    failures: u64,
    not_before_ms: u64,
}

impl Leftovers {
    /// Adds the request of a message, unless it is there.
    pub(crate) fn push(&mut self, request: SendRequest) {
        if self.queue.iter().all(|known| known.key != request.key) {
            self.queue.push(request);
        }
    }

    /// Returns when the next attempt may be made.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        (!self.queue.is_empty()).then_some(self.not_before_ms)
    }

    /// Returns the body and the key to send.
    pub(crate) fn first(&self) -> Option<(String, IdempotencyKey)> {
        self.queue.first().map(|request| (request.body.clone(), request.key.clone()))
    }

    /// Removes the message in flight: the service has it, or never takes it.
    pub(crate) fn settle(&mut self) {
        if !self.queue.is_empty() {
            self.queue.remove(0);
        }
        (self.failures, self.not_before_ms) = (0, 0);
    }

    /// Handles a transient failure of an attempt. The message is dropped after the last one: nobody is there
    /// to retry it.
    pub(crate) fn back_off(&mut self, now_ms: u64, retry_after_ms: Option<u64>, random: &mut Random) {
        self.failures += 1;
        if self.failures >= MAX_ATTEMPTS {
            return self.settle();
        }
        self.not_before_ms = now_ms + wait_ms(self.failures, retry_after_ms, random);
    }
}
