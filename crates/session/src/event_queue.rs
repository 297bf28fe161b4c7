//! Visitor events on their way: in batches, and never in the way of the chat.

use chat_protocol::{IdempotencyKey, Value, limits};

use crate::RequestId;
use crate::random::Random;
use crate::stored::{self, keys};

/// Events wait so long for company. Milliseconds.
const BATCH_DELAY_MS: u64 = 3_000;
/// More than this are not kept: the oldest page views go first, and leads never.
const MAX_QUEUED_EVENTS: usize = 200;
const MAX_ATTEMPTS: u32 = 4;
/// A browser sends no more than 64 KiB for a page that is left; the rest is room for what else is on its way.
const MAX_BATCH_BYTES: usize = 60 * 1024;
const LEAD: &str = "lead_submitted";
const PAGE_VIEW: &str = "page_view";

/// A batch as it is sent on every attempt.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) name: String,
    pub(crate) key: IdempotencyKey,
    pub(crate) body: String,
    attempts: u32,
    /// The request that it is on its way with.
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

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    waiting: Vec<(String, Value)>,
    /// Their bodies do not change any more.
    batches: Vec<Batch>,
    pub(crate) not_before_ms: u64,
    /// The service wants no events before this time.
    pub(crate) off_until_ms: u64,
}

fn kind(event: &Value) -> &str {
    event.get("eventType").and_then(Value::as_text).unwrap_or_default()
}

impl EventQueue {
    /// Takes an event in. Gives the name of one that had to make room for it, if one had to.
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

    /// Takes in what another tab, or an earlier page, kept under this name; null when it is kept no more.
    pub(crate) fn apply_remote_event(&mut self, now_ms: u64, name: &str, event: Value) {
        self.waiting.retain(|(known, _)| known != name);
        if event != Value::Null {
            self.push(now_ms, name, event);
        }
    }

    /// The same for a batch.
    pub(crate) fn apply_remote_batch(&mut self, name: &str, batch: &Value) {
        let known = self.batches.iter().position(|known| known.name == name);
        match (known, Batch::from_stored(name, batch)) {
            (None, Some(batch)) => self.batches.push(batch),
            (Some(index), None) => drop(self.batches.remove(index)),
            _ => {}
        }
    }

    /// When there is next something to send.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        let any = !self.batches.is_empty() || !self.waiting.is_empty();
        any.then_some(self.not_before_ms)
    }

    /// Makes a batch of those that wait, as many as a request may carry. Gives it, and the names of its events.
    pub(crate) fn freeze(&mut self, random: &mut Random) -> Option<(&Batch, Vec<String>)> {
        let mut bytes = br#"{"events":[]}"#.len();
        let fitting = self.waiting.iter().take(*limits::EVENTS.end()).take_while(|(_, event)| {
            bytes += event.to_json().len() + 1;
            bytes <= MAX_BATCH_BYTES
        });
        // One that is too large by itself still goes, only not from a page that is left.
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

    /// The batch to send now: the oldest.
    pub(crate) fn first(&self) -> Option<Batch> {
        self.batches.first().cloned()
    }

    /// The batch to send from a page that is left: the newest, if the browser does that for one of its size.
    pub(crate) fn parting(&self) -> Option<Batch> {
        self.batches
            .last()
            .filter(|batch| batch.request.is_none() && batch.body.len() <= MAX_BATCH_BYTES)
            .cloned()
    }

    /// The batch is on its way with this request; nothing else is due before its answer.
    pub(crate) fn started(&mut self, name: &str, request: RequestId) {
        for batch in self.batches.iter_mut().filter(|batch| batch.name == name) {
            batch.attempts += 1;
            batch.request = Some(request);
        }
    }

    /// The service took the batch, or will never take it. Gives its name, if there still is one.
    pub(crate) fn done(&mut self, now_ms: u64, request: RequestId) -> Vec<String> {
        self.not_before_ms = now_ms + BATCH_DELAY_MS;
        let index = self.batches.iter().position(|batch| batch.request == Some(request));
        index.map(|index| vec![self.batches.remove(index).name]).unwrap_or_default()
    }

    /// The batch may be tried again after `wait_ms`. Gives its name when it was tried often enough.
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
    fn events_gather_for_three_seconds_or_until_a_request_is_full() {
        let mut queue = queue([PAGE_VIEW; 49]);
        assert_eq!(queue.due_ms(), Some(4_000), "three seconds after the first");
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
    fn a_batch_for_a_page_that_is_left_has_sixty_kibibytes_at_most() {
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
        assert!(queue.freeze(&mut Random::new(1)).is_some(), "it goes by itself");
        assert!(queue.parting().is_none(), "and not from a page that is left");
    }

    #[test]
    fn the_bytes_of_a_batch_are_counted_to_the_last_comma() {
        // `{"events":[` and `]}`, two events and what parts them.
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
    fn a_full_queue_does_not_hurry_a_batch_that_waits_for_its_next_attempt() {
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
    fn a_batch_that_is_on_its_way_is_not_sent_a_second_time_on_leaving() {
        let mut queue = queue([PAGE_VIEW]);
        queue.freeze(&mut Random::new(1));
        let name = queue.first().expect("a batch").name;
        queue.started(&name, RequestId(7));
        assert!(queue.parting().is_none());
        queue.failed(5_000, 2_000, RequestId(7));
        assert!(queue.parting().is_some());
    }

    #[test]
    fn the_oldest_page_views_make_room_and_leads_never_do() {
        let mut full = queue(std::iter::once("cta_clicked").chain([PAGE_VIEW; MAX_QUEUED_EVENTS - 1]));
        assert_eq!(full.push(0, "new", event("cta_clicked")), ["1"], "the oldest page view");
        let mut other = queue(std::iter::once(LEAD).chain(["cta_clicked"; MAX_QUEUED_EVENTS - 1]));
        assert_eq!(other.push(0, "new", event(LEAD)), ["1"], "the oldest that is no lead");
        let mut leads = queue([LEAD; MAX_QUEUED_EVENTS]);
        assert!(leads.push(0, "new", event(LEAD)).is_empty());
    }

    #[test]
    fn a_batch_is_tried_four_times() {
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
    fn the_next_batch_waits_for_company_after_the_one_before_was_taken() {
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
    fn what_another_tab_sent_or_froze_is_not_sent_here() {
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
