//! Visitor events on their way: in batches, and never in the way of the chat.

use chat_protocol::{IdempotencyKey, Value, VisitorEvent, limits};

use crate::random::Random;

/// Events wait so long for company. Milliseconds.
const GATHER_MS: u64 = 3_000;
/// More than this are not kept: the oldest go first.
const MOST_WAITING: usize = 200;
const MOST_ATTEMPTS: u32 = 4;

/// A batch as it is sent on every attempt.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) key: IdempotencyKey,
    pub(crate) body: String,
    pub(crate) attempts: u32,
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    waiting: Vec<Value>,
    /// The batch that is tried; its body does not change any more.
    pub(crate) batch: Option<Batch>,
    pub(crate) not_before_ms: u64,
    /// The service wants no events.
    disabled: bool,
}

impl EventQueue {
    pub(crate) fn push(&mut self, now_ms: u64, event: &VisitorEvent) {
        if self.disabled {
            return;
        }
        if self.waiting.is_empty() && self.batch.is_none() {
            self.not_before_ms = now_ms + GATHER_MS;
        }
        if self.waiting.len() == MOST_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push(event.into());
        if self.waiting.len() >= *limits::EVENTS.end() && self.batch.is_none() {
            self.not_before_ms = now_ms;
        }
    }

    /// When there is next something to send.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        (self.batch.is_some() || !self.waiting.is_empty()).then_some(self.not_before_ms)
    }

    /// The batch to send now: the one that failed before, or a new one.
    pub(crate) fn next_batch(&mut self, random: &mut Random) -> Option<&Batch> {
        if self.batch.is_none() && !self.waiting.is_empty() {
            let count = self.waiting.len().min(*limits::EVENTS.end());
            let events = Value::List(self.waiting.drain(..count).collect());
            let key = IdempotencyKey::new(format!("events-{}", random.hex())).ok()?;
            self.batch =
                Some(Batch { key, body: Value::object([("events", events)]).to_string(), attempts: 0 });
        }
        let batch = self.batch.as_mut()?;
        batch.attempts += 1;
        Some(batch)
    }

    /// The service took the batch, or will never take it.
    pub(crate) fn done(&mut self, now_ms: u64) {
        self.batch = None;
        self.not_before_ms = now_ms + GATHER_MS;
    }

    /// The batch may be tried again after `wait_ms`.
    pub(crate) fn failed(&mut self, now_ms: u64, wait_ms: u64) {
        if self.batch.as_ref().is_some_and(|batch| batch.attempts >= MOST_ATTEMPTS) {
            self.batch = None;
        }
        self.not_before_ms = now_ms + wait_ms;
    }

    /// The service said that it wants none.
    pub(crate) fn disable(&mut self) {
        *self = Self { disabled: true, ..Self::default() };
    }
}
