//! The queue of visitor events: they are sent in batches, and never delay the chat.

use chat_protocol::{IdempotencyKey, Value, limits};

use crate::RequestId;
use crate::random::Random;
use crate::stored::{self, keys};

/// The time that events are collected for a batch. Milliseconds.
const BATCH_DELAY_MS: u64 = 3_000;
/// Maximum number of queued events. The oldest page views make room first, and leads never.
const MAX_QUEUED_EVENTS: usize = 200;
/// Maximum send attempts before a batch is dropped.
const MAX_ATTEMPTS: u32 = 4;
/// Maximum size of a batch that is sent from a page that is left. A browser allows 64 KiB for all its
/// requests together.
const MAX_BATCH_BYTES: usize = 60 * 1024;
const LEAD: &str = "lead_submitted";
pub(super) const PAGE_VIEW: &str = "page_view";

/// A batch of events. Every attempt sends the same key and body.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) name: String,
    pub(crate) key: IdempotencyKey,
    pub(crate) body: String,
    attempts: u32,
    /// The request of the attempt in flight.
    request: Option<RequestId>,
}

impl Batch {
    pub(crate) fn to_stored(&self) -> Value {
        Value::object([
            ("v", stored::VERSION.into()),
            ("key", self.key.as_str().into()),
            ("body", self.body.as_str().into()),
        ])
    }

    fn from_stored(name: &str, value: &Value) -> Option<Self> {
        let key = IdempotencyKey::new(value.get("key")?.as_text()?).ok()?;
        let body = value.get("body")?.as_text()?.to_owned();
        Some(Self { name: name.to_owned(), key, body, attempts: 0, request: None })
    }
}

/// Events that wait, and batches that were frozen.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    waiting: Vec<(String, Value)>,
    /// Frozen batches, the oldest first.
    batches: Vec<Batch>,
    not_before_ms: u64,
}

fn kind(event: &Value) -> &str {
    event.get("eventType").and_then(Value::as_text).unwrap_or_default()
}

impl EventQueue {
    /// Adds an event. Returns the name of one that was dropped to make room, if any.
    pub(crate) fn push(&mut self, now_ms: u64, name: &str, event: Value) -> Vec<String> {
        if self.waiting.is_empty() && self.batches.is_empty() {
            self.not_before_ms = now_ms + BATCH_DELAY_MS;
        }
        self.waiting.push((name.to_owned(), event));
        if self.waiting.len() >= *limits::EVENTS.end() && self.batches.is_empty() {
            self.not_before_ms = now_ms;
        }
        if self.waiting.len() <= MAX_QUEUED_EVENTS {
            return Vec::new();
        }
        let first = |unwanted: &dyn Fn(&str) -> bool| {
            self.waiting.iter().position(|(_, event)| unwanted(kind(event)))
        };
        let index = first(&|kind| kind == PAGE_VIEW).or_else(|| first(&|kind| kind != LEAD));
        index.map(|index| vec![self.waiting.remove(index).0]).unwrap_or_default()
    }

    /// Applies an event that another tab, or an earlier page, stored under this name; null if it was removed.
    pub(crate) fn apply_remote_event(&mut self, now_ms: u64, name: &str, event: Value) {
        self.waiting.retain(|(known, _)| known != name);
        if event != Value::Null {
            self.push(now_ms, name, event);
        }
    }

    /// Applies a batch in the same way.
    pub(crate) fn apply_remote_batch(&mut self, name: &str, batch: &Value) {
        let known = self.batches.iter().position(|known| known.name == name);
        match (known, Batch::from_stored(name, batch)) {
            (None, Some(batch)) => self.batches.push(batch),
            (Some(index), None) => drop(self.batches.remove(index)),
            _ => {}
        }
    }

    /// Returns when there is something to send.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        let any = !self.batches.is_empty() || !self.waiting.is_empty();
        any.then_some(self.not_before_ms)
    }

    /// Makes a batch of waiting events, as many as a request may have. Returns it, and the names of its
    /// events.
    pub(crate) fn freeze(&mut self, random: &mut Random) -> Option<(&Batch, Vec<String>)> {
        let mut bytes = br#"{"events":[]}"#.len();
        let fitting = self.waiting.iter().take(*limits::EVENTS.end()).take_while(|(_, event)| {
            bytes += event.to_json().len() + 1;
            bytes <= MAX_BATCH_BYTES
        });
        // An event that is too large by itself is sent alone, but not from a page that is left.
        let count = fitting.count().max(1).min(self.waiting.len());
        let (names, events): (Vec<String>, Vec<Value>) = self.waiting.drain(..count).unzip();
        if names.is_empty() {
            return None;
        }
        let name = random.hex();
        let key = IdempotencyKey::new(["events-", &name].concat()).ok()?;
        let body = Value::object([("events", Value::List(events))]).to_json();
        self.batches.push(Batch { name, key, body, attempts: 0, request: None });
        Some((self.batches.last()?, names))
    }

    pub(crate) fn has_batch(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Returns the batch to send now: the oldest.
    pub(crate) fn first(&self) -> Option<Batch> {
        self.batches.first().cloned()
    }

    /// Returns the batch to send from a page that is left: the newest, if it is not too large for that.
    pub(crate) fn parting(&self) -> Option<Batch> {
        self.batches
            .last()
            .filter(|batch| batch.request.is_none() && batch.body.len() <= MAX_BATCH_BYTES)
            .cloned()
    }

    /// Records the request of a batch that is in flight.
    pub(crate) fn started(&mut self, name: &str, request: RequestId) {
        for batch in self.batches.iter_mut().filter(|batch| batch.name == name) {
            batch.attempts += 1;
            batch.request = Some(request);
        }
    }

    /// Removes the batch of a request. Returns its name, if it still exists.
    pub(crate) fn done(&mut self, now_ms: u64, request: RequestId) -> Vec<String> {
        self.not_before_ms = now_ms + BATCH_DELAY_MS;
        let index = self.batches.iter().position(|batch| batch.request == Some(request));
        index.map(|index| vec![self.batches.remove(index).name]).unwrap_or_default()
    }

    /// Plans another attempt of a batch after `wait_ms`. Returns its name after the last attempt.
    pub(crate) fn failed(&mut self, now_ms: u64, wait_ms: u64, request: RequestId) -> Vec<String> {
        let index = self.batches.iter().position(|batch| batch.request == Some(request));
        if index.is_some_and(|index| self.batches[index].attempts >= MAX_ATTEMPTS) {
            return self.done(now_ms, request);
        }
        self.not_before_ms = now_ms + wait_ms;
        if let Some(index) = index {
            self.batches[index].request = None;
        }
        Vec::new()
    }

    /// Empties the queue. Returns the names under which its events and batches are stored.
    pub(crate) fn clear(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        for (name, _) in std::mem::take(&mut self.waiting) {
            names.push([keys::EVENT, &name].concat());
        }
        for batch in std::mem::take(&mut self.batches) {
            names.push([keys::BATCH, &batch.name].concat());
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str) -> Value {
        Value::object([("eventType", kind.into())])
    }

    fn queue(kinds: impl IntoIterator<Item = &'static str>) -> EventQueue {
        let mut queue = EventQueue::default();
        for (index, kind) in kinds.into_iter().enumerate() {
            queue.push(1_000, &index.to_string(), event(kind));
        }
        queue
    }

    #[test]
    fn events_are_collected_for_three_seconds_or_until_a_batch_is_full() {
        let mut queue = queue([PAGE_VIEW; 49]);
        assert_eq!(queue.due_ms(), Some(4_000), "three seconds after the first event");
        queue.push(2_000, "last", event(PAGE_VIEW));
        assert_eq!(queue.due_ms(), Some(2_000), "at once when there are 50");
        assert_eq!(EventQueue::default().due_ms(), None);
    }

    #[test]
    fn a_batch_has_fifty_events_at_most_and_keeps_its_key_and_body() {
        let mut queue = queue([PAGE_VIEW; 51]);
        let (batch, names) = queue.freeze(&mut Random::new(1)).expect("a batch");
        let (key, body) = (batch.key.clone(), batch.body.clone());
        assert_eq!((names.len(), body.matches("page_view").count()), (50, 50));
        queue.push(2_000, "later", event(PAGE_VIEW));
        let first = queue.first().expect("the batch");
        assert_eq!((first.key, first.body), (key, body));
        let (_, names) = queue.freeze(&mut Random::new(2)).expect("another");
        assert_eq!(names, ["50", "later"]);
        assert!(queue.freeze(&mut Random::new(3)).is_none(), "nothing waits");
    }

    #[test]
    fn a_batch_for_a_page_that_is_left_has_at_most_60_kib() {
        let large = || Value::object([("eventType", "x".into()), ("title", "t".repeat(20_000).into())]);
        let mut queue = EventQueue::default();
        for name in ["a", "b", "c", "d"] {
            queue.push(0, name, large());
        }
        let (_, names) = queue.freeze(&mut Random::new(1)).expect("a batch");
        assert_eq!(names, ["a", "b", "c"]);
        assert!(queue.parting().is_some_and(|batch| batch.body.len() <= 60 * 1024));

        let mut queue = EventQueue::default();
        queue.push(
            0,
            "huge",
            Value::object([("eventType", "x".into()), ("title", "t".repeat(61_440).into())]),
        );
        assert!(queue.freeze(&mut Random::new(1)).is_some(), "it is sent alone");
        assert!(queue.parting().is_none(), "but not from a page that is left");
    }

    #[test]
    fn the_size_of_a_batch_is_exact() {
        // `{"events":[` and `]}`, two events and the comma between them.
        let around = |bytes: usize| "t".repeat(bytes - r#"{"eventType":""}"#.len());
        let room = 60 * 1024 - 13 - 2;
        for (bytes, fitting) in [(room, 2), (room + 1, 1)] {
            let mut queue = EventQueue::default();
            for (name, bytes) in [("a", 30_000), ("b", bytes - 30_000)] {
                queue.push(0, name, Value::object([("eventType", around(bytes).into())]));
            }
            let (_, names) = queue.freeze(&mut Random::new(1)).expect("a batch");
            assert_eq!(names.len(), fitting, "{bytes}");
        }
    }

    #[test]
    fn a_full_queue_does_not_shorten_the_back_off_of_a_batch() {
        let mut queue = queue([PAGE_VIEW]);
        queue.freeze(&mut Random::new(1));
        let name = queue.first().expect("a batch").name;
        queue.started(&name, RequestId(1));
        queue.failed(10_000, 5_000, RequestId(1));
        for name in 0..60 {
            queue.push(11_000, &name.to_string(), event(PAGE_VIEW));
        }
        assert_eq!(queue.due_ms(), Some(15_000));
    }

    #[test]
    fn a_batch_in_flight_is_not_sent_again_from_a_page_that_is_left() {
        let mut queue = queue([PAGE_VIEW]);
        queue.freeze(&mut Random::new(1));
        let name = queue.first().expect("a batch").name;
        queue.started(&name, RequestId(7));
        assert!(queue.parting().is_none());
        queue.failed(5_000, 2_000, RequestId(7));
        assert!(queue.parting().is_some());
    }

    #[test]
    fn drops_the_oldest_page_views_first_and_leads_never() {
        let mut full = queue(std::iter::once("cta_clicked").chain([PAGE_VIEW; MAX_QUEUED_EVENTS - 1]));
        assert_eq!(full.push(0, "new", event("cta_clicked")), ["1"], "the oldest page view");
        let mut other = queue(std::iter::once(LEAD).chain(["cta_clicked"; MAX_QUEUED_EVENTS - 1]));
        assert_eq!(other.push(0, "new", event(LEAD)), ["1"], "the oldest event that is not a lead");
        let mut leads = queue([LEAD; MAX_QUEUED_EVENTS]);
        assert!(leads.push(0, "new", event(LEAD)).is_empty());
    }

    #[test]
    fn a_batch_is_dropped_after_four_attempts() {
        let mut queue = queue([PAGE_VIEW]);
        queue.freeze(&mut Random::new(1));
        let name = queue.first().expect("a batch").name;
        for attempt in 1..=4 {
            queue.started(&name, RequestId(attempt));
            let given_up = queue.failed(10_000, 2_000, RequestId(attempt));
            assert_eq!(!given_up.is_empty(), attempt == 4);
        }
        assert!(!queue.has_batch());
    }

    #[test]
    fn events_are_collected_again_after_a_batch_was_accepted() {
        let mut queue = queue([PAGE_VIEW]);
        queue.freeze(&mut Random::new(1));
        let name = queue.first().expect("a batch").name;
        queue.started(&name, RequestId(1));
        queue.push(4_000, "next", event(PAGE_VIEW));
        assert!(queue.done(5_000, RequestId(2)).is_empty(), "another request");
        assert_eq!(queue.done(5_000, RequestId(1)), [name]);
        assert_eq!(queue.due_ms(), Some(8_000));
    }

    #[test]
    fn events_and_batches_of_other_tabs_are_not_sent_twice() {
        let mut queue = queue([PAGE_VIEW, PAGE_VIEW, PAGE_VIEW]);
        queue.apply_remote_event(0, "0", Value::Null);
        queue.apply_remote_event(0, "2", event(PAGE_VIEW));
        let (batch, names) = queue.freeze(&mut Random::new(1)).expect("a batch");
        assert_eq!(names, ["1", "2"], "the same event once");
        let (name, stored) = (batch.name.clone(), batch.to_stored());
        let mut other = EventQueue::default();
        other.apply_remote_batch(&name, &stored);
        other.apply_remote_batch(&name, &stored);
        assert_eq!(other.first().map(|batch| batch.body), queue.first().map(|batch| batch.body));
        other.apply_remote_batch(&name, &Value::Null);
        assert!(!other.has_batch());
        other.apply_remote_batch("rubbish", &Value::object([("key", "short".into()), ("body", "{}".into())]));
        assert!(!other.has_batch());
    }
}
