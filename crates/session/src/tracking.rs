//! Tracking of visitor events, which are sent if the site and the visitor's browser allow it.

mod queue;

use chat_protocol::{ConversationId, Tracking as Acceptance, Value, VisitorEvent, VisitorId};

use crate::random::Random;
use crate::stored::{self, VERSION, keys, to_value};
use crate::{Page, Reports, RequestId};
pub(crate) use queue::Batch;
use queue::EventQueue;

/// The time for which tracking stays disabled after the service has disabled it. Milliseconds.
const TRACKING_OFF_MS: u64 = 24 * 60 * 60 * 1000;

/// A value to store under a name; null removes the name.
pub(crate) type Write = (String, Value);

/// The visitor of an event.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) visitor: &'a VisitorId,
    pub(crate) customer: Option<String>,
    pub(crate) conversation: Option<&'a ConversationId>,
}

/// The state of tracking.
#[derive(Debug)]
pub(crate) struct Tracking {
    reports: Reports,
    queue: EventQueue,
    /// Tracking is disabled until this time.
    off_until_ms: u64,
    /// The writes that the session has not carried out yet.
    writes: Vec<Write>,
}

impl Tracking {
    pub(crate) fn new(reports: Reports) -> Self {
        Self { reports, queue: EventQueue::default(), off_until_ms: 0, writes: Vec::new() }
    }

    /// Changes which events are reported.
    pub(crate) fn set_reports(&mut self, reports: Reports) {
        self.reports = reports;
    }

    /// Returns whether the widget reports the events that it observes.
    pub(crate) fn is_automatic(&self) -> bool {
        self.reports == Reports::Auto
    }

    /// Bounds the time without tracking: values from storage and other tabs are untrusted, and a clock may be
    /// set back.
    pub(crate) fn limit_waits(&mut self, now_ms: u64) {
        self.off_until_ms = self.off_until_ms.min(now_ms + TRACKING_OFF_MS);
    }

    /// Queues an event with the site's `data`. Its data names the conversation, if there is one. Writes store
    /// it, and remove an event that was dropped to make room.
    pub(crate) fn report(
        &mut self,
        now_ms: u64,
        event_type: String,
        data: Value,
        page: Page,
        subject: Subject<'_>,
        random: &mut Random,
    ) {
        if self.reports == Reports::Off || now_ms < self.off_until_ms {
            return;
        }
        let mut event_data = if let Value::Object(data) = data { data } else { Vec::new() };
        if let Some(id) = subject.conversation
            && event_type != queue::PAGE_VIEW
            && event_data.iter().all(|(name, _)| name != "conversationId")
        {
            event_data.push(("conversationId".to_owned(), id.into()));
        }
        let event = VisitorEvent {
            event_type,
            visitor_id: Some(subject.visitor.clone()),
            customer_id: subject.customer,
            channel: Some("webchat".to_owned()),
            path: Some(page.path),
            url: Some(page.url),
            title: Some(page.title),
            referrer: Some(page.referrer).filter(|referrer| !referrer.is_empty()),
            event_data: if event_data.is_empty() { Value::Null } else { Value::Object(event_data) },
            created_at: Some(page.now_iso),
        };
        let (name, event) = (random.hex(), Value::from(&event));
        let displaced = self.queue.push(now_ms, &name, event.clone());
        self.writes.push(([keys::EVENT, &name].concat(), event));
        self.remove(keys::EVENT, displaced);
    }

    /// Takes the writes that keep storage in step with the queue, in order.
    pub(crate) fn take_writes(&mut self) -> Vec<Write> {
        std::mem::take(&mut self.writes)
    }

    fn remove(&mut self, kind: &str, names: Vec<String>) {
        for name in names {
            self.writes.push(([kind, &name].concat(), Value::Null));
        }
    }

    /// Returns when events are sent next.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        self.queue.due_ms()
    }

    /// Returns the batch to send now. Freezes one if there is none.
    pub(crate) fn next_batch(&mut self, random: &mut Random) -> Option<Batch> {
        if !self.queue.has_batch() {
            self.freeze(random);
        }
        self.queue.first()
    }

    /// Returns a batch of the latest events for a page that is left.
    pub(crate) fn parting_batch(&mut self, random: &mut Random) -> Option<Batch> {
        self.freeze(random);
        self.queue.parting()
    }

    fn freeze(&mut self, random: &mut Random) {
        if let Some((batch, events)) = self.queue.freeze(random) {
            self.writes.push(([keys::BATCH, &batch.name].concat(), batch.to_stored()));
            self.remove(keys::EVENT, events);
        }
    }

    /// Records the request of a batch that is in flight.
    pub(crate) fn on_started(&mut self, name: &str, request: RequestId) {
        self.queue.started(name, request);
    }

    /// Removes a batch that the service accepted, or `None` if it rejected it, and everything else if
    /// tracking is disabled.
    pub(crate) fn on_accepted(&mut self, now_ms: u64, request: RequestId, acceptance: Option<&Acceptance>) {
        let done = self.queue.done(now_ms, request);
        self.remove(keys::BATCH, done);
        if acceptance.is_some_and(|acceptance| !acceptance.enabled) {
            self.off_until_ms = now_ms + TRACKING_OFF_MS;
            let off = [("v", VERSION.into()), ("offUntil", to_value(self.off_until_ms))];
            self.writes.push((keys::TRACKING.to_owned(), Value::object(off)));
            let names = self.queue.clear();
            self.remove("", names);
        }
    }

    /// Plans another attempt of a batch after `wait_ms`, or removes it after the last attempt.
    pub(crate) fn on_error(&mut self, now_ms: u64, request: RequestId, wait_ms: u64) {
        let dropped = self.queue.failed(now_ms, wait_ms, request);
        self.remove(keys::BATCH, dropped);
    }

    /// Applies an event or a batch that another tab, or an earlier page, stored under this name, or removed:
    /// null. Removes it if tracking is disabled.
    pub(crate) fn apply_remote(&mut self, now_ms: u64, name: &str, value: Value) {
        if name == keys::TRACKING {
            self.off_until_ms = self.off_until_ms.max(stored::number(&value, "offUntil"));
        } else if value != Value::Null && now_ms < self.off_until_ms {
            // The other tab does not know yet that tracking is disabled.
            self.writes.push((name.to_owned(), Value::Null));
        } else if let Some(event) = name.strip_prefix(keys::EVENT) {
            self.queue.apply_remote_event(now_ms, event, value);
        } else if let Some(batch) = name.strip_prefix(keys::BATCH) {
            self.queue.apply_remote_batch(batch, &value);
        }
    }

    /// Empties the queue. Returns the names under which its events and batches are stored.
    pub(crate) fn clear(&mut self) -> Vec<String> {
        self.queue.clear()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60 * 1000;

    fn report(tracking: &mut Tracking, now_ms: u64, event_type: &str, data: Value) -> Vec<Write> {
        let (visitor, conversation) = (VisitorId::from("v1"), ConversationId::from("c1"));
        let subject = Subject {
            visitor: &visitor,
            customer: Some("ann".to_owned()),
            conversation: Some(&conversation),
        };
        let page = Page { path: "/a".into(), ..Page::default() };
        tracking.report(now_ms, event_type.to_owned(), data, page, subject, &mut Random::new(now_ms.into()));
        tracking.take_writes()
    }

    fn applied(tracking: &mut Tracking, now_ms: u64, name: &str, value: Value) -> Vec<Write> {
        tracking.apply_remote(now_ms, name, value);
        tracking.take_writes()
    }

    fn acceptance(enabled: bool) -> Acceptance {
        let state = if enabled { "enabled" } else { "disabled" };
        Acceptance::try_from(Value::object([("tracking", state.into())])).expect("an answer")
    }

    fn field<'a>(event: &'a Value, name: &str) -> Option<&'a str> {
        event.get(name).and_then(Value::as_text)
    }

    #[test]
    fn an_event_is_stored_with_its_visitor_customer_page_and_conversation() {
        let mut tracking = Tracking::new(Reports::Manual);
        let writes = report(&mut tracking, 0, "cta_clicked", Value::Null);
        let [(name, event)] = &*writes else { panic!("one write") };
        assert!(name.starts_with(keys::EVENT), "{name}");
        for (name, text) in
            [("eventType", "cta_clicked"), ("visitorId", "v1"), ("customerId", "ann"), ("channel", "webchat")]
        {
            assert_eq!(field(event, name), Some(text), "{name}");
        }
        assert_eq!(event.get("eventData").and_then(|data| field(data, "conversationId")), Some("c1"));
        assert_eq!(event.get("referrer"), None, "an empty one is left out");
    }

    #[test]
    fn a_page_view_names_only_a_conversation_given_by_the_site() {
        let mut tracking = Tracking::new(Reports::Auto);
        let [(_, view)] = &*report(&mut tracking, 0, "page_view", Value::Null) else { panic!("one write") };
        assert_eq!(view.get("eventData"), None);
        let data = Value::object([("conversationId", "own".into())]);
        let [(_, own)] = &*report(&mut tracking, 1, "custom", data) else { panic!("one write") };
        assert_eq!(own.get("eventData").and_then(|data| field(data, "conversationId")), Some("own"));
    }

    #[test]
    fn reports_nothing_if_reports_are_off() {
        let mut tracking = Tracking::new(Reports::Off);
        assert!(report(&mut tracking, 0, "custom", Value::Null).is_empty());
        assert!(!tracking.is_automatic() && tracking.due_ms().is_none());
        tracking.set_reports(Reports::Auto);
        assert!(tracking.is_automatic());
        assert_eq!(report(&mut tracking, 0, "custom", Value::Null).len(), 1);
    }

    #[test]
    fn sends_no_events_for_a_day_after_tracking_was_disabled() {
        let mut tracking = Tracking::new(Reports::Auto);
        report(&mut tracking, 0, "page_view", Value::Null);
        let batch = tracking.next_batch(&mut Random::new(1));
        let frozen = tracking.take_writes();
        let batch = batch.expect("a batch");
        assert_eq!(frozen.len(), 2, "the batch is stored, the event removed");
        tracking.on_started(&batch.name, RequestId(1));
        report(&mut tracking, 10, "custom", Value::Null);
        tracking.on_accepted(100, RequestId(1), Some(&acceptance(false)));
        let writes = tracking.take_writes();
        let names: Vec<&str> =
            writes.iter().map(|(name, _)| &name[..name.find(':').unwrap_or(name.len())]).collect();
        assert_eq!(names, ["batch", "tracking", "event"]);
        assert!(tracking.due_ms().is_none());
        assert!(report(&mut tracking, 99 + DAY_MS, "custom", Value::Null).is_empty());
        assert_eq!(report(&mut tracking, 100 + DAY_MS, "custom", Value::Null).len(), 1);
    }

    #[test]
    fn bounds_the_pause_of_tracking_if_the_clock_is_wrong() {
        let mut tracking = Tracking::new(Reports::Auto);
        tracking.apply_remote(0, keys::TRACKING, Value::object([("offUntil", to_value(u64::MAX))]));
        tracking.limit_waits(5);
        assert!(report(&mut tracking, 4 + DAY_MS, "custom", Value::Null).is_empty());
        assert_eq!(report(&mut tracking, 5 + DAY_MS, "custom", Value::Null).len(), 1);
    }

    #[test]
    fn removes_an_accepted_batch_and_repeats_a_failed_one_unchanged() {
        let mut tracking = Tracking::new(Reports::Auto);
        report(&mut tracking, 0, "page_view", Value::Null);
        let first = tracking.next_batch(&mut Random::new(1));
        tracking.take_writes();
        let first = first.expect("a batch");
        tracking.on_started(&first.name, RequestId(1));
        tracking.on_error(10, RequestId(1), 2_000);
        assert!(tracking.take_writes().is_empty());
        assert_eq!(tracking.due_ms(), Some(2_010));
        let again = tracking.next_batch(&mut Random::new(2));
        let writes = tracking.take_writes();
        let again = again.expect("the batch");
        assert!(writes.is_empty());
        assert_eq!((again.key, again.body), (first.key, first.body));
        tracking.on_started(&first.name, RequestId(2));
        tracking.on_accepted(20, RequestId(2), Some(&acceptance(true)));
        let writes = tracking.take_writes();
        assert_eq!(writes, [([keys::BATCH, &first.name].concat(), Value::Null)]);
        assert!(tracking.due_ms().is_none());
    }

    #[test]
    fn a_page_that_is_left_sends_its_latest_events_in_a_batch_of_their_own() {
        let mut tracking = Tracking::new(Reports::Auto);
        assert!(tracking.parting_batch(&mut Random::new(1)).is_none());
        report(&mut tracking, 0, "page_view", Value::Null);
        let batch = tracking.parting_batch(&mut Random::new(1));
        let writes = tracking.take_writes();
        assert_eq!(writes.len(), 2);
        assert!(batch.is_some_and(|batch| batch.body.contains("page_view")));
    }

    #[test]
    fn removes_events_that_other_tabs_store_while_tracking_is_disabled() {
        let mut tracking = Tracking::new(Reports::Auto);
        let name = [keys::EVENT, "e1"].concat();
        assert!(applied(&mut tracking, 0, &name, Value::object([])).is_empty());
        assert!(tracking.due_ms().is_some());
        let off = Value::object([("offUntil", to_value(1_000))]);
        assert!(applied(&mut tracking, 0, keys::TRACKING, off).is_empty());
        assert_eq!(applied(&mut tracking, 999, &name, Value::object([])), [(name.clone(), Value::Null)]);
        assert!(applied(&mut tracking, 999, &name, Value::Null).is_empty(), "another tab removed it");
        assert!(tracking.due_ms().is_none());
    }

    #[test]
    fn writes_the_same_bytes_as_the_companion_of_the_script_tag() {
        let table = &crate::clients_table()["tracking"];
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let (visitor, mut random) = (VisitorId::from(&*text(&table["visitorId"])), Random::new(1));
        let mut tracking = Tracking::new(Reports::Auto);
        for case in table["events"].as_array().expect("events") {
            let page = Page {
                path: text(&table["page"]["path"]),
                url: text(&table["page"]["url"]),
                title: text(&table["page"]["title"]),
                referrer: text(&table["page"]["referrer"]),
                now_iso: text(&table["page"]["now"]),
            };
            let customer = Some(text(&table["customerId"]));
            let subject = Subject { visitor: &visitor, customer, conversation: None };
            let data = serde_json::from_value(case["given"].clone()).expect("data");
            tracking.report(0, text(&case["eventType"]), data, page, subject, &mut random);
            let [(_, event)] = &*tracking.take_writes() else { panic!("one write") };
            assert_eq!(event.to_json(), text(&case["stored"]));
        }
        let batch = tracking.next_batch(&mut random).expect("a batch");
        let (name, stored) = tracking.take_writes().swap_remove(0);
        assert_eq!(name, [keys::BATCH, &batch.name].concat());
        assert_eq!(stored.to_json(), text(&table["batch"]).replace("{name}", &batch.name));
        tracking.on_started(&batch.name, RequestId(1));
        tracking.on_accepted(7, RequestId(1), Some(&acceptance(false)));
        let off =
            tracking.take_writes().into_iter().find(|(name, _)| name == keys::TRACKING).expect("a write");
        let until = 7 + table["offForMs"].as_u64().expect("a time");
        assert_eq!(off.1.to_json(), text(&table["off"]).replace("{time}", &until.to_string()));
    }
}
