//! What the visitor does on the page, told to the service when the site and the visitor's browser let it.

use chat_protocol::{Endpoint, Tracking, Value, VisitorEvent};

use crate::event_queue::Batch;
use crate::in_flight::InFlight;
use crate::stored::{VERSION, keys, to_value};
use crate::{Effect, Page, Reports, Request, Session};

/// A service that wants no events is asked again after so long. Milliseconds.
pub(crate) const TRACKING_OFF_MS: u64 = 24 * 60 * 60 * 1000;

impl Session {
    /// What the widget sees by itself.
    pub(super) fn report_by_itself(&mut self, now_ms: u64, event_type: &str, page: Page) {
        if self.reports == Reports::Auto {
            self.report(now_ms, event_type.to_owned(), Value::Null, page);
        }
    }

    /// Tells the service of an event, with `data` of the site's own. What the conversation is about names it.
    pub(super) fn report(&mut self, now_ms: u64, event_type: String, data: Value, page: Page) {
        if self.reports == Reports::Off || now_ms < self.events.off_until_ms {
            return;
        }
        let mut event_data = if let Value::Object(data) = data { data } else { Vec::new() };
        if let Some(id) = &self.conversation
            && event_type != "page_view"
            && event_data.iter().all(|(name, _)| name != "conversationId")
        {
            event_data.push(("conversationId".to_owned(), id.into()));
        }
        let event = VisitorEvent {
            event_type,
            visitor_id: Some(self.visitor_id.clone()),
            customer_id: self.customer_id.clone(),
            channel: Some("webchat".to_owned()),
            path: Some(page.path),
            url: Some(page.url),
            title: Some(page.title),
            referrer: Some(page.referrer).filter(|referrer| !referrer.is_empty()),
            event_data: if event_data.is_empty() { Value::Null } else { Value::Object(event_data) },
            created_at: Some(page.now_iso),
        };
        let (name, event) = (self.random.hex(), Value::from(&event));
        let displaced = self.events.push(now_ms, &name, event.clone());
        self.persist(&[keys::EVENT, &name].concat(), event);
        self.forget(keys::EVENT, displaced);
    }

    fn forget(&mut self, kind: &str, names: Vec<String>) {
        for name in names {
            self.persist(&[kind, &name].concat(), Value::Null);
        }
    }

    /// When events are to be sent next.
    pub(super) fn next_events_ms(&self) -> Option<u64> {
        let due = self.events.due_ms().filter(|_| !self.in_flight.any(Endpoint::Events))?;
        Some(due.max(self.poller.hold_until_ms()))
    }

    pub(super) fn send_events(&mut self, now_ms: u64) {
        if self.next_events_ms().is_none_or(|due| now_ms < due) {
            return;
        }
        if !self.events.has_batch() {
            self.freeze_events();
        }
        if let Some(batch) = self.events.first() {
            self.send_batch(now_ms, batch, false);
        }
    }

    /// The page may be gone in a moment. A tab that knows of another one that leads leaves its events to that.
    pub(super) fn send_parting_events(&mut self, now_ms: u64) {
        if self.online
            && self.is_on()
            && (self.leads() || self.election.is_candidate())
            && now_ms >= self.poller.hold_until_ms()
        {
            self.freeze_events();
            if let Some(batch) = self.events.parting() {
                self.send_batch(now_ms, batch, true);
            }
        }
    }

    fn freeze_events(&mut self) {
        if let Some((batch, events)) = self.events.freeze(&mut self.random) {
            let (name, value) = ([keys::BATCH, &batch.name].concat(), batch.to_stored());
            self.persist(&name, value);
            self.forget(keys::EVENT, events);
        }
    }

    fn send_batch(&mut self, now_ms: u64, batch: Batch, keepalive: bool) {
        let request = self.in_flight.start(now_ms, Endpoint::Events, Vec::new(), None);
        self.events.started(&batch.name, request.id);
        let (body, key) = (Some(batch.body), Some(batch.key));
        self.effects.push(Effect::Request(Request { body, key, keepalive, ..request }));
    }

    pub(super) fn on_events_accepted(&mut self, now_ms: u64, request: &InFlight, tracking: Option<Tracking>) {
        let batch = self.events.done(now_ms, request.id);
        self.forget(keys::BATCH, batch);
        if tracking.is_some_and(|tracking| !tracking.enabled) {
            let off_until_ms = now_ms + TRACKING_OFF_MS;
            self.events.off_until_ms = off_until_ms;
            let off = [("v", VERSION.into()), ("offUntil", to_value(off_until_ms))];
            self.persist(keys::TRACKING, Value::object(off));
            let names = self.events.clear();
            self.forget("", names);
        }
    }

    pub(super) fn on_events_error(&mut self, now_ms: u64, request: &InFlight, wait_ms: u64) {
        let given_up = self.events.failed(now_ms, wait_ms, request.id);
        self.forget(keys::BATCH, given_up);
    }
}
