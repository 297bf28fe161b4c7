//! Visitor events: queued, stored, and sent by the leader.

use chat_protocol::{Endpoint, Value};

use crate::tracking::{Batch, Subject};
use crate::{Page, Session};

impl Session {
    /// Reports an event that the widget observes, if the site allows it.
    pub(super) fn report_automatically(&mut self, now_ms: u64, event_type: &str, page: Page) {
        if self.tracking.is_automatic() {
            self.report(now_ms, event_type.to_owned(), Value::Null, page);
        }
    }

    /// Reports an event with the site's `data`.
    pub(super) fn report(&mut self, now_ms: u64, event_type: String, data: Value, page: Page) {
        let subject = Subject {
            visitor: self.identity.id(),
            customer: self.identity.customer_id(),
            conversation: self.conversation.as_ref(),
        };
        self.tracking.report(now_ms, event_type, data, page, subject, &mut self.random);
        self.persist_events();
    }

    /// Carries out the writes of the event queue.
    pub(super) fn persist_events(&mut self) {
        for (name, value) in self.tracking.take_writes() {
            self.persist(&name, value);
        }
    }

    /// Returns when events are sent next.
    pub(super) fn next_events_ms(&self) -> Option<u64> {
        let due = self.tracking.due_ms().filter(|_| !self.in_flight.any(Endpoint::Events))?;
        Some(due.max(self.poller.hold_until_ms()))
    }

    pub(super) fn send_events(&mut self, now_ms: u64) {
        if self.next_events_ms().is_some_and(|due| now_ms >= due) {
            let batch = self.tracking.next_batch(&mut self.random);
            self.send_batch(now_ms, batch, false);
        }
    }

    /// Sends events from a page that is about to be left. A tab with a leader leaves its events to it.
    pub(super) fn send_parting_events(&mut self, now_ms: u64) {
        if self.online
            && self.is_on()
            && (self.leads() || self.election.is_candidate())
            && now_ms >= self.poller.hold_until_ms()
        {
            let batch = self.tracking.parting_batch(&mut self.random);
            self.send_batch(now_ms, batch, true);
        }
    }

    fn send_batch(&mut self, now_ms: u64, batch: Option<Batch>, keepalive: bool) {
        // The batch is stored before it is sent.
        self.persist_events();
        let Some(batch) = batch else { return };
        let body = Some((batch.body, batch.key));
        let id = self.request(now_ms, Endpoint::Events, Vec::new(), body, None, keepalive);
        self.tracking.on_started(&batch.name, id);
    }
}
